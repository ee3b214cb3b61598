/*
 * What is on a path, counted: functions, modules, edges and call sites.
 *
 * Tells which of these an activation is the outermost of. A call (caller, callee, site) is looked
 * up once and then named by an index that is never given back: there are as many as call sites.
 * Costs no system call but where it grows. For one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { DWELL_CALL_NODES = 5 };

/* A call that was seen. The callers' own: one node by how many of enum dw_tree_outermost an
 * activation had, 0 = none. */
struct dw_path_call {
	uint64_t caller, key;
	uint32_t site;
	uint32_t function, edge, place; /* counters */
	uint32_t nodes[DWELL_CALL_NODES];
};

/* Numbers by hash, 0 = free. */
struct dw_path_table {
	uint32_t *at;
	uint32_t room, n;
};

struct dw_path_counter;

/* Zero-initialised. */
struct dw_path {
	struct dw_path_call *calls; /* from 1 on, as the next */
	struct dw_path_counter *counters;
	uint32_t calls_n, calls_room, counters_n, counters_room;
	struct dw_path_table call_of, counter_of;
};

/* Two numbers as one, spread evenly. */
static inline uint64_t dw_path_mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ b * 0xbf58476d1ce4e5b9ull) * 0x9e3779b97f4a7c15ull;

	h = (h ^ h >> 32) * 0xbf58476d1ce4e5b9ull;
	return h ^ h >> 29;
}

/* The call of @key by @caller at @site. 0 = no room. */
uint32_t dw_path_find(struct dw_path *p, uint64_t caller, uint64_t key, uint32_t site);

/* Call @i is on the path once more: of what it is the only one (enum dw_tree_outermost). */
uint32_t dw_path_enter(struct dw_path *p, uint32_t i);

/* It is there once less. */
void dw_path_leave(struct dw_path *p, uint32_t i);

/*
 * Let there be room for one more in @t, @n of which are in use: numbers whose hashes @hash tells
 * are put where they are found. False: no room.
 */
bool dw_path_reserve(struct dw_path_table *t, uint64_t (*hash)(const void *ctx, uint32_t i),
		     const void *ctx);

/* Give everything back. From any thread. */
void dw_path_end(struct dw_path *p);
