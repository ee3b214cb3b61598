/*
 * The last change of modules and of their images; see finish.h.
 *
 * A module's file is mapped apart and compared with its text, whose patches are undone in a copy.
 * It then moves over the text in one step. Only jumps in padding that hops lead to stay, since a
 * task may stand between the two. A fork copies no page tables of unchanged text, while those of a
 * patched library made the children of servers cost half as much again.
 *
 * All of an image changes at once: code without probes, the page that a fork would wipe, and
 * tables, where relocation has made them its own; else these stay the file's, which processes
 * share. Final code of the file, where it fits the image's place, takes that of clones, so that of
 * code only the trampolines' is a copy. What begins in a clone with a probe at its entry begins in
 * the module: the jump there has the length of the probe's first instruction, so that tasks that
 * are in the probe find what they need.
 */
#include "agent/clones/finish.h"

#include "agent/calls/arena.h"
#include "agent/clones/clones.h"
#include "agent/clones/disable.h"
#include "agent/clones/rooms.h"
#include "agent/clones/text.h"
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/exec.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#include <link.h>

enum { CALL = 0xe8 };

/* Images that lie side by side. */
struct run {
	uint64_t at, end;
};

/* Whether the image of @a has probes that measure, and can still be changed. */
static bool is_wanted(const struct dw_area *a)
{
	return !a->is_closed && !a->is_final && a->header->probes >= DWELL_PROBES_SYSTEM_CALLS &&
	       a->header->wiped_at >= a->header->code_at + a->header->code_bytes;
}

