/*
 * The life of an activation on a shadow stack, by its stack's clock (call-extremes.h): it begins,
 * the operating system does something in it, it ends. For the thread itself, in its slow path.
 */
#pragma once

#include "agent/calls/os-events.h"
#include "agent/calls/stacks.h"
#include "agent/calls/threads.h"

/* The entry of an activation of @node that begins now, dw_stacks.now. */
struct dw_shadow dw_activation_begin(const struct dw_stacks *s, struct dw_tree_node *node,
				     uint64_t record);

/* @interval had OS events, in the topmost activation of the current stack. */
void dw_activation_add_os(struct dw_stacks *s, const struct dw_interval *interval);

/* The activation @e of the current stack ends now. */
void dw_activation_end(struct dw_stacks *s, struct dw_shadow *e);

/* The activation @e of @k is none any more: all it did is that of what lies at or below @below. */
void dw_activation_give_up(struct dw_stack *k, const struct dw_shadow *e, struct dw_shadow *below);

/*
 * What activations of cells add to their cells as they end: inclusive values (wire/call-tree.h).
 *
 * An activation that is the outermost of its callee on its stack keeps what the cell's sum was less
 * the clock as it begins; that and the clock as it ends are the sum then. So trampolines do it with
 * one addition, may do it twice, and nobody counts what is open. One below another of its callee
 * does the same in the sums of struct dw_tree_inner, if it is the outermost of its cell; others add
 * nothing. Which it is stands in the two highest bits of dw_shadow.began.
 *
 * Only what is open on the current stack is so: what a thread leaves is closed, and opened again as
 * it comes back. For the thread itself, in its slow path.
 */

/* The activation @e of the current stack adds up from @clock of its stack on. */
void dw_cell_open(struct dw_stacks *s, struct dw_shadow *e, uint64_t clock);

/* It counts as a call, of a kind with those that add up as it does. */
void dw_cell_count(struct dw_stacks *s, const struct dw_shadow *e);

/* It was none: nothing is added. */
void dw_cell_take_back(struct dw_stacks *s, struct dw_shadow *e);

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

/*
 * What is open while a thread is in a system call, told in the region: a call that the process or
 * the recording ends in has no event after it, and the shadow stack is the target's own memory.
 *
 * For the thread itself, in its slow path. An activation is written once, as long as it only waits
 * for its callee: a call costs as many as have come since the call before, DWELL_OPEN_MAX at most.
 */

struct dw_thread;

/* A system call that counts begins: let the region have what is open on the current stack. */
void dw_open_tell(struct dw_thread *t);
