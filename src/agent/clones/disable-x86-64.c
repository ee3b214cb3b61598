/*
 * Switching probes off; see disable.h.
 *
 * A probe with an argument has put rax to -16(%rsp) and that into rax: its trampoline call becomes
 * the load that brings rax back. Where the argument is a number, all three become one nop, in which
 * tasks that are between them still find what they need. One that pops has only its trampoline
 * call, which becomes a nop. A landing pad's stays: it pops what an exception has ended. A call out
 * loses its RETURN with the second step.
 *
 * Where calls that are off shall be counted (counts.h), a probe that begins something goes on
 * calling a trampoline, one that only counts: with a number it gets that of its counter. RETURN
 * becomes a nop that tells where it stood.
 *
 * For each area two sets of bits, one for each step: of functions, imports, and functions for their
 * calls through pointers. The same sets tell which entries of shadow stacks count no more.
 */
#include "agent/calls/stacks.h"
#include "agent/clones/clones.h"
#include "agent/clones/counts.h"
#include "agent/clones/disable.h"
#include "agent/clones/signal-context.h"
#include "agent/clones/text.h"
#include "agent/core/agent.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#include <errno.h>

enum {
	CALL = 0xe8,
	CALL_BYTES = 5,
	MOV_EAX = 0xb8,
	GAP_PAGES = 16, /* between two that change: then those are swapped as well */
};

/* What the probes of an area are to be, and which trampoline calls that changes. */
struct work {
	const struct dw_area *area;
	const uint8_t *fresh; /* as area->disabled: what was not disabled before */
	/* offsets in the area; with IS_END those of trampolines without argument */
	uint32_t *sites;
	uint32_t n;
};

#define IS_END (1u << 31)

/* How much of @a was disabled before it came. */
static uint32_t predisabled_n(const struct dw_area *a)
{
	return dw_agent_region()->answers[a->region_module].predisabled_n;
}

static uint32_t functions_n(const struct dw_area *a)
{
	return a->header->functions.n;
}

static uint32_t imports_n(const struct dw_area *a)
{
	return a->header->imports.n;
}

/* Bytes of one set of bits. */
static uint32_t set_bytes(const struct dw_area *a)
{
	return (2 * functions_n(a) + imports_n(a)) / 8 + 1;
}

/* The bit of the calls through pointers of @function. */
static uint32_t pointers_of(const struct dw_area *a, uint32_t function)
{
	return functions_n(a) + imports_n(a) + function;
}

/* Whether @index is in the @sets of @a for @step. */
static bool is_in(const struct dw_area *a, const uint8_t *sets, uint32_t index, uint32_t step)
{
	const uint8_t *set = sets + step * set_bytes(a);

	return __atomic_load_n(&set[index / 8], __ATOMIC_RELAXED) >> index % 8 & 1;
}

/* Whether the probes of @index begin (@step 0) or end (1) nothing any more. */
static bool is_disabled(const struct dw_area *a, uint32_t index, uint32_t step)
{
	return is_in(a, a->disabled, index, step);
}

/* Whether @index may be disabled: what goes on on other stacks is watched to its end. */
static bool may_disable(const struct dw_area *a, uint32_t index)
{
	const struct dw_clone_import *imports = (const void *)(a->area + a->header->imports.at);
	const struct dw_clone_function_entry *f = dw_functions(a);

	if (index < functions_n(a))
		return f[index].flags & DWELL_CLONE_PROBED &&
		       !(f[index].flags & DWELL_CLONE_SWITCHES);
	return index - functions_n(a) >= imports_n(a) ||
	       !(imports[index - functions_n(a)].flags & DWELL_IMPORT_SWITCHES);
}

/* The index in the sets of @a of function or import @i, or of the calls through pointers of
 * function @i; UINT32_MAX = there is none. */
static uint32_t index_in(const struct dw_area *a, uint32_t i, bool is_pointers)
{
	if (i >= functions_n(a) + (is_pointers ? 0 : imports_n(a)))
		return UINT32_MAX;
	return is_pointers ? pointers_of(a, i) : i;
}

