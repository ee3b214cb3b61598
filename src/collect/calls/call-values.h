/*
 * Arithmetic of calls: from a node's counters in ticks, twice read, to the values of a model.
 *
 * Pure functions. Counters of a hostile target give odd values, never undefined ones. [any-thread]
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "collect/calls/clock.h"
#include "model/calls.h"
#include "wire/region.h"

#include <stdint.h>

/* Rows that are found by a key: a vector of them, and a map from key to index + 1. */

/* The row of @vec that @map has under @key, a zeroed one added where there is none. Borrowed until
 * the next. NULL without memory. */
#define dw_row_of(vec, map, key)                                                 \
	({                                                                       \
		const uint64_t dw_key_ = (key);                                  \
		uint32_t dw_row_ = dw_map_get(map, dw_key_);                     \
                                                                                 \
		if (!dw_row_ && !dw_vec_push(vec, (__typeof__(*(vec)->v)){0})) { \
			dw_row_ = (uint32_t)(vec)->n;                            \
			if (dw_map_put(map, dw_key_, dw_row_)) {                 \
				(vec)->n--;                                      \
				dw_row_ = 0;                                     \
			}                                                        \
		}                                                                \
		dw_row_ ? &(vec)->v[dw_row_ - 1] : NULL;                         \
	})

/* Ticks that the probes of a call take: of those that the callee is charged with, and its caller.
 */
struct dw_probe_cost {
	double callee;
	double caller;
	double pass; /* more of the caller's, for each trampoline that lets the call pass */
};

/* What a node's counters have grown by. The first three may fall when lines were read torn. */
struct dw_call_increment {
	int64_t elapsed; /* ticks, as the next */
	int64_t application;
	int64_t delimited;
	uint64_t slow;
	uint64_t blocked;
	uint64_t ready;
	uint64_t os_cpu;
	uint64_t calls;
	uint64_t switches;
	uint64_t io_calls;
	uint64_t blocking_calls;
};

/* How much a counter has grown that begins anew at 0 when it has no room. */
static inline uint64_t dw_call_count_increase(uint32_t now, uint32_t old)
{
	uint32_t by = now - old;

	return by <= INT32_MAX ? by : 0;
}

/* A cost that the region tells of (DWELL_TICK_PARTS), in ticks. */
double dw_probe_ticks(int32_t cost);

/* How a node has grown from @old to @now, with what the system did in it. */
struct dw_call_increment dw_call_increment(const struct dw_tree_node *now,
					   const struct dw_tree_node *old,
					   const struct dw_tree_os *os,
					   const struct dw_tree_os *os_old);

/* Likewise inclusive values of a cell, which has grown from @old to @now: the clock of its
 * activations, and what pairs of probes were taken to cost inside. */
struct dw_call_increment dw_call_increment_inclusive(const uint64_t now[2], const uint64_t old[2],
						     const struct dw_tree_os *os,
						     const struct dw_tree_os *os_old);

/* What of the @cost (ticks) of probes there is time in @increment to take off. */
double dw_call_taken(const struct dw_call_increment *increment, double cost);

/*
 * The values of @increment in nanoseconds, less the @cost (ticks) of probes, which is taken off as
 * far as there is time to take it off.
 */
void dw_call_values_of(const struct dw_call_increment *increment, double cost,
		       const struct dw_region_clock *clock, struct dw_call_values *ret);
