/*
 * Tables; see tables.h.
 *
 * Each has its addresses reserved at the start; chunks of the region are mapped over them in turn,
 * each a quarter of what is there, so that few are needed. Stacks and their groups may not use the
 * last eighth of the budget: parts of stacks, types and threads stay exact when they have taken the
 * rest.
 */
#include "agent/clr/tables.h"

#include "agent/core/agent.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

enum {
	CHUNK_BYTES_MIN = 64 << 10,
	CHUNK_BYTES_MAX = 16 << 20,
	KEPT_SHARE = 8,
	SMALL_SHARE = 256, /* of the budget: chunks of what is kept */
	GROW_TRIES = 4,
	SMALL_BYTES = 32 << 20, /* of addresses for a table that is small in any program */
	PAGE_BYTES = 4096,
	WINDOW_MORE = 1 << 20, /* beside the budget */
};

struct table {
	uint64_t base;
	uint64_t reserved; /* bytes, as the next */
	uint64_t mapped;   /* atomic; written inside dw_agent_enter() */
	uint32_t used;	   /* rows, atomic */
};

struct tables {
	struct dw_clr_head *head;
	uint64_t budget;
	uint64_t mapped; /* of all, atomic */
	struct table all[DWELL_CLR_TABLES];
};

static struct tables tables;

struct dw_table_bases dw_table_bases;

static bool reserve(struct table *t, uint64_t bytes)
{
	void *at = dw_memory_reserve(bytes);

	if (!at)
		return false;
	*t = (struct table){(uint64_t)at, bytes, 0, 1};
	return true;
}

/* Whether @t may take all of the budget. */
static bool is_large(int t)
{
	return t <= DWELL_CLR_OLDS || (t >= DWELL_CLR_TEXTS && t != DWELL_CLR_PROBED);
}

bool dw_tables_start(uint64_t budget)
{
	uint64_t at;

	tables.budget = budget;
	for (int t = 0; t < DWELL_CLR_TABLES; t++) {
		if (!reserve(&tables.all[t], is_large(t) ? budget : SMALL_BYTES))
			return false;
		dw_table_bases.at[t] = tables.all[t].base;
	}
	dw_agent_window(budget + WINDOW_MORE);
	if (!dw_agent_enter())
		return false;
	tables.head = dw_agent_chunk(DWELL_REGION_CHUNK_CLR, 0, PAGE_BYTES, &at);
	dw_agent_leave();
	return tables.head;
}

void dw_tables_give_back(uint64_t keep)
{
	for (int i = 0; i < DWELL_CLR_TABLES; i++) {
		struct table *t = &tables.all[i];
		uint64_t end = t->mapped + keep / DWELL_CLR_TABLES + CHUNK_BYTES_MIN - 1;

		end &= -(uint64_t)CHUNK_BYTES_MIN;
		if (end >= t->reserved)
			continue;
		dw_sys_munmap((void *)(t->base + end), t->reserved - end);
		t->reserved = end;
	}
}

struct dw_clr_head *dw_tables_head(void)
{
	return tables.head;
}

/* How rows are taken. */
enum way {
	OUTSIDE,
	INSIDE, /* dw_agent_enter() */
	LAST,	/* also of what is kept */
};

/* How much of the budget @t may have used, together with all others. */
static uint64_t room_for(enum dw_clr_table t, enum way way)
{
	if (way == LAST)
		return tables.budget;
	if (t == DWELL_CLR_NODES || t == DWELL_CLR_GROUPS)
		return tables.budget - tables.budget / KEPT_SHARE;
	return tables.budget - (t == DWELL_CLR_OLDS ? tables.budget / KEPT_SHARE / 2 : 0);
}