/* The index in the sets of @a that @key means; UINT32_MAX = it is another area's. */
static uint32_t index_of(const struct dw_area *a, uint32_t key)
{
	const struct dw_region_module *m = &dw_agent_region()->modules[a->region_module];

	return index_in(a, (key & ~DWELL_DISABLE_POINTERS) - m->first_id,
			key & DWELL_DISABLE_POINTERS);
}

/* Set the bit of @index for @step, and if it was not set before in @fresh, too. Whether it was not.
 */
static bool mark_one(struct dw_area *a, uint8_t *fresh, uint32_t index, uint32_t step)
{
	uint32_t at = step * set_bytes(a) + index / 8;
	uint8_t bit = (uint8_t)(1 << index % 8);

	if (is_disabled(a, index, step))
		return false;
	fresh[at] |= bit;
	__atomic_store_n(&a->disabled[at], a->disabled[at] | bit, __ATOMIC_RELAXED);
	if (dw_counted_is_on() && !step && index < pointers_of(a, 0))
		dw_counted_place(a, index);
	return true;
}

/* Set the bits of what is not measured from the start, likewise: nothing of it has begun. */
static bool mark_predisabled(struct dw_area *a, uint8_t *fresh)
{
	const struct dw_region_header *region = dw_agent_region();
	uint32_t at = region->answers[a->region_module].predisabled_at, n = predisabled_n(a);
	bool any = false;

	for (uint32_t i = 0; i < n && at + i < DWELL_REGION_DISABLED; i++) {
		uint32_t disable_key = region->predisabled[at + i];
		uint32_t index = index_in(a, disable_key & ~DWELL_DISABLE_POINTERS,
					  disable_key & DWELL_DISABLE_POINTERS);

		if (index == UINT32_MAX || !may_disable(a, index))
			continue;
		any |= mark_one(a, fresh, index, 0);
		any |= mark_one(a, fresh, index, 1);
	}
	return any;
}

/* Set the bits that the region asks for, and those that were not set before in @fresh, too. Whether
 * there were any. */
static bool mark(struct dw_area *a, uint8_t *fresh)
{
	const struct dw_region_disabled *m = &dw_agent_region()->disabled;
	uint32_t n = __atomic_load_n(&m->n, __ATOMIC_RELAXED);
	uint32_t ended = __atomic_load_n(&m->ended, __ATOMIC_RELAXED);
	bool any = mark_predisabled(a, fresh);

	for (uint32_t i = 0; i < n && i < DWELL_REGION_DISABLED; i++) {
		uint32_t index = index_of(a, m->keys[i]);

		/* Most have been seen before: those cost no look at their functions. */
		if (index == UINT32_MAX || is_disabled(a, index, i < ended) ||
		    !may_disable(a, index))
			continue;
		for (uint32_t step = 0; step <= (i < ended); step++)
			any |= mark_one(a, fresh, index, step);
	}
	return any;
}

/* The first of [@i, @end) that is fresh; @end = none. */
static uint32_t next_fresh(const struct work *w, uint32_t i, uint32_t end)
{
	while (i < end) {
		bool is_byte = i % 8 == 0 && end - i >= 8;

		if (is_byte && !w->fresh[i / 8] && !w->fresh[set_bytes(w->area) + i / 8])
			i += 8;
		else if (is_in(w->area, w->fresh, i, 0) || is_in(w->area, w->fresh, i, 1))
			return i;
		else
			i++;
	}
	return end;
}

/* Note that the trampoline call at @at of the area is to go, unless it has. */
static void change(struct work *w, uint32_t at, bool is_end)
{
	const struct dw_clone_header *h = w->area->header;
	uint32_t from = at - h->code_at, end = from + CALL_BYTES - 1;

	if (from < h->code_bytes && end < h->code_bytes &&
	    *(const uint8_t *)(w->area->area + at) == CALL)
		w->sites[w->n++] = at | (is_end ? IS_END : 0);
}

