/*
 * Putting rows in order: flat lists, parts of lists, and trees whose siblings are sorted.
 */
#pragma once

#include "view/view.h"

/* Allocate v->items for @n rows: 0, 1, 2, ... 0 or -ENOMEM. */
int dw_order_all(struct dw_view *v, size_t n);

/*
 * Sort @n of @v's items, from place @first on, by the column that was asked for (or the view's
 * own), equal ones by inclusive, then exclusive value, then as they were. Needs v->ops->row to
 * work. 0 or -ENOMEM.
 */
int dw_order_sort(struct dw_view *v, size_t first, size_t n);

/*
 * Put v->items into the order of a tree, siblings sorted, every parent right before its children;
 * no more than v->request.rows of them.
 * @parent  by place in v->items as it is now: place of the parent, which is smaller, or UINT32_MAX;
 *          malloc()ed, and taken over.
 * 0 or -ENOMEM.
 */
int dw_order_tree(struct dw_view *v, uint32_t *parent);
