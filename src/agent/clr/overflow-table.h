/*
 * Objects whose stack the call tree has no room for, counted by parts of it (enum dw_clr_part):
 * each call on the stack apart, so that sums by function, module, call and line are exact whatever
 * the number of stacks. Takes memory for each call that the program has, not for each stack.
 */
#pragma once

#include "agent/clr/thread.h"
#include "agent/clr/tree.h"

#include <stdint.h>

/*
 * Count an object of @kind and @bytes for all parts of the stack in t->path but the innermost one,
 * whose group is returned and still has to count it: it is the object's own. 0 = no room, nothing
 * is counted.
 */
uint32_t dw_overflow_count(struct dw_clr_self *t, struct dw_clr_kind kind, uint64_t bytes);

/* @t becomes another thread. */
void dw_overflow_forget(struct dw_clr_self *t);
