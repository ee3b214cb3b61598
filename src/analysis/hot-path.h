/*
 * The hot path: from the root of the call tree down, while one child has at least half of its
 * parent's inclusive value.
 */
#pragma once

#include "model/totals.h"

#include <stdint.h>

struct dw_hot_path {
	DW_VEC(uint32_t) nodes; /* indices into totals->nodes, root first */
};

/*
 * Find the hot path of @t, which must have nodes. Starts at the heaviest root; equal weights go to
 * the first. Empty when there is no sample. 0 or -ENOMEM, to be released in either case.
 */
int dw_hot_path_find(const struct dw_totals *t, struct dw_hot_path *ret);

/* Free everything. */
void dw_hot_path_release(struct dw_hot_path *h);