/* Note the changes of the call out whose probe is at @at, about @index: its RETURN comes next. */
static void change_out(struct work *w, uint32_t at, uint32_t index)
{
	const struct dw_clone_part *list =
		&w->area->header->trampoline_calls[DWELL_TRAMPOLINE_RETURN];
	const uint32_t *back = (const uint32_t *)(w->area->area + list->at), *end = back + list->n;

	if (is_in(w->area, w->fresh, index, 0))
		change(w, at, false);
	if (!is_in(w->area, w->fresh, index, 1))
		return;
	back = dw_first_offset(back, end, at);
	if (back < end)
		change(w, *back, true);
}

/* Note the changes of the probes with @trampoline that are about the function they stand in. */
static void change_in_functions(struct work *w, enum dw_trampoline trampoline)
{
	const struct dw_area *a = w->area;
	const struct dw_clone_part *list = &a->header->trampoline_calls[trampoline];
	const uint32_t *at = (const uint32_t *)(a->area + list->at), *end = at + list->n;
	const struct dw_clone_function_entry *f = dw_functions(a);
	uint32_t first = trampoline == DWELL_TRAMPOLINE_OUT_POINTER ? pointers_of(a, 0) : 0;
	uint32_t last = first + functions_n(a), i = first;

	for (; at < end && (i = next_fresh(w, i, last)) < last; i++) {
		uint32_t from = f[i - first].clone_at, bytes = f[i - first].clone_bytes;

		if (!from)
			continue;
		for (at = dw_first_offset(at, end, from); at < end && *at - from < bytes; at++) {
			if (trampoline == DWELL_TRAMPOLINE_OUT_POINTER)
				change_out(w, *at, i);
			else if (is_in(a, w->fresh, i, trampoline == DWELL_TRAMPOLINE_EXIT))
				change(w, *at, trampoline == DWELL_TRAMPOLINE_EXIT);
		}
	}
}

/* Note the changes of the probes that are about imports. */
static void change_imports(struct work *w)
{
	const struct dw_area *a = w->area;
	uint32_t first = functions_n(a), last = first + imports_n(a);

	for (uint32_t i = first; (i = next_fresh(w, i, last)) < last; i++) {
		const uint32_t *end, *at = dw_import_sites_of(&a->sites, i - first, &end);

		for (; at < end; at++) {
			if (!(*at & DWELL_SITE_IS_TAIL))
				change_out(w, *at, i);
			else if (is_in(a, w->fresh, i, 0))
				change(w, *at & ~DWELL_SITE_IS_TAIL, false);
		}
	}
}

static void change_area(struct work *w)
{
	static const enum dw_trampoline trampolines[] = {
		DWELL_TRAMPOLINE_ENTER, DWELL_TRAMPOLINE_EXIT, DWELL_TRAMPOLINE_OUT_POINTER,
		DWELL_TRAMPOLINE_LINE};

	for (uint32_t i = 0; i < sizeof trampolines / sizeof *trampolines; i++)
		change_in_functions(w, trampolines[i]);
	change_imports(w);
}

/* Whether the trampoline call at @call ends a probe whose argument is a number. */
static bool has_number(const struct dw_area *a, const uint8_t *call)
{
	const uint8_t *load = call - DWELL_PROBE_LOAD_BYTES;

	return (uint64_t)load >= a->area + a->header->code_at &&
	       !__builtin_memcmp(load, dw_probe_put_away, sizeof dw_probe_put_away);
}

/* Write a call of @trampoline as code for @at of the area. */
static void write_call(const struct work *w, uint32_t at, enum dw_trampoline trampoline,
		       uint8_t ret[static CALL_BYTES])
{
	uint32_t distance = w->area->header->trampoline_at[trampoline] - (at + CALL_BYTES);

	*ret = CALL;
	__builtin_memcpy(ret + 1, &distance, sizeof distance);
}

/*
 * What counts in the place of the trampoline call at @*at, if something is to: its length in bytes,
 * 0 = nothing is. The number of a probe is looked for by what it tells now.
 */
