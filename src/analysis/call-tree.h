/*
 * The calling context tree of all calls that pass a filter: processes, below them their threads,
 * below these their nodes.
 */
#pragma once

#include "analysis/call-nodes.h"
#include "analysis/cct.h"

#include <stdint.h>

struct dw_call_tree {
	const struct dw_call_nodes *nodes;
	struct dw_cct cct; /* ids of paths: processes, then threads, then nodes */
	/* Positions of processes and threads, by their ids; DWELL_CCT_NONE = without calls. */
	uint32_t *process, *thread;
};

/* Make the tree of @nodes (borrowed), with amounts as @like stores them. 0; -ENOMEM;
 * DWELL_ERR_LIMIT for 2^32 paths. To be released in either case. */
int dw_call_tree_init(struct dw_call_tree *c, const struct dw_call_nodes *nodes,
		      const struct dw_amounts *like);

/* The node at position @p, which is none of a process or of a thread. */
static inline uint32_t dw_call_tree_node(const struct dw_call_tree *c, uint32_t p)
{
	return c->cct.id[p] - c->nodes->processes_n - c->nodes->threads_n;
}

/* Free everything. */
void dw_call_tree_release(struct dw_call_tree *c);
