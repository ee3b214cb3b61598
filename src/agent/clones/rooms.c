/*
 * Where clone images go; see rooms.h.
 *
 * Images of the start take the end of the agent's own range, right below the libraries. What the
 * program opens later comes below all that was reserved at the start, so another range is reserved
 * there last of all, and filled from its lower end: that stays near enough the longest while the
 * program maps more. Some more is reserved below a library for the next ones, as runtimes put 2 GB
 * between. That, and what is beyond reach of it, lies where the program has never unmapped
 * anything: its holes are known, as it calls stand-ins (unmapping.c). What else is free was always
 * so, or the C library or the loader have unmapped something of theirs there, which come back to no
 * hole. Holes are kept in few words, so their bounds are rough, and those that touch or are too
 * many are one.
 *
 * Rooms of images that are gone stay reserved, for others. A fork at any moment finds a list that
 * lacks a piece at most.
 */
#include "agent/clones/rooms.h"

#include "agent/clones/area.h"
#include "agent/clones/clones.h"
#include "agent/core/agent.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum {
	LOW_ROOM = 0x10000,  /* below it the kernel gives nothing */
	ROOM_STEP = 4 << 20, /* between two places that are tried */
	ROOM_TRIES = 2 * (DWELL_ROOM_REACH / ROOM_STEP),
	FREE_ROOMS = 64,
	HOLES = 128,
	NO_ACCESS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
};

#define LATER_BYTES    ((uint64_t)1 << 30)
#define AHEAD_BYTES    ((uint64_t)128 << 20)
#define AHEAD_DISTANCE ((uint64_t)384 << 20) /* below a module */
#define HOLE_UNIT      ((uint64_t)1 << 16)
#define GROWTH_NEW     ((uint64_t)1 << 32) /* more than any hole has units */

/* What is tried to find room. */
struct room {
	uint64_t module, module_end;
	uint64_t bytes;
	uint64_t limit; /* highest end of the room */
	bool is_scarce; /* the stack gets no more than its limit */
};

struct piece {
	uint64_t at, bytes;
};

static struct {
	struct piece later;	       /* what is left of the range for modules opened later */
	struct piece free[FREE_ROOMS]; /* of images that are gone */
	uint32_t free_n;
	uint64_t placed; /* where a search found room last, 0 = not yet */
	uint64_t
		holes[HOLES]; /* first unit << 32 | unit behind, 0 = none; atomic, they only grow */
} rooms;

void dw_rooms_start(void)
{
	const uint64_t bytes = dw_memory_share(LATER_BYTES);

	rooms.later.at = bytes ? (uint64_t)dw_memory_reserve(bytes) : 0;
	rooms.later.bytes = rooms.later.at ? bytes : 0;
}

/* What a hole grows by when [@first, @end) becomes part of it, if they touch; else more than that.
 * 0 = it is part of it. */
static uint64_t growth_of(uint64_t hole, uint64_t first, uint64_t end)
{
	uint64_t from = hole >> 32, to = (uint32_t)hole;
	uint64_t all = (end > to ? end : to) - (first < from ? first : from);

	if (!hole)
		return GROWTH_NEW;
	return all - (to - from) + (first <= to && from <= end ? 0 : 2 * GROWTH_NEW);
}

