/*
 * What probes of calls beyond the tree take of their callers: overflow nodes do not know whose
 * calls they are.
 *
 * The overflow nodes of a function in a thread share what all its calls beyond the tree take of it,
 * by their time. For one reading. Ticks. One thread.
 */
#pragma once

#include "base/pairs.h"
#include "base/vec.h"
#include "wire/call-tree.h"

/* The overflow nodes of one function in a thread. */
struct dw_call_beyond_row {
	double cost; /* what the probes of its calls take of it */
	double elapsed;
};

/* Zero-initialised. */
struct dw_call_beyond {
	DW_VEC(struct dw_call_beyond_row) rows;
	struct dw_pairs of; /* key and thread -> index + 1 */
};

/* Begin another reading. */
void dw_call_beyond_clear(struct dw_call_beyond *b);

/* @o has taken @elapsed more, and the probes of its calls @cost of their caller. 0 or -ENOMEM. */
int dw_call_beyond_add(struct dw_call_beyond *b, const struct dw_tree_overflow *o, double elapsed,
		       double cost);

/* The share of @o, which has taken @elapsed more, when all are added. */
double dw_call_beyond_share(const struct dw_call_beyond *b, const struct dw_tree_overflow *o,
			    double elapsed);

/* Free everything. */
void dw_call_beyond_release(struct dw_call_beyond *b);
