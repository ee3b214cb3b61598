/*
 * Text that the program makes writable: its functions run from the module again.
 *
 * When mprotect() has made pages of a cloned module's text writable, and before the program can
 * write them, every function that lies there whole gets its own bytes back, and its clone's entry
 * leads to the module, so that direct calls from other clones see what the program writes.
 * Activations go on in the clone that they began in. Where mmap() puts something else over text,
 * clones are only no longer found for it: what the program copied from there before (to remap it on
 * huge pages) holds the patches, and must still work. Limits: raw system calls are not seen.
 */
#include "agent/clones/clones.h"
#include "agent/clones/text.h"
#include "agent/core/agent.h"
#include "agent/core/memory.h"

#include <sys/mman.h>

/* Functions of one area that lie in pages whose rights or contents change. */
struct change {
	struct dw_area *area;
	uint32_t first, end;		 /* offsets in the module */
	uint8_t *functions;		 /* bit n: function n */
	uint32_t clone_first, clone_end; /* pages of their clones, area offsets */
};

static bool has(const uint8_t *bits, uint32_t i)
{
	return bits && bits[i / 8] >> (i % 8) & 1;
}

static size_t bits_bytes(const struct dw_area *area)
{
	return area->header->functions.n / 8 + 1;
}

static uint8_t *make_bits(const struct dw_area *area)
{
	return dw_agent_memory(bits_bytes(area));
}

/* Take out functions one of whose own patches lies outside: it could not be undone. One in the
 * padding around it may stay. */
static void spare_straddlers(struct change *c)
{
	const struct dw_clone_header *h = c->area->header;
	const struct dw_clone_function_entry *functions = dw_functions(c->area);
	const struct dw_clone_patch *p =
		(const struct dw_clone_patch *)(c->area->area + h->patches.at);

	for (uint32_t i = 0; i < h->patches.n; i++) {
		const struct dw_clone_function_entry *f = &functions[p[i].function];

		if (p[i].at - f->start < f->bytes &&
		    (p[i].at < c->first || p[i].at + DWELL_JUMP_BYTES > c->end))
			c->functions[p[i].function / 8] &= (uint8_t) ~(1 << p[i].function % 8);
	}
}

/* Find the functions that are concerned. */
static void choose(struct change *c)
{
	const struct dw_clone_function_entry *f = dw_functions(c->area);

	for (uint32_t i = 0; i < c->area->header->functions.n; i++)
		if (f[i].clone_at && f[i].clone_bytes >= DWELL_JUMP_BYTES &&
		    !(f[i].flags & DWELL_CLONE_COLD) && f[i].start >= c->first &&
		    f[i].start < c->end && !has(c->area->left, i))
			c->functions[i / 8] |= (uint8_t)(1 << i % 8);
	spare_straddlers(c);
}

/* Mark the chosen functions as left, and find out which pages their clones fill. */
static bool mark(struct change *c)
{
	const struct dw_clone_function_entry *f = dw_functions(c->area);

	c->clone_first = UINT32_MAX;
	for (uint32_t i = 0; i < c->area->header->functions.n; i++) {
		uint32_t end = f[i].clone_at + DWELL_JUMP_BYTES;

		if (!has(c->functions, i))
			continue;
		c->area->left[i / 8] |= (uint8_t)(1 << i % 8);
		c->clone_first = f[i].clone_at < c->clone_first ? f[i].clone_at : c->clone_first;
		c->clone_end = end > c->clone_end ? end : c->clone_end;
		dw_agent_drop(DWELL_DROP_WRITTEN);
	}
	c->clone_first &= -(uint32_t)DWELL_PAGE_BYTES;
	c->clone_end = (c->clone_end + DWELL_PAGE_BYTES - 1) & -(uint32_t)DWELL_PAGE_BYTES;
	return c->clone_end;
}

/* Let the entries of the chosen functions' clones lead to the module. */
static void lead_back(void *ctx, uint8_t *copy)
{
	const struct change *c = ctx;
	const struct dw_clone_function_entry *f = dw_functions(c->area);

	for (uint32_t i = 0; i < c->area->header->functions.n; i++)
		if (has(c->functions, i))
			dw_text_write_jump(copy + (f[i].clone_at - c->clone_first),
					   c->area->area + f[i].clone_at,
					   c->area->module + f[i].start);
}

/* The part of [@from, @to) that is text of @area, as offsets in its module. False = none. */
static bool is_concerned(struct change *c, uint64_t from, uint64_t to)
{
	const struct dw_area *a = c->area;
	uint64_t end = a->text + a->text_bytes;

	if (a->is_closed || to <= a->text || from >= end)
		return false;
	c->first = (uint32_t)((from > a->text ? from : a->text) - a->module);
	c->end = (uint32_t)((to < end ? to : end) - a->module);
	return true;
}

/* Put back the functions of @c->area in a range that is writable now, or forget them where
 * something else is there. */
static void put_back(struct change *c, bool is_writable)
{
	if (!c->area->left)
		c->area->left = make_bits(c->area);
	c->functions = make_bits(c->area);
	if (c->functions && c->area->left) {
		choose(c);
		if (mark(c) && is_writable) {
			if (!c->area->is_restored)
				dw_text_restore(c->area, c->functions, c->first, c->end);
			dw_text_swap(c->area->area + c->clone_first, c->clone_end - c->clone_first,
				     lead_back, c);
		}
	}
	dw_agent_memory_free(c->functions, bits_bytes(c->area));
}

static void text_changes(uint64_t from, uint64_t bytes, bool is_writable)
{
	for (uint32_t i = 0; i < dw_probe.area_n; i++) {
		struct change c = {.area = &dw_probe.areas[i]};

		if (!is_concerned(&c, from, from + bytes))
			continue;
		dw_agent_after_fork();
		if (!dw_agent_is_self() || !dw_agent_enter())
			continue;
		put_back(&c, is_writable);
		dw_agent_leave();
	}
}

DWELL_STAND_IN int mprotect(void *at, size_t bytes, int rights)
{
	__typeof__(&mprotect) real = DW_REAL(mprotect);
	int result = real ? real(at, bytes, rights) : -1;

	if (!result && rights & PROT_WRITE && dw_probe.area_n)
		text_changes((uint64_t)at, bytes, true);
	return result;
}

DWELL_STAND_IN int pkey_mprotect(void *at, size_t bytes, int rights, int key)
{
	__typeof__(&pkey_mprotect) real = DW_REAL(pkey_mprotect);
	int result = real ? real(at, bytes, rights, key) : -1;

	if (!result && rights & PROT_WRITE && dw_probe.area_n)
		text_changes((uint64_t)at, bytes, true);
	return result;
}

/* Named by hand: the headers redirect mmap() to mmap64(). */
void *dw_mmap(void *at, size_t bytes, int rights, int flags, int fd, off_t offset) __asm__("mmap");

DWELL_STAND_IN void *dw_mmap(void *at, size_t bytes, int rights, int flags, int fd, off_t offset)
{
	__typeof__(&dw_mmap) real = DW_REAL_AS(__typeof__(&dw_mmap), "mmap");
	void *result = real ? real(at, bytes, rights, flags, fd, offset) : MAP_FAILED;

	if (result != MAP_FAILED && flags & MAP_FIXED && dw_probe.area_n)
		text_changes((uint64_t)result, bytes, false);
	return result;
}

extern __typeof__(dw_mmap) dw_mmap64 __asm__("mmap64") DWELL_STAND_IN
	__attribute__((alias("mmap")));