/* Map one more chunk of @i, at least to @end bytes. Inside dw_agent_enter(). */
static bool grow(enum dw_clr_table i, uint64_t end, uint64_t room)
{
	struct table *t = &tables.all[i];
	uint64_t bytes = t->mapped / 4 & -(uint64_t)CHUNK_BYTES_MIN;

	bytes = bytes < CHUNK_BYTES_MIN	  ? CHUNK_BYTES_MIN
		: bytes > CHUNK_BYTES_MAX ? CHUNK_BYTES_MAX
					  : bytes;
	if (room == tables.budget && tables.mapped + bytes > room - room / KEPT_SHARE)
		bytes = (room / SMALL_SHARE & -(uint64_t)CHUNK_BYTES_MIN) + CHUNK_BYTES_MIN;
	if (tables.mapped + bytes > room || t->mapped + bytes < end ||
	    t->mapped + bytes > t->reserved)
		return false;
	if (!dw_agent_chunk_at(DWELL_REGION_CHUNK_CLR + 1 + i, bytes,
			       (void *)(t->base + t->mapped)))
		return false;
	__atomic_store_n(&tables.mapped, tables.mapped + bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&t->mapped, t->mapped + bytes, __ATOMIC_RELEASE);
	return true;
}

/* Map what lies below @end bytes. What was kept is not for others when it is mapped, either. */
static bool make_room(enum dw_clr_table i, uint64_t end, enum way way)
{
	const struct table *t = &tables.all[i];
	uint64_t room = room_for(i, way);
	bool is_room;

	if (__atomic_load_n(&tables.mapped, __ATOMIC_RELAXED) > room)
		return false;
	for (int tries = 0; tries < GROW_TRIES; tries++) {
		if (__atomic_load_n(&t->mapped, __ATOMIC_ACQUIRE) >= end)
			return true;
		if (!dw_agent_may_grow())
			return false;
		if (way != INSIDE && !dw_agent_enter())
			continue;
		is_room = t->mapped >= end || grow(i, end, room);
		if (way != INSIDE)
			dw_agent_leave();
		if (!is_room)
			return false;
	}
	return false;
}

static uint32_t take(enum dw_clr_table i, uint32_t n, enum way way)
{
	struct table *t = &tables.all[i];
	uint32_t first = __atomic_load_n(&t->used, __ATOMIC_RELAXED);
	uint32_t *shown = &tables.head->rows[i];

	do {
		if (n > UINT32_MAX / 2 - first ||
		    !make_room(i, (uint64_t)(first + n) * dw_clr_row_bytes(i), way))
			return 0;
	} while (!__atomic_compare_exchange_n(&t->used, &first, first + n, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	/* Published late by a thread that is overtaken: the next one says more. */
	if (__atomic_load_n(shown, __ATOMIC_RELAXED) < first + n)
		__atomic_store_n(shown, first + n, __ATOMIC_RELEASE);
	return first;
}

uint32_t dw_table_take(enum dw_clr_table t, uint32_t n)
{
	return take(t, n, OUTSIDE);
}

uint32_t dw_table_take_inside(enum dw_clr_table t, uint32_t n)
{
	return take(t, n, INSIDE);
}

uint32_t dw_table_take_last(enum dw_clr_table t, uint32_t n)
{
	return take(t, n, LAST);
}

struct dw_clr_text dw_tables_add_text(const char *text, size_t bytes)
{
	uint32_t at = dw_table_take_inside(DWELL_CLR_TEXTS, (uint32_t)bytes + !bytes);

	if (!at)
		return (struct dw_clr_text){0, 0};
	for (size_t i = 0; i < bytes; i++)
		((char *)dw_table_row(DWELL_CLR_TEXTS, at))[i] = text[i];
	return (struct dw_clr_text){at, (uint32_t)bytes};
}

DWELL_HOT bool dw_tables_are_short(void)
{
	return __atomic_load_n(&tables.mapped, __ATOMIC_RELAXED) > tables.budget / 4 * 3;
}

void dw_tables_count(enum dw_clr_fact fact, uint64_t n)
{
	__atomic_fetch_add(&tables.head->facts[fact], n, __ATOMIC_RELAXED);
}
