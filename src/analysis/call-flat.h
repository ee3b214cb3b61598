/*
 * Flat totals of calls: functions, modules, edges, lines and instructions of one process, from one
 * walk over its threads' trees.
 */
#pragma once

#include "analysis/call-ledger.h"
#include "analysis/call-nodes.h"
#include "base/map.h"

#include <stdint.h>

struct dw_call_edge {
	uint32_t caller; /* dense ids of call-nodes.h */
	uint32_t callee;
};

struct dw_call_step;

struct dw_call_flat {
	const struct dw_call_nodes *nodes;
	unsigned parts; /* enum dw_totals_part */
	struct dw_ledger functions, modules, edges, lines, instructions;
	struct dw_map edge_ids;
	DW_VEC(struct dw_call_edge) edge_keys; /* by edge id */
	DW_VEC(struct dw_call_step) path;
	struct dw_call_values process; /* all of the process: no row has more */
};

/* Prepare for @parts over @nodes (borrowed). 0 or -ENOMEM, to be released in either case. */
int dw_call_flat_init(struct dw_call_flat *f, const struct dw_call_nodes *nodes, unsigned parts);

/* Count the threads of @process and append its rows to @ret. 0 or -ENOMEM. */
int dw_call_flat_count(struct dw_call_flat *f, uint32_t process, struct dw_totals *ret);

/* Free everything. */
void dw_call_flat_release(struct dw_call_flat *f);
