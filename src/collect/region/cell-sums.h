/*
 * Inclusive values of cells: sums that activations bring up to date as they end.
 *
 * Clocks of activations leave out what pairs of probes were taken to cost; what they did cost is
 * what was taken off exclusive times, so that both agree. One thread.
 */
#pragma once

#include "collect/region/call-ahead.h"
#include "collect/region/call-lines.h"
#include "collect/region/cell-waits.h"

/* Zero-initialised. */
struct dw_cell_sums {
	/* Of the probes of all calls that cells have so far, ticks: what was taken off exclusive
	 * times, and what agents took them to cost. Both as cells were read: what threads say of
	 * their probes is newer or older by as much as a reading takes. */
	double cost, probes;
	struct dw_cell_waits waits;
};

/* Give what the sums of all cells that have changed have risen by, and what is charged @ahead of
 * them. 0 or -ENOMEM. */
int dw_cell_sums_give(struct dw_cell_sums *c, struct dw_call_lines *s,
		      const struct dw_call_aheads *ahead, const struct dw_region_reading *now);

/* Free everything. */
void dw_cell_sums_release(struct dw_cell_sums *c);
