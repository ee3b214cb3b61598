/*
 * What probes of cells' calls take of their callers, whose time is in several cells: those of a
 * function in a thread share what all its calls take of it, by their time.
 *
 * Functions are named by the lines of their records (struct dw_tree_callee). For one reading.
 * Ticks. One thread.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"

#include <stdint.h>

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