static uint32_t counting(const struct work *w, uint32_t *at, uint8_t ret[static DWELL_PROBE_BYTES])
{
	const uint8_t *call = (const uint8_t *)w->area->area + *at;
	enum dw_trampoline trampoline = dw_trampoline_called(w->area, (uint64_t)call);
	uint32_t index;
	int32_t place;

	if (trampoline == DWELL_TRAMPOLINE_OUT_POINTER) {
		write_call(w, *at, DWELL_TRAMPOLINE_COUNTED_POINTER, ret);
		return CALL_BYTES;
	}
	if (trampoline == DWELL_TRAMPOLINE_LINE || !has_number(w->area, call))
		return 0;
	__builtin_memcpy(&index, call - sizeof index, sizeof index);
	place = dw_counted_find(w->area, index);
	if (place >= 0)
		return 0;
	*at -= CALL_BYTES;
	*ret = MOV_EAX;
	__builtin_memcpy(ret + 1, &place, sizeof place);
	write_call(w, *at + CALL_BYTES,
		   trampoline == DWELL_TRAMPOLINE_TAIL ? DWELL_TRAMPOLINE_COUNTED_TAIL
						       : DWELL_TRAMPOLINE_COUNTED,
		   ret + CALL_BYTES);
	return 2 * CALL_BYTES;
}

uint32_t dw_disable_code(const struct dw_area *a, bool loads_rax, uint32_t *at,
			 uint8_t ret[static DWELL_PROBE_BYTES])
{
	uint32_t bytes = CALL_BYTES;

	if (!loads_rax) {
		__builtin_memcpy(ret, dw_no_call, sizeof dw_no_call);
		return bytes;
	}
	if (has_number(a, (const uint8_t *)a->area + *at)) {
		*at -= DWELL_PROBE_LOAD_BYTES;
		bytes = DWELL_PROBE_BYTES;
	}
	/* Where only the trampoline call goes, the end is the load of rax. */
	__builtin_memcpy(ret, dw_no_probe + DWELL_PROBE_BYTES - bytes, bytes);
	return bytes;
}

/* What stands for the change @site of w->sites from now on, and where: its length in bytes. */
static uint32_t replacement(const struct work *w, uint32_t site, uint32_t *at,
			    uint8_t ret[static DWELL_PROBE_BYTES])
{
	bool is_end = site & IS_END;
	uint32_t bytes;

	*at = site & ~IS_END;
	bytes = is_end || !dw_counted_is_on() ? 0 : counting(w, at, ret);
	if (!bytes)
		bytes = dw_disable_code(w->area, !is_end, at, ret);
	if (is_end)
		ret[CALL_BYTES - 1] = dw_counted_is_on();
	return bytes;
}

static void edit(void *ctx, uint8_t *copy)
{
	const struct work *w = ctx;

	for (uint32_t i = 0; i < w->n; i++) {
		uint8_t code[DWELL_PROBE_BYTES];
		uint32_t at, bytes = replacement(w, w->sites[i], &at, code);

		__builtin_memcpy(copy + at - w->area->header->code_at, code, bytes);
	}
}

/* The same in place, where nobody else runs the code. 0 or -errno, and some may be done. */
static int edit_in_place(const struct work *w)
{
	int fd = dw_sys_open("/proc/self/mem", O_RDWR | O_CLOEXEC, 0), error = 0;

	for (uint32_t i = 0; i < w->n && fd >= 0 && !error; i++) {
		uint8_t code[DWELL_PROBE_BYTES];
		uint32_t at, bytes = replacement(w, w->sites[i], &at, code);
		long n = dw_syscall(SYS_pwrite64, fd, code, bytes, w->area->area + at);

		if (n != (long)bytes)
			error = n < 0 ? (int)n : -EIO;
	}
	if (fd >= 0)
		dw_sys_close(fd);
	return fd < 0 ? fd : error;
}

/* The pages that change, as bits. */
static void mark_pages(const struct work *w, uint8_t *pages)
{
	for (uint32_t i = 0; i < w->n; i++) {
		uint8_t code[DWELL_PROBE_BYTES];
		uint32_t at, bytes = replacement(w, w->sites[i], &at, code);
		uint32_t from = at - w->area->header->code_at;
		uint32_t first = from / DWELL_PAGE_BYTES;
		uint32_t last = (from + bytes - 1) / DWELL_PAGE_BYTES;

		pages[first / 8] |= (uint8_t)(1 << first % 8);
		pages[last / 8] |= (uint8_t)(1 << last % 8);
	}
}

