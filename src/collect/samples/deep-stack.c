/*
 * Deep stacks; see deep-stack.h.
 *
 * Sizes: the overlap of 512 bytes or more spans several frames, whose return addresses would differ
 * had the thread returned and called again; pieces begin at 4 KB, where most stacks that overflow
 * the dump end, and double. Return addresses in live bytes are not checked to follow a call: the
 * overlap has already shown that the frames around are still those of the dump.
 *
 * A leap has no overlap. Over a large frame, the end of what is known is read again after it, as
 * above; since after a return nothing may have written there, the calls beyond must lead to one
 * another, too (call-check.h). Out of a signal handler it is the registers that the kernel saved in
 * the signal frame: if they are the same, no other signal has come on that stack. The handler may
 * have returned by then, which leaves no trace there, so such a stack counts only if its walk comes
 * to an end: the frames that the signal interrupted are then still a whole chain.
 */
#include "collect/samples/deep-stack.h"

#include "base/cleanup.h"
#include "target/memory.h"

#include <stdlib.h>
#include <string.h>

/*
 * Stack pointers fall from the outermost frame on, so a binary search finds one. A signal handler's
 * own stack breaks that order: then a frame may not be found, which costs time only.
 */

/* The frame whose stack pointer is @sp, borrowed. NULL = none. Frames must go inward from there on.
 */
static const struct dw_walk_frame *walk_find(const struct dw_walk *w, uint64_t sp)
{
	size_t low = 0, high = w->frames.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (w->frames.v[middle].sp > sp)
			low = middle + 1;
		else
			high = middle;
	}
	return low < w->frames.n && w->frames.v[low].sp == sp ? &w->frames.v[low] : NULL;
}

void dw_walk_free(struct dw_walk *w)
{
	if (!w)
		return;
	dw_vec_release(&w->frames);
	free(w->memory);
	free(w);
}

