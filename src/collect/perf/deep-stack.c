/*
 * Deep stacks; see deep-stack.h.
 *
 * Sizes: the overlap of 512 bytes or more spans several frames, whose return addresses would differ
 * had the thread returned and called again; pieces begin at 4 KB, where most stacks that overflow
 * the dump end, and double. Return addresses in live bytes are not checked to follow a call: the
 * overlap has already shown that the frames around are still those of the dump.
 */
#include "collect/perf/deep-stack.h"

#include "base/cleanup.h"
#include "target/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	OVERLAP_BYTES = 512,
	LOWEST_CODE = 4096,
	FIRST_PIECE_BYTES = 4 << 10,
	DEEPEST_BYTES = 256 << 20,
	COMPARED_BYTES = 4 << 10,
	SHOWN_STEP_BYTES = 512,
	OLD_MOST_NS = 20000000,
};

static uint64_t end_of(const struct dw_deep *d)
{
	return d->base + d->bytes;
}

/* Let the walk see what is known up to @to. */
static void show(struct dw_deep *d, struct dw_unwind_memory *m, uint64_t to)
{
	d->shown_to = to < end_of(d) ? to : end_of(d);
	m->base = d->base;
	m->bytes = d->memory;
	m->n = (size_t)(d->shown_to - d->base);
}

static int grow(struct dw_deep *d, size_t need)
{
	size_t cap = d->cap ? d->cap : 64 << 10;
	uint8_t *bigger;

	while (cap < need)
		cap *= 2;
	if (cap == d->cap)
		return 0;
	bigger = realloc(d->memory, cap);
	if (!bigger)
		return -1;
	d->memory = bigger;
	d->cap = cap;
	return 0;
}

/* Start from a copy of the dump that @m still shows. */
static int copy_dump(struct dw_deep *d, const struct dw_unwind_memory *m)
{
	if (grow(d, m->n))
		return -1;
	memcpy(d->memory, m->bytes, m->n);
	d->base = m->base;
	d->bytes = m->n;
	return 0;
}

static bool is_code(struct dw_deep *d, uint64_t word)
{
	return word >= LOWEST_CODE && dw_space_find(d->space, (struct dw_avma){word});
}

/*
 * How much of the known end is to be read again: enough to have an address of code in it, a return
 * address most likely. The frame that the known bytes end in may be a large one.
 */
static size_t choose_overlap(struct dw_deep *d)
{
	size_t n = 0;
	bool has_code = false;

	while (n + 8 <= d->bytes && (!has_code || n < OVERLAP_BYTES)) {
		uint64_t word;

		n += 8;
		if (has_code)
			continue;
		memcpy(&word, d->memory + d->bytes - n, 8);
		has_code = is_code(d, word);
	}
	return n;
}

/*
 * Whether the thread still stands in the frames whose last @n bytes were @before and are @now.
 * Locals and spilled registers change all the time, return addresses do not while their call lasts:
 * so a word may differ if it is, and was, no address of code.
 */
static bool is_still_there(struct dw_deep *d, const uint8_t *before, const uint8_t *now, size_t n)
{
	for (size_t at = 0; at + 8 <= n; at += 8) {
		uint64_t was, is;

		memcpy(&was, before + at, 8);
		memcpy(&is, now + at, 8);
		if (was != is && (is_code(d, was) || is_code(d, is)))
			return false;
	}
	return true;
}

/* Read up to @more bytes behind the known ones. Fails when the thread has moved on. */
static int read_more(struct dw_deep *d, size_t more)
{
	size_t n = choose_overlap(d), from = d->bytes - n;
	dw_auto_free uint8_t *overlap = malloc(n + 1);
	ssize_t got;
	bool is_valid;

	if (!overlap || d->bytes + more > DEEPEST_BYTES || grow(d, d->bytes + more))
		return -1;
	memcpy(overlap, d->memory + from, n);
	got = dw_memory_read(d->pid, d->base + from, d->memory + from, n + more);
	is_valid = got > (ssize_t)n && is_still_there(d, overlap, d->memory + from, n);
	memcpy(d->memory + from, overlap, n);
	if (!is_valid)
		return -1;
	d->bytes = from + (size_t)got;
	return 0;
}

/* Whether @n bytes at @at are what the old walk saw there. */
static bool is_same(const struct dw_deep *d, uint64_t at, size_t n)
{
	return !memcmp(d->memory + (at - d->base), d->old->memory + (at - d->old->memory_base), n);
}

/* From which address on the known memory equals the old walk's. */
static uint64_t find_same_from(const struct dw_deep *d)
{
	uint64_t top = d->old->memory_base + d->old->memory_bytes, at = top;
	uint64_t low = d->base > d->old->memory_base ? d->base : d->old->memory_base;

	if (top > end_of(d))
		return UINT64_MAX;
	while (at >= low + COMPARED_BYTES && is_same(d, at - COMPARED_BYTES, COMPARED_BYTES))
		at -= COMPARED_BYTES;
	while (at >= low + 8 && is_same(d, at - 8, 8))
		at -= 8;
	return at < top ? at : UINT64_MAX;
}

