/*
 * The life of an activation on a shadow stack, by its stack's clock (each.h): it begins, the
 * operating system does something in it, it ends. For the thread itself, in its slow path.
 */
#pragma once

#include "agent/core/os-interval.h"
#include "agent/core/stacks.h"

/* The entry of an activation of @node that begins now, dw_stacks.now. */
struct dw_shadow dw_activation_begin(const struct dw_stacks *s, struct dw_tree_node *node,
				     uint64_t record);

/* @interval had OS events, in the topmost activation of the current stack. */
void dw_activation_add_os(struct dw_stacks *s, const struct dw_interval *interval);

/* The activation @e of the current stack ends now. */
void dw_activation_end(struct dw_stacks *s, struct dw_shadow *e);

/* The activation @e of @k is none any more: all it did is that of what lies at or below @below. */
void dw_activation_give_up(struct dw_stack *k, const struct dw_shadow *e, struct dw_shadow *below);
