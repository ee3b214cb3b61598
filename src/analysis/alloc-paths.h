/*
 * The ways to allocate: a tree below each type of objects, first the function that allocated, below
 * it its callers, and so on outwards.
 */
#pragma once

#include "analysis/alloc-pieces.h"
#include "analysis/subjects.h"

/*
 * Append the trees of all types to ret->nodes, ret->samples known, as far as @focus goes. Only the
 * type and the function that allocated have exclusive values. 0 or -ENOMEM.
 */
int dw_alloc_paths_build(const struct dw_alloc_pieces *pieces, const struct dw_focus *focus,
			 const struct dw_subjects *subjects, struct dw_totals *ret);
