/*
 * Waits: how long a thread was off the processor because it waited, on which stack.
 *
 * A row is one wait, a piece of a long one, or several short ones of one thread and stack that
 * follow one another: then the blocked time is less than the span. In the order of their ends.
 */
#pragma once

#include "base/vec.h"

#include <stdint.h>

struct dw_wait {
	uint64_t begin_ns;   /* since the start of the recording */
	uint64_t span_ns;    /* from there to its end */
	uint64_t blocked_ns; /* of the span, at most all of it */
	uint32_t thread;     /* thread id */
	uint32_t stack;	     /* stack id, 0 = nobody could look */
};

struct dw_waits {
	DW_VEC(struct dw_wait) rows;
};

/* The blocked time of @w that lies in [@from_ns, @to_ns), @to_ns 0 = no end: of a part of the span
 * as much as its share. */
uint64_t dw_wait_within(const struct dw_wait *w, uint64_t from_ns, uint64_t to_ns);
