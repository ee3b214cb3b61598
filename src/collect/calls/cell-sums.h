/*
 * Inclusive values of cells: sums that activations bring up to date as they end.
 *
 * Clocks of activations leave out what pairs of probes were taken to cost; what they did cost is
 * what was taken off exclusive times, so that both agree.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "collect/calls/call-ahead.h"
#include "collect/calls/call-lines.h"
#include "wire/call-tree.h"

#include <stdint.h>

/*
 * What probes of cells' calls take of their callers, whose time is in several cells: those of a
 * function in a thread share what all its calls take of it, by their time.
 *
 * Functions are named by the lines of their records (struct dw_tree_callee). For one reading.
 * Ticks. One thread.
 */

/* The cells of one function in a thread. */
struct dw_cell_cost {
	double cost; /* what the probes of its calls take of it */
	double elapsed;
};

/* Zero-initialised. */
struct dw_cell_costs {
	DW_VEC(struct dw_cell_cost) rows;
	struct dw_pairs of; /* line -> index + 1 */
};

/* Begin another reading. */
void dw_cell_costs_clear(struct dw_cell_costs *c);

/* A cell of @function has taken @elapsed more, or the probes of calls by it @cost. 0 or -ENOMEM. */
int dw_cell_costs_add(struct dw_cell_costs *c, uint32_t function, double elapsed, double cost);

/* The share of a cell of @function that has taken @elapsed more, when all are added. */
double dw_cell_costs_share(const struct dw_cell_costs *c, uint32_t function, double elapsed);

/* Free everything. */
void dw_cell_costs_release(struct dw_cell_costs *c);

/*
 * Inclusive values of cells whose activations wait: they add to their cells as they end, or as
 * their thread looks at its stack. What they will add of a system call that goes on is charged
 * ahead of that, as it is to the node that is current (call-ahead.h).
 */

/* Zero-initialised. */
struct dw_cell_waits {
	struct dw_call_aheads of[DWELL_INNER_KINDS]; /* by lines of cells */
};

/* Zero-initialised. */
struct dw_cell_sums {
	/* Of the probes of all calls that cells have so far, ticks: what was taken off exclusive
	 * times, and what agents took them to cost. Both as cells were read: what threads say of
	 * their probes is newer or older by as much as a reading takes. */
	double cost, probes;
	struct dw_cell_waits waits;
};

/* Give what the sums of all cells that have changed have grown by, and what is charged @ahead of
 * them. 0 or -ENOMEM. */
int dw_cell_sums_give(struct dw_cell_sums *c, struct dw_call_lines *s,
		      const struct dw_call_aheads *ahead, const struct dw_region_reading *now);

/* Free everything. */
void dw_cell_sums_release(struct dw_cell_sums *c);
