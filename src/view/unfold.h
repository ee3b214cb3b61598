/*
 * Trees whose rows unfold one by one: of a million nodes only those are rows that somebody asked
 * for, and only their siblings are sorted.
 *
 * The view is a tree that was opened with request.unfolding; its rows change. One thread.
 */
#pragma once

#include "view/rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_unfold {
	struct dw_view *view; /* borrowed; its items are those in sight, with room for all */
	size_t n;	      /* of all items */
	struct dw_families families;
	uint32_t *level; /* by item */
	uint8_t *flags;	 /* by item */
};

/* Begin with the roots of @v, which was just opened. 0 or -ENOMEM, to be released in either case.
 */
int dw_unfold_init(struct dw_unfold *u, struct dw_view *v);

/* Whether row @i has anything below it. */
bool dw_unfold_has_children(const struct dw_unfold *u, size_t i);

/* Whether what is below row @i is shown. */
bool dw_unfold_is_open(const struct dw_unfold *u, size_t i);

/* Whether what is below @item is shown, if that is in sight itself. */
bool dw_unfold_item_is_open(const struct dw_unfold *u, uint32_t item);

/* Show the children of row @i, and what was open below them when it was folded. 0 or -ENOMEM. */
int dw_unfold_open(struct dw_unfold *u, size_t i);

/* Hide all below row @i. */
void dw_unfold_close(struct dw_unfold *u, size_t i);

/* The row that row @i is below of, of a root itself. */
size_t dw_unfold_parent(const struct dw_unfold *u, size_t i);

/* Open row @i and the heaviest row below it, and so on while that has at least half of its parent.
 * *@ret is the last one. 0 or -ENOMEM. */
int dw_unfold_hot_path(struct dw_unfold *u, size_t i, size_t *ret);

/* Open all above @item. *@ret is its row. 0 or -ENOMEM. */
int dw_unfold_reveal(struct dw_unfold *u, uint32_t item, size_t *ret);

/* The children of @item (UINT32_MAX = the roots) in their order, *@n of them. Borrowed, NULL = no
 * memory. */
const uint32_t *dw_unfold_children(struct dw_unfold *u, uint32_t item, size_t *n);

/* The child of @item (UINT32_MAX = a root) by which a hot path goes on, UINT32_MAX = it ends. */
uint32_t dw_unfold_heaviest(const struct dw_unfold *u, uint32_t item);

/* By how much @item is before others in a hot path. */
uint64_t dw_unfold_weight(const struct dw_unfold *u, uint32_t item);

/* Put the rows in the order of view->request.sort and .reverse, which were changed. 0 or -ENOMEM.
 */
int dw_unfold_sort(struct dw_unfold *u);

/* Free everything but the view. */
void dw_unfold_release(struct dw_unfold *u);
