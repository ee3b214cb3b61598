/*
 * Single activations: the shortest and the longest of each callee of a thread, and the slowest
 * ones.
 *
 * A stack of a thread has a clock of its own: the TSC less thread->cost, which grows by what probes
 * and slow paths take, and by what lies between two stretches on this stack. An activation's
 * inclusive time is what this clock has gone on from its entry (struct dw_shadow.start) to its end;
 * its exclusive time is that less the inclusive times of its callees, which they have added to its
 * @spent. So an activation costs a few additions at its end, and none of its callers.
 *
 * Trampolines compare both times with the bounds of the callee: what lies within them, and had no
 * OS event inside, changes nothing. All else comes here, and its bounds are set anew. Inclusive
 * times are compared of outermost activations only, by struct dw_tree_node.is_inner.
 *
 * For the thread itself, in its slow path. Makes system calls where it grows.
 */
#pragma once

#include "agent/calls/arena.h"
#include "agent/calls/os-inside.h"
#include "wire/call-tree.h"

#include <stdbool.h>
#include <stdint.h>

enum { DWELL_SLOWEST_MAX = 16 }; /* records of a callee in a thread */

/* For the trampolines: from @least on @span ticks are nothing new. */
struct dw_bounds {
	int64_t inclusive_least;
	uint64_t inclusive_span;
	int64_t exclusive_least;
	uint64_t exclusive_span;
};

/* Outside lies only what is marked. */
extern const struct dw_bounds dw_bounds_all;

/* Of a thread; zero-initialised, then dw_extremes_start(). */
struct dw_extremes {
	struct dw_tree_thread *thread;
	struct dw_lines lines;
	struct dw_bounds *bounds; /* by key, as the next; the first holds everything */
	struct dw_extremes_callee *callees;
	uint32_t room; /* keys, a power of 2 */
};

/* An activation that has ended. Ticks, probe cost taken off. */
struct dw_ended {
	uint64_t key;
	bool is_inner; /* it was not the outermost one of its callee */
	uint32_t node; /* line, 0 = none */
	int64_t inclusive, exclusive;
	uint64_t start;		     /* TSC */
	uint64_t cost;		     /* as in struct dw_tree_slow */
	const struct dw_os_sums *os; /* NULL = nothing happened */
};

/* Begin for the thread of @line, which is new; what @e has of another is forgotten, but its lines
 * stay its own. */
void dw_extremes_start(struct dw_extremes *e, struct dw_tree_thread *line);

/* An activation of @key may begin, of which the @slowest slowest are kept. Before trampolines can.
 */
void dw_extremes_expect(struct dw_extremes *e, uint64_t key, uint32_t slowest);

/* Let trampolines find the bounds of @key at @bounds, too, from now on. */
void dw_extremes_share(struct dw_extremes *e, uint64_t key, struct dw_bounds *bounds);

/* Whether the slowest activations of @key are kept. */
bool dw_extremes_keep(const struct dw_extremes *e, uint64_t key);

/* What stood before a reading for @key, of which @i of DWELL_SKIDS, was done @ticks later. */
void dw_extremes_skid(struct dw_extremes *e, uint64_t key, int i, uint64_t ticks);

/* Take note of @ended. */
void dw_extremes_end(struct dw_extremes *e, const struct dw_ended *ended);
