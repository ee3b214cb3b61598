/*
 * Flat totals of calls: functions, modules, edges, lines and instructions of one process, from one
 * walk over its threads' trees and from what overflowed.
 */
#pragma once

#include "analysis/call-tree.h"
#include "analysis/flat.h"

#include <stdint.h>

struct dw_call_flat {
	const struct dw_call_nodes *nodes;
	const struct dw_call_tree *tree;
	struct dw_flat rows;
	/* Overflow nodes by thread: overflow[begin[thread]] .. overflow[begin[thread + 1]] */
	uint32_t *begin, *overflow;
};

/* Prepare for @parts over @tree (borrowed), rows to be appended to @out. 0 or -ENOMEM, to be
 * released in either case. */
int dw_call_flat_init(struct dw_call_flat *f, const struct dw_call_tree *tree, unsigned parts,
		      struct dw_totals *out);

/* Count the threads of @process and append its rows. 0 or -ENOMEM. */
int dw_call_flat_count(struct dw_call_flat *f, uint32_t process);

/* Free everything. */
void dw_call_flat_release(struct dw_call_flat *f);
