/*
 * Extremes and records of single activations; see call-extremes.h.
 *
 * Bounds stand in a table by key that the trampolines read, apart from the lines that the collector
 * reads: those are written here only. Records of the slowest are few for each callee and looked
 * through one by one. Limits: keys above KEYS_MAX, and callees for whose lines the arena has no
 * room, have no extremes and are counted.
 */
#include "agent/calls/call-extremes.h"

#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

enum {
	KEYS_MIN = 4096,
	KEYS_MAX = 1 << 24,
	EXTREMES_LINES = sizeof(struct dw_tree_extremes) / DWELL_LINE_BYTES,
	SLOW_LINES = sizeof(struct dw_tree_slow) / DWELL_LINE_BYTES,
};

#define FAR ((int64_t)1 << 60) /* ticks that no activation takes */

struct dw_extremes_callee {
	struct dw_bounds *shared; /* dw_extremes_share(); NULL = bounds stand in the table only */
	uint32_t extremes;	  /* line; records of the slowest follow it; 0 = none yet */
	uint8_t slowest;	  /* their number */
	bool is_expected;
	bool is_lost; /* there was no room for its lines */
};

const struct dw_bounds dw_bounds_all = {-FAR, 2 * FAR, -FAR, 2 * FAR};
static const struct dw_bounds none = {FAR, 0, FAR, 0};

/* Let the trampolines compare with nothing. */
static void close_bounds(struct dw_extremes *e)
{
	e->thread->bounds = (void *)&dw_bounds_all;
	e->thread->bounds_mask = 0;
}

static void open_bounds(struct dw_extremes *e)
{
	e->bounds[0] = dw_bounds_all;
	e->thread->bounds = e->bounds;
	e->thread->bounds_mask = e->room - 1;
}

void dw_extremes_start(struct dw_extremes *e, struct dw_tree_thread *line)
{
	e->thread = line;
	if (!e->room) {
		close_bounds(e);
		return;
	}
	dw_syscall(SYS_madvise, e->bounds, e->room * sizeof(*e->bounds), MADV_DONTNEED);
	dw_syscall(SYS_madvise, e->callees, e->room * sizeof(*e->callees), MADV_DONTNEED);
	open_bounds(e);
}

/* Make both tables as large as @key needs. False: they stay as they are. */
static bool grow(struct dw_extremes *e, uint64_t key)
{
	uint32_t room = e->room ? e->room : KEYS_MIN;
	struct dw_extremes_callee *callees;
	struct dw_bounds *bounds;

	while (key >= room && room < KEYS_MAX)
		room *= 2;
	if (key >= room)
		return false;
	callees = dw_agent_memory_more(e->callees, e->room * sizeof(*callees),
				       room * sizeof(*callees));
	if (!callees)
		return false;
	e->callees = callees;
	bounds = dw_agent_memory_more(e->bounds, e->room * sizeof(*bounds), room * sizeof(*bounds));
	if (!bounds)
		return false;
	e->bounds = bounds;
	e->room = room;
	open_bounds(e);
	return true;
}

/* Let the bounds of @key, which the tables have, be @b. */
static void put_bounds(struct dw_extremes *e, uint64_t key, struct dw_bounds b)
{
	e->bounds[key] = b;
	if (e->callees[key].shared)
		*e->callees[key].shared = b;
}

void dw_extremes_share(struct dw_extremes *e, uint64_t key, struct dw_bounds *bounds)
{
	*bounds = dw_bounds_all;
	if (key & DWELL_KEY_ADDRESS || (key >= e->room && !grow(e, key)))
		return;
	e->callees[key].shared = bounds;
	if (e->callees[key].is_expected)
		*bounds = e->bounds[key];
}

void dw_extremes_expect(struct dw_extremes *e, uint64_t key, uint32_t slowest)
{
	if (key & DWELL_KEY_ADDRESS)
		return;
	if (key >= e->room && !grow(e, key)) {
		e->thread->extremes_lost++;
		close_bounds(e);
		return;
	}
	if (e->callees[key].is_expected)
		return;
	e->callees[key].is_expected = true;
	e->callees[key].slowest = (uint8_t)slowest;
	put_bounds(e, key, none);
}

bool dw_extremes_keep(const struct dw_extremes *e, uint64_t key)
{
	return key < e->room && e->callees[key].slowest;
}

/* The lines of @callee, made if they are new. NULL = no room. */
static struct dw_tree_extremes *lines_of(struct dw_extremes *e, struct dw_extremes_callee *callee,
					 uint64_t key)
{
	static const struct dw_tree_range nothing = {UINT64_MAX, 0};
	uint32_t line = callee->extremes;
	struct dw_tree_extremes *extremes;

	if (!line)
		line = dw_arena_take(&e->lines, EXTREMES_LINES + callee->slowest * SLOW_LINES,
				     DWELL_LINE_CELL);
	if (!line)
		return NULL;
	extremes = dw_arena_line(e->thread->arena, line);
	if (callee->extremes)
		return extremes;
	callee->extremes = line;
	extremes->elapsed_inclusive = extremes->elapsed_exclusive = nothing;
	extremes->key = key;
	extremes->thread = dw_arena_index(e->thread->arena, e->thread);
	__atomic_store_n(&extremes->mark, DWELL_MARK_EXTREMES, __ATOMIC_RELEASE);
	extremes->application_inclusive = extremes->application_exclusive = nothing;
	return extremes;
}

