/*
 * The runtime's allocation contexts, made to announce every object.
 *
 * The runtime of .NET 10 announces some objects (boxes of structs, and what its own library makes
 * by the shortest way) only when a context has run out. Its compiled code compares with a limit of
 * the context; with that limit at the last object every allocation takes the way that announces.
 * Those of .NET 8 and 9 have no such limit and announce all; that is checked by their counters.
 */
#pragma once

#include "agent/clr/thread.h"

#include <stdbool.h>
#include <stdint.h>

/* Find what contexts are searched for in. */
void dw_context_start(void);

/* The object of @bytes at @object was announced on @t, the calling thread. */
void dw_context_announced(struct dw_clr_self *t, uint64_t object, uint64_t bytes);
