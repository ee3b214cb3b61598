/*
 * Making rows, for views: what a row of each kind of total is about (row.c), and the order of
 * rows: flat lists, parts of lists, and trees whose siblings are sorted (order.c). Which are too
 * small to be rows: trim.c.
 */
#pragma once

#include "view/view.h"

/* Leave out the rows of @v that have less than its request's pruning wants, and count them. */
void dw_view_trim(struct dw_view *v);

/* @row has what @measured has. */
void dw_row_set_measured(const struct dw_view *v, struct dw_measured measured, struct dw_row *row);

/* The same, of the row @amounts of totals. */
void dw_row_set_amounts(const struct dw_view *v, uint32_t amounts, struct dw_row *row);

/* @row is about the objects of @type (a type id). */
void dw_row_set_type(const struct dw_view *v, uint32_t type, struct dw_row *row);

/* @row is one of @lane. */
void dw_row_set_lane(const struct dw_view *v, uint32_t lane, struct dw_row *row);

/* @row is about @function. */
void dw_row_set_function(const struct dw_view *v, uint32_t function, struct dw_row *row);

/* @row is about the place of a statement, of which nothing need be measured. */
void dw_row_set_statement(const struct dw_view *v, const struct dw_line_total *line,
			  struct dw_row *row);

/* @row is about a statement, and has what was measured of it. */
void dw_row_set_line(const struct dw_view *v, const struct dw_line_total *line, struct dw_row *row);

/* @row is about an instruction, in the innermost function at its frame. */
void dw_row_set_instruction(const struct dw_view *v, const struct dw_instruction_total *instruction,
			    struct dw_row *row);

/* @row is about the time of @thread, and of others like it, outside its functions. */
void dw_row_set_root(uint32_t thread, struct dw_row *row);

/* @row is about a function's total. */
void dw_row_set_function_total(const struct dw_view *v, const struct dw_function_total *total,
			       struct dw_row *row);

/* @row is about a node of the call tree. */
void dw_row_set_node(const struct dw_view *v, const struct dw_node_total *node, struct dw_row *row);

/* @row is about a module. */
void dw_row_set_module(const struct dw_view *v, const struct dw_module_total *module,
		       struct dw_row *row);

/* Allocate v->items for @n rows: 0, 1, 2, ... 0 or -ENOMEM. */
int dw_order_all(struct dw_view *v, size_t n);

/* The same, sorted. 0 or -ENOMEM. */
int dw_order_list(struct dw_view *v, size_t n);

/*
 * Sort @n of @v's items, from place @first on, by the column that was asked for (or the view's
 * own), equal ones by inclusive, then exclusive value, then as they were. Needs v->ops->row to
 * work. 0 or -ENOMEM.
 */
int dw_order_sort(struct dw_view *v, size_t first, size_t n);

/* The same of @n @items that are not v->items. 0 or -ENOMEM. */
int dw_order_items(const struct dw_view *v, uint32_t *items, size_t n);

/* Children by place: all in one array, those of a place at start[place] .. start[place + 1]; roots
 * belong to the place behind the last. */
struct dw_families {
	uint32_t *start;
	uint32_t *children;
};

/* Gather them for @n places. @parent: by place, UINT32_MAX = a root. 0 or -ENOMEM, to be released
 * in either case. */
int dw_families_gather(struct dw_families *f, const uint32_t *parent, size_t n);

/* Free everything. */
void dw_families_release(struct dw_families *f);

/*
 * Put v->items into the order of a tree, siblings sorted, every parent right before its children;
 * no more than v->request.rows of them.
 * @parent  by place in v->items as it is now: place of the parent, which is smaller, or UINT32_MAX;
 *          malloc()ed, and taken over.
 * Where request.unfolding is set, that is left to view/unfold.h: items stay, parents go to
 * v->parent. 0 or -ENOMEM.
 */
int dw_order_tree(struct dw_view *v, uint32_t *parent);