/* Note [@first, @end) in the hole that it touches, else as a new one, else in the nearest. */
static void add_hole(uint64_t first, uint64_t end)
{
	uint64_t *best, was, made, least;

	do {
		best = NULL;
		was = 0;
		least = UINT64_MAX;
		for (uint32_t i = 0; i < HOLES && least; i++) {
			uint64_t hole = __atomic_load_n(&rooms.holes[i], __ATOMIC_RELAXED);
			uint64_t growth = growth_of(hole, first, end);

			if (growth >= least)
				continue;
			least = growth;
			best = &rooms.holes[i];
			was = hole;
		}
		if (!least)
			return;
		made = first << 32 | end;
		if (was) {
			made = was >> 32 < first ? was >> 32 << 32 : first << 32;
			made |= (uint32_t)was > end ? (uint32_t)was : end;
		}
	} while (!__atomic_compare_exchange_n(best, &was, made, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
}

void dw_rooms_unmapped(uint64_t at, uint64_t bytes)
{
	if (dw_probe.is_started && at + bytes > at && at + bytes < HOLE_UNIT << 31)
		add_hole(at / HOLE_UNIT, (at + bytes + HOLE_UNIT - 1) / HOLE_UNIT);
}

static bool is_within_reach(const struct room *r, uint64_t at)
{
	uint64_t low = at < r->module ? at : r->module;
	uint64_t end = at + r->bytes, high = end > r->module_end ? end : r->module_end;

	return at >= LOW_ROOM && end > at && end <= r->limit && high - low <= DWELL_ROOM_REACH &&
	       !dw_memory_is_stack(at, r->bytes, !r->is_scarce);
}

/* Whether the program can know of no hole at @at. Before its first instruction it has none. */
static bool is_virgin(const struct room *r, uint64_t at)
{
	const uint64_t first = at / HOLE_UNIT, end = (at + r->bytes - 1) / HOLE_UNIT + 1;

	for (uint32_t i = 0; i < HOLES && dw_probe.is_started; i++) {
		uint64_t hole = __atomic_load_n(&rooms.holes[i], __ATOMIC_RELAXED);

		if (first < (uint32_t)hole && hole >> 32 < end)
			return false;
	}
	return true;
}

/* Reserve the room at @at, if that is free, near enough and no hole of the program's. */
static bool reserve(const struct room *r, uint64_t at)
{
	void *got;

	if (!is_within_reach(r, at) || !is_virgin(r, at))
		return false;
	got = dw_sys_mmap((void *)at, r->bytes, PROT_NONE, NO_ACCESS | MAP_FIXED_NOREPLACE, -1, 0);
	if (dw_is_mapped(got) && (uint64_t)got != at)
		dw_sys_munmap(got, r->bytes);
	return (uint64_t)got == at;
}

/* Try places below the module, then above it from the far end on: what follows a program is the
 * heap, which wants to grow. 0 = none is free. */
static uint64_t search_room(const struct room *r)
{
	uint64_t at = r->module - ((r->bytes + ROOM_STEP - 1) & -(uint64_t)ROOM_STEP);

	for (int i = 0; i < ROOM_TRIES / 2; i++, at -= ROOM_STEP)
		if (reserve(r, at))
			return at;
	at = r->module + DWELL_ROOM_REACH;
	at = (at < r->limit ? at : r->limit) - r->bytes;
	at &= -(uint64_t)DWELL_PAGE_BYTES;
	for (int i = 0; i < ROOM_TRIES / 2; i++, at -= ROOM_STEP)
		if (reserve(r, at))
			return at;
	return 0;
}

/*
 * Room in the agent's own range, which lies right below the libraries: at its end, 0 = none that is
 * near enough. Images lie side by side there, so that they are one mapping for forks when the
 * recording is over. But that of the C library's system calls, which every process has, gets
 * @wanted, where it needs no relocation.
 */
static uint64_t take_own(const struct room *r, const struct dw_clone_header *h, uint64_t wanted)
{
	uint64_t at = 0;

	if (!dw_probe.is_started && h->probes == DWELL_PROBES_SYSTEM_CALLS &&
	    is_within_reach(r, wanted))
		at = (uint64_t)dw_memory_take_at(wanted, r->bytes);
	if (!at && is_within_reach(r, dw_memory_top() - r->bytes))
		at = (uint64_t)dw_memory_take_top(r->bytes);
	return at;
}

/* Take the beginning of @p, 0 = it is too far or too small. */
static uint64_t take_piece(const struct room *r, struct piece *p)
{
	const uint64_t at = p->at;

	if (p->bytes < r->bytes || !is_within_reach(r, at))
		return 0;
	p->bytes -= r->bytes;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	p->at += r->bytes;
	return at;
}

/* Room that an image has left, 0 = none. */
static uint64_t take_free(const struct room *r)
{
	for (uint32_t i = 0; i < rooms.free_n; i++) {
		uint64_t at = take_piece(r, &rooms.free[i]);

		if (!at)
			continue;
		if (!rooms.free[i].bytes) {
			rooms.free_n--;
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
			rooms.free[i] = rooms.free[rooms.free_n];
		}
		return at;
	}
	return 0;
}

/* Room that nobody has reserved: the place that the image was made for, else below the room that
 * was found last, as modules lie side by side and what is free around them is found once, else what
 * a search finds. 0 = none. */
static uint64_t find(struct room *r, uint64_t wanted)
{
	if (reserve(r, wanted))
		return wanted;
	wanted = rooms.placed - r->bytes;
	if (!reserve(r, wanted))
		wanted = search_room(r);
	if (!wanted) {
		r->is_scarce = true;
		wanted = search_room(r);
	}
	if (wanted)
		rooms.placed = wanted;
	return wanted;
}

/* Add what is free at @at to a neighbour of it, or to the list. False: the list is full. */
static bool keep_free(uint64_t at, uint64_t bytes)
{
	for (uint32_t i = 0; i < rooms.free_n; i++) {
		struct piece *p = &rooms.free[i];

		if (p->at + p->bytes == at) {
			p->bytes += bytes;
			return true;
		}
		if (at + bytes == p->at) {
			*p = (struct piece){at, p->bytes + bytes};
			return true;
		}
	}
	if (rooms.free_n == FREE_ROOMS)
		return false;
	rooms.free[rooms.free_n] = (struct piece){at, bytes};
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	rooms.free_n++;
	return true;
}

/* Whether a piece in reach of @r may serve libraries that the program opens next. */
static bool has_ahead(const struct room *r)
{
	for (uint32_t i = 0; i < rooms.free_n; i++)
		if (rooms.free[i].bytes >= r->bytes / 2 &&
		    is_within_reach(
			    &(struct room){r->module, r->module_end, r->bytes / 2, r->limit},
			    rooms.free[i].at))
			return true;
	return false;
}

/* Reserve room for the next libraries below one that has been opened: the program may map so much
 * between that they are beyond reach of all else. */
static void reserve_ahead(const struct room *opened)
{
	struct room r = {opened->module, opened->module_end, AHEAD_BYTES, UINT64_MAX, false};
	uint64_t at = (r.module - AHEAD_DISTANCE) & -(uint64_t)ROOM_STEP;

	if (dw_probe.is_started && !has_ahead(&r) && dw_memory_share(AHEAD_BYTES) == AHEAD_BYTES &&
	    reserve(&r, at) && !keep_free(at, AHEAD_BYTES))
		dw_sys_munmap((void *)at, AHEAD_BYTES);
}

uint64_t dw_rooms_take(const struct dw_module *m, const struct dw_clone_header *h)
{
	struct room r = {m->start, m->start + m->bytes, h->bytes, UINT64_MAX};
	uint64_t wanted = m->start + (uint64_t)h->distance, at;

	if (h->relocations[DWELL_RELOC_AREA_32].n)
		r.limit = INT32_MAX;
	at = take_free(&r);
	if (!at)
		at = take_own(&r, h, wanted);
	if (!at)
		at = take_piece(&r, &rooms.later);
	if (!at)
		at = find(&r, wanted);
	reserve_ahead(&r);
	return at;
}

void dw_rooms_free(uint64_t at, uint64_t bytes)
{
	if (dw_agent_is_over() ||
	    !dw_is_mapped(
		    dw_sys_mmap((void *)at, bytes, PROT_NONE, NO_ACCESS | MAP_FIXED, -1, 0)) ||
	    !keep_free(at, bytes))
		dw_sys_munmap((void *)at, bytes);
}

void dw_rooms_give_back(uint64_t keep)
{
	struct piece *p = &rooms.later;

	add_hole(0, UINT32_MAX);
	while (rooms.free_n) {
		const struct piece free = rooms.free[rooms.free_n - 1];

		rooms.free_n--;
		dw_sys_munmap((void *)free.at, free.bytes);
	}
	keep = (keep + DWELL_PAGE_BYTES - 1) & -(uint64_t)DWELL_PAGE_BYTES;
	if (p->bytes <= keep)
		return;
	dw_sys_munmap((void *)(p->at + keep), p->bytes - keep);
	p->bytes = keep;
}
