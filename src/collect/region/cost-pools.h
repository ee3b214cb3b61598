/*
 * Costs of probes that a node's time does not cover.
 *
 * What a probe takes is known in the mean, so that some calls have less time than their probes are
 * taken to cost. Recursion may hang a call below another node of its callee than the one whose time
 * its probes took: the nodes of a callee share what they lack. What a callee lacks altogether was
 * done beside other work, whose probes took the longer for it: where the sum is known by samples,
 * nodes of other callees bear it by what their own probes cost. One reading; pure functions.
 */
#pragma once

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a callee, ticks. */
struct dw_cost_pool {
	double left;	/* cost that its nodes did not cover */
	double spare;	/* the program's time that others of them still have */
	double covered; /* cost that they did */
};

/* Zero-initialised. */
struct dw_cost_pools {
	DW_VEC(struct dw_cost_pool) v;
	double more; /* of each node's covered cost, for what others lack */
	double left; /* that nobody has covered */
};

/* Begin with @n callees. 0 or -ENOMEM. */
int dw_cost_pools_begin(struct dw_cost_pools *p, size_t n);

/* Add a node of @callee with @time of the program, of which probes are taken to have @cost: what of
 * that it covers. */
double dw_cost_pools_add(struct dw_cost_pools *p, size_t callee, double time, double cost);

/* All are there. @is_known: their costs are what samples found in all. */
void dw_cost_pools_close(struct dw_cost_pools *p, bool is_known);

/* Then, once for each node: what it bears, of whose @cost dw_cost_pools_add() has told. */
double dw_cost_pools_cost(struct dw_cost_pools *p, size_t callee, double time, double cost);

/* Free everything. */
void dw_cost_pools_release(struct dw_cost_pools *p);
