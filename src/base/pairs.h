/*
 * A set of pairs of numbers, each with an id of its own: 1, 2, 3 in the order in which they were
 * added, so that rows about pairs can stand in a vector beside. Equal are pairs, not their hashes.
 * Zero-initialised is empty. Not for sharing between threads.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"

struct dw_pair {
	uint64_t a, b;
};

struct dw_pairs {
	DW_VEC(struct dw_pair) v; /* by id - 1 */
	struct dw_idset set;
};

/* The id of the pair, 0 = it is not there. */
uint32_t dw_pairs_find(const struct dw_pairs *p, uint64_t a, uint64_t b);

/* The id of the pair, added when new. 0 = no memory. */
uint32_t dw_pairs_add(struct dw_pairs *p, uint64_t a, uint64_t b);

/* Free the memory and leave the set empty. */
void dw_pairs_release(struct dw_pairs *p);
