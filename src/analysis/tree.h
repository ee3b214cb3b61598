/*
 * The call tree of one process, by functions: paths that have the same functions become one node,
 * inlined functions are nodes of their own.
 */
#pragma once

#include "analysis/cct.h"
#include "analysis/subjects.h"
#include "analysis/totals.h"

#include <stdint.h>

struct dw_tree;

/* Prepare for trees over @t and @subjects (both borrowed), as far as @focus goes. *@ret on success.
 * 0 or -ENOMEM. */
int dw_tree_new(const struct dw_cct *t, const struct dw_subjects *subjects,
		const struct dw_focus *focus, struct dw_tree **ret);

/* Append the call tree of @process, whose root is at position @root, to @ret->nodes, @ret->all
 * known. 0 or -ENOMEM. */
int dw_tree_build(struct dw_tree *b, uint32_t root, uint32_t process, struct dw_totals *ret);

/* Free everything. NULL is fine. */
void dw_tree_free(struct dw_tree *b);