/* Map the file's text at @to, writable. False: it cannot be had. */
static bool map_text(const struct dw_area *a, void *to)
{
	const struct link_map *map = a->link_map;
	int fd = dw_sys_open(*map->l_name ? map->l_name : "/proc/self/exe",
			     O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	uint64_t offset;
	struct stat st;
	bool is_there;

	if (fd < 0)
		return false;
	offset = dw_elf_file_offset(fd, a->text - map->l_addr);
	/* Its last page may end behind the file. */
	is_there = offset && offset % DWELL_PAGE_BYTES == 0 && !dw_sys_fstat(fd, &st) &&
		   offset + a->text_bytes - DWELL_PAGE_BYTES < (uint64_t)st.st_size &&
		   dw_is_mapped(dw_sys_mmap(to, a->text_bytes, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_FIXED, fd, offset));
	dw_sys_close(fd);
	return is_there;
}

/* Whether the text is @own but for what we have patched. */
static bool is_own(const struct dw_area *a, const uint8_t *own)
{
	uint8_t *copy = dw_agent_memory(a->text_bytes);
	bool is_same;

	if (!copy)
		return false;
	memcpy(copy, (const void *)a->text, a->text_bytes);
	dw_text_undo(a, copy);
	dw_exec_unpatch(a->text, a->text_bytes, copy);
	is_same = !memcmp(copy, own, a->text_bytes);
	dw_agent_memory_free(copy, a->text_bytes);
	return is_same;
}

/* Let the file's text take the place of the module's. */
static bool replace_text(const struct dw_area *a)
{
	uint8_t *own = dw_agent_addresses(a->text_bytes);
	bool is_done;

	if (!own)
		return false;
	is_done = map_text(a, own) && is_own(a, own);
	if (is_done) {
		/* Else a fork copies what has been read, where a landing is written beside it. */
		dw_syscall(SYS_madvise, own, a->text_bytes, MADV_DONTNEED);
		dw_text_keep_landings(a, own);
		is_done = !dw_sys_mprotect(own, a->text_bytes, PROT_READ | PROT_EXEC) &&
			  dw_is_mapped((void *)dw_syscall(SYS_mremap, own, a->text_bytes,
							  a->text_bytes,
							  MREMAP_MAYMOVE | MREMAP_FIXED, a->text));
	}
	if (!is_done || dw_agent_addresses_take_back(own, a->text_bytes))
		dw_agent_addresses_free(own, a->text_bytes);
	return is_done;
}

/*
 * Put the file's text in the place of @area's module's, if that differs from it by our patches
 * only: then @area->is_restored. Where the file cannot be opened any more the patches stay. Inside
 * dw_agent_enter().
 */
static void restore_module(struct dw_area *area)
{
	if (!area->left && area->link_map && replace_text(area))
		__atomic_store_n(&area->is_restored, true, __ATOMIC_RELEASE);
}

static bool loads_rax(enum dw_trampoline trampoline)
{
	return trampoline == DWELL_TRAMPOLINE_ENTER || trampoline == DWELL_TRAMPOLINE_OUT ||
	       trampoline == DWELL_TRAMPOLINE_OUT_POINTER || trampoline == DWELL_TRAMPOLINE_TAIL ||
	       trampoline == DWELL_TRAMPOLINE_LINE;
}

/* Let the probes of @a be nops in @copy, its image. */
static void silence(const struct dw_area *a, uint8_t *copy)
{
	const struct dw_clone_header *h = a->header;

	for (uint32_t trampoline = DWELL_TRAMPOLINE_ENTER; trampoline < DWELL_TRAMPOLINES_N;
	     trampoline++) {
		const struct dw_clone_part *list = &h->trampoline_calls[trampoline];
		const uint32_t *sites = (const uint32_t *)(a->area + list->at);

		for (uint32_t i = 0; i < list->n; i++) {
			uint32_t at = sites[i], bytes;
			uint8_t code[DWELL_PROBE_BYTES];

			if (at - h->code_at >= h->code_bytes || copy[at] != CALL)
				continue;
			bytes = dw_disable_code(a, loads_rax((enum dw_trampoline)trampoline), &at,
						code);
			if (at + bytes <= h->code_at + h->code_bytes)
				memcpy(copy + at, code, bytes);
		}
	}
}

/* Let the entries of clones with a probe there lead to the module. */
static void lead_back(const struct dw_area *a, uint8_t *copy)
{
	const struct dw_clone_header *h = a->header;
	const struct dw_clone_function_entry *f = dw_functions(a), *end = f + h->functions.n;

	for (; f < end; f++)
		if (f->clone_at && f->prefix_bytes == DWELL_PROBE_BYTES &&
		    f->clone_at - h->code_at < h->code_bytes &&
		    f->clone_bytes <= h->code_at + h->code_bytes - f->clone_at)
			dw_text_write_jump(copy + f->clone_at, a->area + f->clone_at,
					   a->module + f->start);
}

static void edit(void *ctx, uint8_t *copy)
{
	const struct run *run = ctx;

	for (uint32_t i = 0; i < dw_probe.area_n; i++) {
		const struct dw_area *a = &dw_probe.areas[i];
		uint8_t *image = copy + (a->area - run->at);

		if (!is_wanted(a) || a->area - run->at >= run->end - run->at)
			continue;
		silence(a, image);
		if (a->is_restored)
			lead_back(a, image);
		((uint64_t *)(image + a->header->wiped_at))[DWELL_WIPED_ALIVE] = 1;
	}
}

/* What the file's final code does not stand for: the end of the trampolines' last page. */
static void edit_head(void *ctx, uint8_t *copy)
{
	const struct dw_area *a = ctx;
	const struct dw_clone_header *h = a->header;
	const struct dw_clone_function_entry *f = dw_functions(a);
	uint32_t end = h->final_from + DWELL_PAGE_BYTES;

	while (!f->clone_at)
		f++;
	if (f->clone_at < end)
		memcpy(copy + f->clone_at, a->final + (f->clone_at - h->final_from),
		       end - f->clone_at);
}

static void edit_slots(void *ctx, uint8_t *copy)
{
	const struct dw_clone_header *h = ((const struct dw_area *)ctx)->header;

	((uint64_t *)(copy + (h->wiped_at - h->constants_at)))[DWELL_WIPED_ALIVE] = 1;
}

/* Let the file's final code be that of @a. False: not all of it is, and the rest can still be
 * changed. */
static bool take_final(struct dw_area *a)
{
	const struct dw_clone_header *h = a->header;
	const uint64_t from = h->final_from + DWELL_PAGE_BYTES; /* what stands before is copied */
	const uint64_t bytes = h->final_bytes - DWELL_PAGE_BYTES;
	uint8_t *final = (uint8_t *)a->final;
	bool is_done;

	is_done = !dw_sys_mprotect(final, h->final_bytes, PROT_READ | PROT_EXEC) &&
		  !dw_text_share(a->area, from, edit_head, a) &&
		  !dw_text_share(a->area + h->constants_at, 2 * DWELL_PAGE_BYTES, edit_slots, a);
	if (is_done && bytes)
		is_done = dw_is_mapped(
			(void *)dw_syscall(SYS_mremap, final + DWELL_PAGE_BYTES, bytes, bytes,
					   MREMAP_MAYMOVE | MREMAP_FIXED, a->area + from));
	a->final = NULL;
	if (!is_done || !bytes || dw_agent_addresses_take_back(final + DWELL_PAGE_BYTES, bytes))
		dw_agent_addresses_free(final, h->final_bytes);
	return is_done;
}

/* The wanted image that is the first at @at or behind. NULL = none. */
static struct dw_area *next(uint64_t at)
{
	struct dw_area *found = NULL;

	for (uint32_t i = 0; i < dw_probe.area_n; i++) {
		struct dw_area *a = &dw_probe.areas[i];

		if (is_wanted(a) && a->area >= at && (!found || a->area < found->area))
			found = a;
	}
	return found;
}

/* Change the images of @run. */
static bool change(const struct run *run)
{
	if (dw_text_share(run->at, run->end - run->at, edit, (void *)run))
		return false;
	for (struct dw_area *a = next(run->at); a && a->area < run->end; a = next(a->area))
		a->is_final = true;
	return true;
}

/* The end of what changes of @a's image. */
static uint64_t end_of(const struct dw_area *a)
{
	return a->area + (a->has_own_tables ? a->bytes : a->header->wiped_at + DWELL_PAGE_BYTES);
}

/* Change all images: those that lie side by side at once, each by itself where that is refused. */
static void change_all(void)
{
	struct dw_area *a, *behind;

	for (a = next(0); a; a = next(a->area + 1))
		if (a->final && a->is_restored && !a->has_own_tables)
			a->is_final = take_final(a);
	a = next(0);
	while (a) {
		struct run run = {a->area, end_of(a)};

		for (behind = next(run.end); behind && behind->area == run.end;
		     behind = next(run.end))
			run.end = end_of(behind);
		if (!change(&run))
			for (; a && a->area < run.end; a = next(a->area + 1))
				change(&(struct run){a->area, end_of(a)});
		a = next(run.end);
	}
}

/* Whether nothing can measure any more, and nothing of the agent's memory tells what runs where. */
static bool is_done(void)
{
	for (uint32_t i = 0; i < dw_probe.area_n; i++) {
		const struct dw_area *a = &dw_probe.areas[i];

		if (!a->is_closed && (!a->is_final || (a->left && !a->is_restored)))
			return false;
	}
	return true;
}

void dw_finish_all(void)
{
	if (dw_probe.is_finished || !dw_agent_enter())
		return;
	for (uint32_t i = 0; i < dw_probe.area_n && !dw_probe.is_finished; i++)
		if (is_wanted(&dw_probe.areas[i]))
			restore_module(&dw_probe.areas[i]);
	if (!dw_probe.is_finished) {
		change_all();
		dw_probe.is_finished = true;
		if (is_done()) {
			dw_agent_retire();
			dw_arena_retire();
			dw_rooms_give_back(0);
		}
	}
	dw_agent_leave();
}

void dw_finish_set_alive(uint64_t is_alive)
{
	for (uint32_t i = 0; i < dw_probe.area_n; i++) {
		const struct dw_area *a = &dw_probe.areas[i];
		uint64_t *wiped;

		if (a->is_closed || a->is_final)
			continue;
		wiped = (uint64_t *)(a->area + a->header->wiped_at);
		if (wiped[DWELL_WIPED_ALIVE] != is_alive)
			wiped[DWELL_WIPED_ALIVE] = is_alive;
	}
}
