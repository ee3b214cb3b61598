/*
 * Call trees that people read: trimming small nodes, folding chains, finding the hot path.
 *
 * Nothing is lost from the numbers of what stays: a trimmed node's samples are in its parent's
 * inclusive value, a folded chain is one row with the chain's first inclusive and the sum of its
 * exclusive values.
 */
#pragma once

#include "model/totals.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_prune_options {
	double trim_pct; /* hide nodes below this share of all samples; 0 = none */
	bool fold; /* join a node to its parent when it is the only child shown and the parent has
		      next to nothing (less than trim_pct) of its own */
};

enum dw_node_pruning {
	DWELL_NODE_TRIMMED = 1, /* hidden */
	DWELL_NODE_FOLDED = 2,	/* part of its parent's row */
};

/* Decide for every node of @t. *@ret is an array by node, the caller frees it. 0 or -ENOMEM. */
int dw_prune_nodes(const struct dw_totals *t, const struct dw_prune_options *options,
		   uint8_t **ret);

struct dw_hot_path {
	DW_VEC(uint32_t) nodes; /* indices into totals->nodes, root first */
};

/*
 * Find the hot path of @t, which must have nodes: from the root down, while one child has at least
 * half of its parent's inclusive value. Starts at the heaviest root; equal weights go to
 * the first. Empty when there is no sample. 0 or -ENOMEM, to be released in either case.
 */
int dw_hot_path_find(const struct dw_totals *t, struct dw_hot_path *ret);

/* Free everything. */
void dw_hot_path_release(struct dw_hot_path *h);
