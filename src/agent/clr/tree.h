/*
 * Call trees of allocating threads, and groups of objects at their nodes. Each thread has its own
 * tree, which it alone writes.
 */
#pragma once

#include "agent/clr/thread.h"

#include <stdint.h>

/* The node of the stack in t->frames. */
uint32_t dw_clr_tree_node(struct dw_clr_self *t);

/* The group of objects of @type at @node, 0 = no room. */
uint32_t dw_clr_tree_group(struct dw_clr_self *t, uint32_t node, uint32_t type);
