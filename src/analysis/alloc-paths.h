/*
 * The ways to allocate: a tree below each type of objects, first the function that allocated, below
 * it its callers, and so on outwards.
 */
#pragma once

#include "analysis/points.h"

/*
 * Append the trees of all types of objects among @points to ret->nodes, ret->all known, as far as
 * the filter's focus goes. Only the type and the function that allocated have exclusive values. 0
 * or -ENOMEM.
 */
int dw_alloc_paths_build(const struct dw_points *points, struct dw_totals *ret);
