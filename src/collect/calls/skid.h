/*
 * Skid: how much work was done only behind the reading of the clock that should have been its end.
 *
 * A processor goes on while it waits for memory, so what a function has asked for may come after it
 * has called or returned, and who goes on then is charged for it. Now and then trampolines measure
 * how late what stands before their reading is done (struct dw_tree_skid). By the means of that,
 * each call moves time between its caller and its callee: the skid where it begins is the caller's,
 * where it ends the callee's. Nothing is added and nothing lost. One thread, one process.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "collect/calls/call-lines.h"
#include "collect/calls/call-values.h"

#include <stddef.h>
#include <stdint.h>

/* The calls of one callee. */
struct dw_skid_calls {
	struct dw_tree_skid skid[DWELL_SKIDS];
};

/* Zero-initialised. */
struct dw_skid {
	double base;	  /* ticks where there is no skid, 0 = not known */
	uint64_t base_of; /* readings that it was found from */
	DW_VEC(struct dw_skid_calls) calls;
	struct dw_map of; /* key -> index + 1 */
};

/* The moves of a reading, ticks: what nodes lack and what others get. Zero-initialised. */
struct dw_skid_moves {
	double lack, got;
};

/* Take what has come in @s, which was just read. 0 or -ENOMEM. */
int dw_skid_read(struct dw_skid *l, const struct dw_call_lines *s);

/* Ticks of work before the reading @i (DWELL_SKIDS) of a call of @key that come after it. */
double dw_skid_of(const struct dw_skid *l, uint64_t key, int i);

/* Of each node: what is to move to it, no less than what its @spare time can give. */
double dw_skid_bound(struct dw_skid_moves *m, double moved, double spare);

/* Then: what does, as nodes get no more than others give. */
double dw_skid_share(const struct dw_skid_moves *m, double moved);

/* Free everything. */
void dw_skid_release(struct dw_skid *l);
