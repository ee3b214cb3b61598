/*
 * Work that was done behind the reading of the clock that should have been its end.
 *
 * A processor goes on while it waits for memory, so what a function has asked for may come after it
 * has called or returned, and who goes on then is charged for it. Now and then gates look how late
 * what stands before their reading is done (struct dw_tree_late). By the means of that, each call
 * moves time between its caller and its callee: what is late where it begins is the caller's, where
 * it ends the callee's. Nothing is added and nothing lost. One thread, one process.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "collect/calls/call-lines.h"
#include "collect/calls/call-values.h"

#include <stddef.h>
#include <stdint.h>

/* The calls of one callee. */
struct dw_late_calls {
	struct dw_tree_late late[DWELL_LATES];
};

/* Zero-initialised. */
struct dw_late {
	double base;	  /* ticks where nothing is late, 0 = not known */
	uint64_t base_of; /* readings that it was found from */
	DW_VEC(struct dw_late_calls) calls;
	struct dw_map of; /* key -> index + 1 */
};

/* The moves of a reading, ticks: what nodes lack and what others get. Zero-initialised. */
struct dw_late_moves {
	double lack, got;
};

/* Take what has come in @s, which was just read. 0 or -ENOMEM. */
int dw_late_read(struct dw_late *l, const struct dw_call_lines *s);

/* Ticks of work before the reading @i (DWELL_LATES) of a call of @key that come after it. */
double dw_late_of(const struct dw_late *l, uint64_t key, int i);

/* Of each node: what is to move to it, no less than what its @spare time can give. */
double dw_late_bound(struct dw_late_moves *m, double moved, double spare);

/* Then: what does, as nodes get no more than others give. */
double dw_late_share(const struct dw_late_moves *m, double moved);

/* Free everything. */
void dw_late_release(struct dw_late *l);
