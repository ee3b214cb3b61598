/*
 * What activations of cells add to their cells as they end: inclusive values (wire/call-tree.h).
 *
 * An activation that is the outermost of its callee on its stack keeps what the cell's sum was less
 * the clock as it begins; that and the clock as it ends are the sum then. So gates do it with one
 * addition, may do it twice, and nobody counts what is open. One below another of its callee does
 * the same in the sums of struct dw_tree_inner, if it is the outermost of its cell; others add
 * nothing. Which it is stands in the two highest bits of dw_shadow.began.
 *
 * Only what is open on the current stack is so: what a thread leaves is closed, and opened again as
 * it comes back. For the thread itself, in its slow path.
 */
#pragma once

#include "agent/core/stacks.h"

/* The activation @e of the current stack adds up from @clock of its stack on. */
void dw_cell_open(struct dw_stacks *s, struct dw_shadow *e, uint64_t clock);

/* It has ended now, or its stack will be left. */
void dw_cell_close(struct dw_stacks *s, struct dw_shadow *e);

/* It counts as a call, of a kind with those that add up as it does. */
void dw_cell_count(struct dw_stacks *s, const struct dw_shadow *e);

/* It was none: nothing is added. */
void dw_cell_take_back(struct dw_stacks *s, struct dw_shadow *e);

/* The system did @os in @e, which has ended and was closed. */
void dw_cell_add_os(struct dw_stacks *s, const struct dw_shadow *e, const struct dw_tree_os *os);

/*
 * To which values of its cell the open @e adds, as struct dw_tree_open.adds, and *@sums as there.
 */
uint32_t dw_cell_adds(const struct dw_stacks *s, const struct dw_shadow *e, uint64_t *sums);

/* Let the sums of all that is open on the current stack be what they would be if it ended now. */
void dw_cells_publish(struct dw_stacks *s);

/* Close all that is open on the current stack, which will be left. */
void dw_cells_leave(struct dw_stacks *s);

/* Open it again: the stack is current once more. */
void dw_cells_return(struct dw_stacks *s);

/*
 * Let all that is open on @s, on whatever stack, go on as cells of @tree, whose root among them is
 * @root. What has no room is the cell that it was called by, and counted (DWELL_DROP_COUNTS).
 */
void dw_cells_begin(struct dw_stacks *s, struct dw_tree *tree, struct dw_tree_node *root);
