/*
 * Inclusive values of cells: sums that activations bring up to date as they end.
 *
 * Clocks of activations leave out what pairs of probes were taken to cost; what they did cost is
 * what was taken off exclusive times, so that both agree. One thread.
 */
#pragma once

#include "collect/region/call-lines.h"

/* Zero-initialised. */
struct dw_cell_sums {
	double cost; /* of probes, taken off exclusive times of cells so far: ticks */
};

/* Give what the sums of all cells that have changed have risen by. 0 or -ENOMEM. */
int dw_cell_sums_give(const struct dw_cell_sums *c, struct dw_call_lines *s,
		      const struct dw_region_reading *now);
