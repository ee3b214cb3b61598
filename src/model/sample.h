/*
 * Samples: which stack a thread had, when. Three parallel columns, in time order as collected.
 *
 * Waits: how long a thread was off the processor because it waited, on which stack.
 */
#pragma once

#include "base/vec.h"

#include <stddef.h>
#include <stdint.h>

struct dw_samples {
	uint64_t *time_ns; /* since the start of the recording */
	uint32_t *thread;  /* thread id */
	uint32_t *stack;   /* stack id, 0 = nothing could be unwound */
	size_t n;
	size_t cap;
};

/* Append one sample. 0 or -ENOMEM. */
int dw_samples_add(struct dw_samples *s, uint64_t time_ns, uint32_t thread, uint32_t stack);

/* Forget the samples, keep the memory. */
void dw_samples_clear(struct dw_samples *s);

/* Free everything. */
void dw_samples_release(struct dw_samples *s);

/* One wait, a piece of a long one, or several short ones of one thread and stack that follow one
 * another: then the blocked time is less than the span. */
struct dw_wait {
	uint64_t begin_ns;   /* since the start of the recording */
	uint64_t span_ns;    /* from there to its end */
	uint64_t blocked_ns; /* of the span, at most all of it */
	uint32_t thread;     /* thread id */
	uint32_t stack;	     /* stack id, 0 = nobody could look */
};

/* In the order of their ends. */
struct dw_waits {
	DW_VEC(struct dw_wait) rows;
};

/* The blocked time of @w that lies in [@from_ns, @to_ns), @to_ns 0 = no end: of a part of the span
 * as much as its share. */
uint64_t dw_wait_within(const struct dw_wait *w, uint64_t from_ns, uint64_t to_ns);