enum {
	OVERLAP_BYTES = 512,
	LOWEST_CODE = 4096,
	FIRST_PIECE_BYTES = 4 << 10,
	DEEPEST_BYTES = 256 << 20,
	COMPARED_BYTES = 4 << 10,
	SHOWN_STEP_BYTES = 512,
	RED_ZONE_BYTES = 128, /* System V ABI x86-64, 3.2.2 */
	OLD_MOST_NS = 20000000,
	LEAP_BYTES = 64 << 10,	   /* a frame this large is leapt over */
	LANDING_BYTES = 4 << 10,   /* read on both sides of where a leap lands */
	SAVED_BYTES = 40 + 23 * 8, /* of struct ucontext, up to its last register */
	READ_BYTES_PER_US = 1500,  /* allowed, so that reading takes at most half of a processor */
	ALLOWED_BYTES = 128 << 20, /* at once */
	VOUCHED_LEAST_BYTES = 4 << 20,
	VOUCHED_BYTES = 256 << 10,
	VOUCHED_MOST_NS = 100000000, /* a copy of this age vouches for a stack */
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

/* As dw_memory_read(), at the cost of the allowance. */
static ssize_t read_live(struct dw_deep *d, uint64_t addr, void *to, size_t n)
{
	ssize_t got = dw_memory_read(d->pid, addr, to, n);

	if (got > 0)
		d->allowance_bytes -=
			(size_t)got < d->allowance_bytes ? (size_t)got : d->allowance_bytes;
	return got;
}

/* Whether @n more bytes may be read now. What is refused is remembered, so that the thread's next
 * stacks save for it. */
static bool is_allowed(struct dw_deep *d, size_t n)
{
	if (n <= d->allowance_bytes)
		return true;
	d->wanted_bytes = d->bytes + n < ALLOWED_BYTES ? d->bytes + n : ALLOWED_BYTES;
	return false;
}

/* Read up to @more bytes behind the known ones. Fails when the thread has moved on. */
static int read_more(struct dw_deep *d, size_t more)
{
	size_t n = choose_overlap(d), from = d->bytes - n;
	dw_auto_free uint8_t *overlap = malloc(n + 1);
	ssize_t got;
	bool is_valid;

	if (!overlap || d->bytes + more > DEEPEST_BYTES || !is_allowed(d, more) ||
	    grow(d, d->bytes + more))
		return -1;
	memcpy(overlap, d->memory + from, n);
	got = read_live(d, d->base + from, d->memory + from, n + more);
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

/* From which address on the known memory equals the old walk's. @top: where both have something. */
static uint64_t find_same_from(const struct dw_deep *d, uint64_t top)
{
	uint64_t low = d->base > d->old->memory_from ? d->base : d->old->memory_from, at = top;

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

	if (old_end_of(d) <= end || end - n < old->memory_from ||
	    d->time_ns - old->memory_ns > OLD_MOST_NS)
		return -1;
	there = old->memory + (end - old->memory_base);
	more = (size_t)(old_end_of(d) - end);
	if (!is_allowed(d, more) || !is_still_there(d, d->memory + d->bytes - n, there - n, n) ||
	    grow(d, d->bytes + more))
		return -1;
	memcpy(d->memory + d->bytes, there, more);
	d->bytes += more;
	d->allowance_bytes -= more;
	d->read_ns = old->memory_ns;
	return 0;
}

/*
 * A copy of the whole stack would take too long: if what is next to the dump is the same as last
 * time, take the rest for the same.
 */
static int vouch(struct dw_deep *d)
{
	uint64_t from = end_of(d);

	d->urgent++;
	if (read_more(d, VOUCHED_BYTES))
		return -1;
	d->same_from = find_same_from(d, end_of(d));
	if (d->same_from > from) {
		d->bytes = (size_t)(from - d->base);
		d->same_from = UINT64_MAX;
		return -1;
	}
	d->vouched = true;
	return 0;
}

/* The first step beyond the dump: as deep as last time, when the thread was deep then. */
static int read_first(struct dw_deep *d, const struct dw_unwind_memory *m)
{
	uint64_t dump_end = m->base + m->n, old_end = old_end_of(d);
	bool again = old_end > dump_end && old_end - dump_end < DEEPEST_BYTES;

	if (d->old && d->old->wanted_bytes > d->allowance_bytes) {
		d->wanted_bytes = d->old->wanted_bytes;
		return -1;
	}
	if (copy_dump(d, m))
		return -1;
	d->gaps[d->gaps_n++] = end_of(d) - 1;
	d->read_ns = d->time_ns;
	if (again && old_end - dump_end > VOUCHED_LEAST_BYTES &&
	    d->time_ns - d->old->memory_ns < VOUCHED_MOST_NS && !vouch(d))
		return 0;
	if (read_more(d, again ? (size_t)(old_end - dump_end) : FIRST_PIECE_BYTES) && take_old(d))
		return -1;
	if (again && old_end <= end_of(d))
		d->same_from = find_same_from(d, old_end);
	return 0;
}

/* Known bytes that show whether the thread has moved on. */
struct guard {
	uint64_t at;
	size_t n;
	bool exact; /* none may have changed, not just no address of code */
};

static bool holds(struct dw_deep *d, const struct guard *g, const uint8_t *now)
{
	const uint8_t *before = d->memory + (g->at - d->base);

	return g->exact ? !memcmp(before, now, g->n) : is_still_there(d, before, now, g->n);
}

/* Go on with what is read from @from on instead of what is known, if @g still holds after that. */
static int leap(struct dw_deep *d, uint64_t from, const struct guard *g)
{
	uint8_t landing[2 * LANDING_BYTES];
	dw_auto_free uint8_t *now = malloc(g->n);
	ssize_t got = read_live(d, from, landing, sizeof landing);

	d->urgent++;
	if (!now || got <= 0 || read_live(d, g->at, now, g->n) != (ssize_t)g->n ||
	    !holds(d, g, now))
		return -1;
	memcpy(d->memory, landing, (size_t)got);
	d->base = from;
	d->bytes = (size_t)got;
	d->same_from = UINT64_MAX;
	d->leapt = true;
	return 0;
}

/* Follow the walk out of a handler to the stack that the signal interrupted. */
static int leap_to_interrupted(struct dw_deep *d, struct dw_unwind_memory *m)
{
	struct guard saved = {m->signal_sp, SAVED_BYTES, true};
	uint64_t to = m->interrupted_sp;

	m->interrupted_sp = 0;
	if ((!d->bytes && copy_dump(d, m)) || saved.at < d->base ||
	    saved.at + saved.n > end_of(d) || leap(d, to, &saved))
		return -1;
	d->interrupted_sp = to;
	show(d, m, end_of(d));
	return 0;
}

static int leap_over_frame(struct dw_deep *d, struct dw_unwind_memory *m, uint64_t addr)
{
	struct guard end = {.n = choose_overlap(d)};

	end.at = end_of(d) - end.n;
	if (d->gaps_n == DWELL_GAPS_MAX || leap(d, addr - LANDING_BYTES, &end))
		return -1;
	d->gaps[d->gaps_n++] = d->base - 1;
	show(d, m, end_of(d));
	return 0;
}

/* Whether @addr is on a stack that a handler, just left, had interrupted from another one. */
static bool is_interrupted(const struct dw_unwind_memory *m, uint64_t addr)
{
	return m->interrupted_sp && addr - m->interrupted_sp < DEEPEST_BYTES &&
	       (m->interrupted_sp < m->base || m->interrupted_sp - m->base > m->n + LEAP_BYTES);
}

/*
 * The walk needs @addr, just below the stack pointer, where no dump reaches: hand-written code like
 * OpenSSL's SHA-512 keeps the caller's stack pointer there and has its CFA rule say so. Read late,
 * it counts only as what it is read for, a pointer into the dump.
 */
static int read_red_zone(struct dw_deep *d, struct dw_unwind_memory *m, uint64_t addr)
{
	size_t below = (size_t)(m->base - addr);
	uint64_t word;

	if (d->bytes || below < 8 || below > RED_ZONE_BYTES || read_live(d, addr, &word, 8) != 8 ||
	    word < m->base || word - m->base >= m->n || grow(d, below + m->n))
		return -1;
	d->base = addr;
	d->bytes = below + m->n;
	d->read_ns = d->time_ns;
	memset(d->memory, 0, below);
	memcpy(d->memory, &word, 8);
	memcpy(d->memory + below, m->bytes, m->n);
	show(d, m, end_of(d));
	return 0;
}

/* dw_unwind() needs 8 bytes at @addr. */
static int extend(void *ctx, struct dw_unwind_memory *m, uint64_t addr)
{
	struct dw_deep *d = ctx;

	if (addr + 8 < addr || !d->pid || d->stopped)
		return -1;
	if (is_interrupted(m, addr))
		return leap_to_interrupted(d, m);
	if (addr < m->base)
		return read_red_zone(d, m, addr);
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
	if (d->vouched)
		return -1;
	if (addr - end_of(d) > LEAP_BYTES && addr > end_of(d))
		return leap_over_frame(d, m, addr);
	for (size_t more = d->bytes; addr + 8 > end_of(d); more *= 2)
		if (addr - d->base > DEEPEST_BYTES || read_more(d, more))
			return -1;
	show(d, m, end_of(d));
	return 0;
}

void dw_deep_begin(struct dw_deep *d, pid_t pid, struct dw_space *space, const struct dw_walk *old,
		   struct dw_unwind_memory *m)
{
	uint64_t passed_us = (d->time_ns - d->allowance_ns) / 1000;

	if (d->time_ns > d->allowance_ns) {
		d->allowance_bytes +=
			passed_us < 1000000 ? passed_us * READ_BYTES_PER_US : ALLOWED_BYTES;
		d->allowance_ns += passed_us * 1000;
	}
	if (d->allowance_bytes > ALLOWED_BYTES)
		d->allowance_bytes = ALLOWED_BYTES;
	d->pid = pid;
	d->space = space;
	d->old = old;
	d->bytes = 0;
	d->same_from = UINT64_MAX;
	d->shown_to = 0;
	d->leapt = d->vouched = false;
	d->wanted_bytes = 0;
	d->interrupted_sp = 0;
	d->gaps_n = 0;
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
	f = walk_find(d->old, last->sp);
	return f && f->pc == last->pc.v && f->fp == last->fp ? f : NULL;
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

bool dw_deep_leads(struct dw_deep *d, const struct dw_unwind_frame *frames, size_t *n,
		   bool is_whole)
{
	for (size_t i = 0; i < d->gaps_n; i++)
		if (!dw_calls_lead(&d->checks, d->pid, d->space, frames, n, is_whole, d->gaps[i]))
			return false;
	return true;
}

void dw_deep_keep(struct dw_deep *d, struct dw_walk *walk, uint64_t top)
{
	uint8_t *memory = walk->memory;
	size_t cap = walk->memory_cap;

	walk->wanted_bytes = d->wanted_bytes;
	if (d->vouched && top) {
		walk->memory_from = d->same_from;
		d->bytes = 0;
		return;
	}
	if (!d->bytes || d->leapt || top <= d->base) {
		walk->memory_bytes = 0;
		return;
	}
	walk->memory = d->memory;
	walk->memory_cap = d->cap;
	walk->memory_base = walk->memory_from = d->base;
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