/* Where the memory of the last stack ends, 0 = there is none. */
static uint64_t old_end_of(const struct dw_deep *d)
{
	return d->old && d->old->memory_bytes ? d->old->memory_base + d->old->memory_bytes : 0;
}

/*
 * The thread has moved on before its memory could be read, but just before it stood in the same
 * frames: what was above them then is as good. Only if it was read from the thread, and lately, or
 * one old stack would vouch for the next for ever.
 */
static int take_old(struct dw_deep *d)
{
	const struct dw_walk *old = d->old;
	uint64_t end = end_of(d);
	size_t n = choose_overlap(d), more;
	const uint8_t *there;

	if (old_end_of(d) <= end || end - n < old->memory_base ||
	    d->time_ns - old->memory_ns > OLD_MOST_NS)
		return -1;
	there = old->memory + (end - old->memory_base);
	more = (size_t)(old_end_of(d) - end);
	if (!is_still_there(d, d->memory + d->bytes - n, there - n, n) || grow(d, d->bytes + more))
		return -1;
	memcpy(d->memory + d->bytes, there, more);
	d->bytes += more;
	d->read_ns = old->memory_ns;
	return 0;
}

/* The first step beyond the dump: as deep as last time, when the thread was deep then. */
static int read_first(struct dw_deep *d, const struct dw_unwind_memory *m)
{
	uint64_t dump_end = m->base + m->n, old_end = old_end_of(d);
	bool again = old_end > dump_end && old_end - dump_end < DEEPEST_BYTES;

	if (copy_dump(d, m))
		return -1;
	d->read_ns = d->time_ns;
	if (read_more(d, again ? (size_t)(old_end - dump_end) : FIRST_PIECE_BYTES) && take_old(d))
		return -1;
	if (again)
		d->same_from = find_same_from(d);
	return 0;
}

/* dw_unwind() needs 8 bytes at @addr. */
static int extend(void *ctx, struct dw_unwind_memory *m, uint64_t addr)
{
	struct dw_deep *d = ctx;

	if (addr < m->base || addr + 8 < addr || !d->pid || d->stopped)
		return -1;
	if (!d->bytes && read_first(d, m))
		return -1;
	if (addr + 8 <= end_of(d) && d->same_from != UINT64_MAX) {
		/* Stop where the old walk may take over; dw_deep_resume() goes on if it does not.
		 */
		uint64_t to = d->same_from + SHOWN_STEP_BYTES;

		if (d->shown_to >= to || addr + 8 > to) {
			d->stopped = true;
			return -1;
		}
		show(d, m, to);
		return 0;
	}
	for (size_t more = d->bytes; addr + 8 > end_of(d); more *= 2)
		if (addr - d->base > DEEPEST_BYTES || read_more(d, more))
			return -1;
	show(d, m, end_of(d));
	return 0;
}

void dw_deep_begin(struct dw_deep *d, pid_t pid, struct dw_space *space, const struct dw_walk *old,
		   struct dw_unwind_memory *m)
{
	d->pid = pid;
	d->space = space;
	d->old = old;
	d->bytes = 0;
	d->same_from = UINT64_MAX;
	d->shown_to = 0;
	d->stopped = false;
	m->extend = extend;
	m->ctx = d;
}

const struct dw_walk_frame *dw_deep_splice(const struct dw_deep *d,
					   const struct dw_unwind_frame *last)
{
	const struct dw_walk_frame *f;

	if (!d->stopped || last->sp < d->same_from)
		return NULL;
	f = dw_walk_find(d->old, last->sp);
	return f && f->pc == last->pc.v && f->rbp == last->rbp ? f : NULL;
}

void dw_deep_resume(struct dw_deep *d, struct dw_unwind_memory *m)
{
	uint64_t shown = d->shown_to > d->same_from ? d->shown_to - d->same_from : SHOWN_STEP_BYTES;

	/* More each time, until all is shown and there is no more stopping. */
	d->stopped = false;
	show(d, m, d->same_from + 2 * shown);
	if (d->shown_to == end_of(d))
		d->same_from = UINT64_MAX;
}

void dw_deep_keep(struct dw_deep *d, struct dw_walk *walk, uint64_t top)
{
	uint8_t *memory = walk->memory;
	size_t cap = walk->memory_cap;

	if (!d->bytes || top <= d->base) {
		walk->memory_bytes = 0;
		return;
	}
	walk->memory = d->memory;
	walk->memory_cap = d->cap;
	walk->memory_base = d->base;
	walk->memory_ns = d->read_ns;
	walk->memory_bytes = top < end_of(d) ? (size_t)(top - d->base) : d->bytes;
	d->memory = memory;
	d->cap = cap;
	d->bytes = 0;
}

void dw_deep_release(struct dw_deep *d)
{
	free(d->memory);
	d->memory = NULL;
}