/* Mark pages in short gaps too: each run is a mapping of its own. */
static void fill_gaps(uint8_t *pages, uint32_t n)
{
	uint32_t last = UINT32_MAX;

	for (uint32_t i = 0; i < n; i++) {
		if (!(pages[i / 8] >> i % 8 & 1))
			continue;
		if (last != UINT32_MAX && i - last <= GAP_PAGES)
			while (++last < i)
				pages[last / 8] |= (uint8_t)(1 << last % 8);
		last = i;
	}
}

/* Change a copy of all pages that change, of @n, and let it take their place. 0 or -errno. */
static int swap_pages(struct work *w, uint8_t *pages, uint32_t n)
{
	mark_pages(w, pages);
	fill_gaps(pages, n);
	return dw_text_swap_pages(w->area->area + w->area->header->code_at,
				  (uint64_t)n * DWELL_PAGE_BYTES, pages, edit, w);
}

/* Bring the code of @a in line with what is @fresh in its sets. @is_copy: that was done before, so
 * pages that change now have been copied as a rule. 0 or -errno.
 */
static int change_code(struct dw_area *a, const uint8_t *fresh, bool is_copy)
{
	const struct dw_clone_header *h = a->header;
	uint32_t pages_n = (h->code_bytes + DWELL_PAGE_BYTES - 1) / DWELL_PAGE_BYTES;
	uint8_t *pages = dw_agent_memory(pages_n / 8 + 1);
	struct work w = {.area = a, .fresh = fresh};
	uint64_t bytes = 0;
	int error = -ENOMEM;

	for (uint32_t trampoline = 0; trampoline < DWELL_TRAMPOLINES_N; trampoline++)
		bytes += 2 * h->trampoline_calls[trampoline].n *
			 sizeof *w.sites; /* with its RETURN */
	w.sites = dw_agent_memory(bytes + 1);
	if (pages && w.sites && dw_import_sites_list(&a->sites, a)) {
		change_area(&w);
		error = is_copy && dw_agent_is_alone() ? edit_in_place(&w) : -EBUSY;
		if (error)
			error = swap_pages(&w, pages, pages_n);
	}
	dw_agent_memory_free(pages, pages_n / 8 + 1);
	dw_agent_memory_free(w.sites, bytes + 1);
	return error;
}

void dw_disable_area(struct dw_area *a)
{
	struct dw_region_header *region = dw_agent_region();
	bool is_first = !a->disabled;
	uint8_t *fresh;
	int error = 0;

	if ((!region->disabled.n && !predisabled_n(a)) || a->header->probes != DWELL_PROBES_TIME)
		return;
	fresh = dw_agent_memory(2 * set_bytes(a));
	if (!a->disabled)
		a->disabled = dw_agent_memory(2 * set_bytes(a));
	if (!a->disabled || !fresh)
		error = -ENOMEM;
	else if (mark(a, fresh))
		error = change_code(a, fresh, !is_first);
	dw_agent_memory_free(fresh, 2 * set_bytes(a));
	if (error)
		region->disabled_error = (uint32_t)-error;
}

void dw_disable_forget(struct dw_area *a)
{
	dw_agent_memory_free(a->disabled, 2 * set_bytes(a));
	a->disabled = NULL;
	dw_counted_forget(a);
	dw_import_sites_release(&a->sites);
}

/* Do what the region asks for as @serial. False: another thread is at it. */
static bool apply(uint32_t serial)
{
	bool is_mine = !dw_probe.is_finished &&
		       !__atomic_exchange_n(&dw_probe.is_disabling, true, __ATOMIC_ACQUIRE);

	if (is_mine && dw_agent_is_self() && dw_agent_enter()) {
		for (uint32_t i = 0; i < dw_probe.area_n; i++)
			if (!dw_probe.areas[i].is_closed)
				dw_disable_area(&dw_probe.areas[i]);
		dw_agent_region()->disabled_done = serial;
		__atomic_store_n(&dw_probe.disabled_serial, serial, __ATOMIC_RELEASE);
		dw_agent_leave();
	}
	if (is_mine)
		__atomic_store_n(&dw_probe.is_disabling, false, __ATOMIC_RELEASE);
	return __atomic_load_n(&dw_probe.disabled_serial, __ATOMIC_ACQUIRE) == serial;
}

