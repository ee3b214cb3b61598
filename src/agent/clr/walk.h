/*
 * The managed stack of an allocation, exact, without asking the runtime but for addresses that it
 * was never asked about.
 */
#pragma once

#include "agent/clr/thread.h"

#include <stdbool.h>
#include <stdint.h>

/* Find out where the runtime's code lies. One stack in @check is compared with the runtime's, 0 =
 * none is. @has_natives: each native function is a frame. */
void dw_walk_start(uint32_t check, bool has_natives);

/*
 * Put the frames of the calling thread's stack to t->frames, innermost first, t->frames_n of them,
 * but for the t->shared outermost ones, which are those of t->path: dw_clr_tree_node() comes next.
 * @base is the frame address (rbp) of the callback. False: the runtime does not tell.
 */
bool dw_walk(struct dw_clr_self *t, uint64_t base);

/* The code of a module goes, or all that the method of @function was compiled to. */
void dw_walk_forget(void);

/* The code of @function, made at run time, goes. */
void dw_walk_forget_function(uint64_t function);