void dw_extremes_skid(struct dw_extremes *e, uint64_t key, int i, uint64_t ticks)
{
	struct dw_extremes_callee *callee = key < e->room ? &e->callees[key] : NULL;
	struct dw_tree_extremes *extremes;

	if (!callee || !callee->is_expected)
		return;
	extremes = lines_of(e, callee, key);
	if (!extremes)
		return;
	extremes->skid[i].ticks += ticks;
	extremes->skid[i].n++;
}

/* The record of @callee that the next one replaces: the first free or quickest one. NULL = none is
 * kept. */
static struct dw_tree_slow *quickest(const struct dw_extremes *e,
				     const struct dw_extremes_callee *callee)
{
	struct dw_tree_slow *slow =
		dw_arena_line(e->thread->arena, callee->extremes + EXTREMES_LINES);
	struct dw_tree_slow *found = callee->slowest ? slow : NULL;

	for (uint32_t i = 1; i < callee->slowest && found->mark; i++)
		if (!slow[i].mark || slow[i].elapsed < found->elapsed)
			found = &slow[i];
	return found;
}

static uint64_t no_less(int64_t ticks)
{
	return ticks > 0 ? (uint64_t)ticks : 0;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void fill(struct dw_tree_slow *slow, const struct dw_ended *a, uint32_t extremes)
{
	const struct dw_os_sums *os = a->os;

	slow->start = a->start;
	slow->elapsed = no_less(a->inclusive);
	slow->below = less(slow->elapsed, no_less(a->exclusive));
	slow->cost = a->cost;
	slow->node = a->node;
	slow->extremes = extremes;
	slow->own_os = os ? os->own : 0;
	slow->own_blocked = os ? os->own_blocked : 0;
	for (int i = 0; i < DWELL_OS_KINDS; i++)
		slow->os[i] = os ? os->os[i] : 0;
	slow->cpu_ticks = os ? os->cpu : 0;
	slow->blocked_ticks = os ? os->blocked : 0;
	slow->switches = os ? os->switches : 0;
	slow->io_calls = os ? os->io_calls : 0;
	slow->blocking_calls = os ? os->blocking_calls : 0;
}

/* Keep @a, which was outermost, if it is among the slowest of @callee. */
static void keep(const struct dw_extremes *e, const struct dw_extremes_callee *callee,
		 const struct dw_ended *a)
{
	struct dw_tree_slow *slow = quickest(e, callee);

	if (!slow || (slow->mark && slow->elapsed >= no_less(a->inclusive)))
		return;
	__atomic_store_n(&slow->serial, slow->serial + 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&slow->mark, DWELL_MARK_SLOW, __ATOMIC_SEQ_CST);
	fill(slow, a, callee->extremes);
	__atomic_store_n(&slow->serial, slow->serial + 1, __ATOMIC_RELEASE);
}

static void widen(struct dw_tree_range *r, uint64_t ticks)
{
	if (ticks < r->least)
		r->least = ticks;
	if (ticks > r->most)
		r->most = ticks;
}

/*
 * What lies between the least @elapsed and the greatest @application is nothing new where the
 * system did nothing, as both are equal then. Below nothing is nothing.
 */
static void bound(const struct dw_tree_range *elapsed, uint64_t most, int64_t *least,
		  uint64_t *span)
{
	*least = none.exclusive_least;
	*span = 0;
	if (elapsed->least > most)
		return;
	*least = elapsed->least ? (int64_t)elapsed->least : -FAR;
	*span = (uint64_t)((int64_t)most - *least);
}

static void set_bounds(struct dw_extremes *e, const struct dw_extremes_callee *callee,
		       const struct dw_tree_extremes *extremes)
{
	struct dw_bounds b;
	const struct dw_tree_slow *slow = quickest(e, callee);
	uint64_t most = extremes->application_inclusive.most;

	if (slow && (!slow->mark || slow->elapsed < most))
		most = slow->mark ? slow->elapsed : 0;
	bound(&extremes->elapsed_inclusive, most, &b.inclusive_least, &b.inclusive_span);
	bound(&extremes->elapsed_exclusive, extremes->application_exclusive.most,
	      &b.exclusive_least, &b.exclusive_span);
	put_bounds(e, extremes->key, b);
}

static uint64_t all_os(const struct dw_os_sums *os)
{
	uint64_t sum = 0;

	for (int i = 0; i < DWELL_OS_KINDS; i++)
		sum += os->os[i];
	return sum;
}

void dw_extremes_end(struct dw_extremes *e, const struct dw_ended *a)
{
	struct dw_extremes_callee *callee = a->key < e->room ? &e->callees[a->key] : NULL;
	uint64_t inclusive = no_less(a->inclusive), exclusive = no_less(a->exclusive);
	struct dw_tree_extremes *extremes;

	if (!callee || !callee->is_expected)
		return;
	extremes = lines_of(e, callee, a->key);
	if (!extremes) {
		e->thread->extremes_lost += !callee->is_lost;
		callee->is_lost = true;
		put_bounds(e, a->key, dw_bounds_all);
		return;
	}
	widen(&extremes->elapsed_exclusive, exclusive);
	widen(&extremes->application_exclusive, less(exclusive, a->os ? a->os->own : 0));
	if (!a->is_inner) {
		widen(&extremes->elapsed_inclusive, inclusive);
		widen(&extremes->application_inclusive, less(inclusive, a->os ? all_os(a->os) : 0));
		keep(e, callee, a);
	}
	set_bounds(e, callee, extremes);
}