/* The area whose keys @key is one of. NULL = none. */
static const struct dw_area *area_of_key(uint64_t key)
{
	const struct dw_region_header *region = dw_agent_region();

	for (uint32_t i = 0; i < dw_probe.area_n; i++) {
		const struct dw_region_module *m =
			&region->modules[dw_probe.areas[i].region_module];

		if (!dw_probe.areas[i].is_closed && m->first_id && key - m->first_id < m->ids_n)
			return &dw_probe.areas[i];
	}
	return NULL;
}

/* The area whose clones hold the call at @site, half an address. NULL = none. */
static const struct dw_area *area_of_site(uint32_t site)
{
	for (uint32_t i = 0; i < dw_probe.area_n; i++)
		if (!dw_probe.areas[i].is_closed &&
		    site - (uint32_t)dw_probe.areas[i].area < dw_probe.areas[i].bytes)
			return &dw_probe.areas[i];
	return NULL;
}

/* Whether activations of @node end without probes now or soon. */
static bool is_over(const struct dw_tree_node *node)
{
	const struct dw_area *a;
	uint32_t index;

	if (!(node->key & DWELL_KEY_ADDRESS)) {
		a = area_of_key(node->key);
		return a && a->disabled &&
		       is_disabled(a,
				   (uint32_t)node->key -
					   dw_agent_region()->modules[a->region_module].first_id,
				   0);
	}
	a = area_of_site(node->site);
	if (!a || !a->disabled)
		return false;
	index = dw_function_of_clone(a, node->site - (uint32_t)a->area);
	return index < functions_n(a) && is_disabled(a, pointers_of(a, index), 0);
}

void dw_disable_update(struct dw_thread *t)
{
	uint32_t serial = __atomic_load_n(&dw_agent_region()->disabled.serial, __ATOMIC_ACQUIRE);

	if (serial == t->line->disabled_serial ||
	    (serial != __atomic_load_n(&dw_probe.disabled_serial, __ATOMIC_ACQUIRE) &&
	     !apply(serial)))
		return;
	dw_stacks_drop(&t->stacks, is_over);
	t->line->disabled_serial = serial;
}

/* Tell the region of what is disabled in @a: all of @step. */
static void tell(struct dw_region_disabled *m, const struct dw_area *a, uint32_t step)
{
	uint32_t first = dw_agent_region()->modules[a->region_module].first_id;

	for (uint32_t i = 0; i < 2 * functions_n(a) + imports_n(a); i++) {
		bool is_pointers = i >= pointers_of(a, 0);

		if (!is_disabled(a, i, 0) || is_disabled(a, i, 1) != step ||
		    m->n == DWELL_REGION_DISABLED ||
		    !dw_agent_have(&m->keys[m->n], sizeof(*m->keys)))
			continue;
		m->keys[m->n++] = is_pointers
					  ? (first + i - pointers_of(a, 0)) | DWELL_DISABLE_POINTERS
					  : first + i;
	}
}

void dw_disable_forked(void)
{
	struct dw_region_disabled *m = &dw_agent_region()->disabled;

	dw_probe.is_disabling = false;
	for (uint32_t step = 2; step-- > 0;) {
		for (uint32_t i = 0; i < dw_probe.area_n; i++)
			if (!dw_probe.areas[i].is_closed && dw_probe.areas[i].disabled)
				tell(m, &dw_probe.areas[i], step);
		if (step)
			m->ended = m->n;
	}
	dw_agent_region()->disabled_done = dw_probe.disabled_serial;
	__atomic_store_n(&m->serial, dw_probe.disabled_serial, __ATOMIC_RELEASE);
}
