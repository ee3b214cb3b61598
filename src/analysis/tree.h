/*
 * Call trees: of one lane by functions, where paths that have the same functions become one node
 * and inlined functions are nodes of their own; and of types of objects, inverted.
 */
#pragma once

#include "analysis/cct.h"
#include "analysis/points.h"
#include "analysis/row-keys.h"
#include "analysis/totals.h"

#include <stdint.h>

struct dw_tree;

/* Prepare for trees over @t and @row_keys (both borrowed), as far as @focus goes. *@ret on success.
 * 0 or -ENOMEM. */
int dw_tree_new(const struct dw_cct *t, const struct dw_row_keys *row_keys,
		const struct dw_focus *focus, struct dw_tree **ret);

/* Append the call tree of @lane, whose root is at position @root, to @ret->nodes, @ret->all
 * known. 0 or -ENOMEM. */
int dw_tree_build(struct dw_tree *b, uint32_t root, uint32_t lane, struct dw_totals *ret);

/* Free everything. NULL is fine. */
void dw_tree_free(struct dw_tree *b);

/*
 * Append the inverted trees of all types of objects among @points to ret->nodes, ret->all known, as
 * far as the filter's focus goes: below a type who allocated, below that its callers, and so on.
 * Only the type and the function that allocated have exclusive values. 0 or -ENOMEM.
 */
int dw_alloc_paths_build(const struct dw_points *points, struct dw_totals *ret);
