/*
 * Call trees of allocating threads, and groups of objects at their nodes. Each thread has its own
 * tree, which it alone writes.
 */
#pragma once

#include "agent/clr/thread.h"

#include <stdint.h>

/* The node of the stack in t->frames, which becomes t->path. 0 = no room. */
uint32_t dw_clr_tree_node(struct dw_clr_self *t);

/* What objects of a group have in common. */
struct dw_clr_kind {
	uint32_t type;
	uint32_t units; /* as in struct dw_clr_group */
};

/* A node of @frame below @parent that uses what is kept for when there is no room, and that no
 * stack leads to. 0 = no room. */
uint32_t dw_clr_tree_last_node(uint32_t parent, uint32_t frame);

/* The group of objects of @kind at @node, 0 = no room: there is some longer for nodes of
 * dw_clr_tree_last_node(), and for t->truncated. */
uint32_t dw_clr_tree_group(struct dw_clr_self *t, uint32_t node, struct dw_clr_kind kind);

/*
 * Recursion folded out of a stack: the shortest way from its outermost frame to its innermost that
 * has all frames and all calls of the stack, each once at least. Sums by function, line and call
 * are those of the whole stack. Fold the @n frames at @frames, outermost first, in place: how many
 * are left.
 */
uint32_t dw_fold(uint32_t *frames, uint32_t n);
