/*
 * Samples: which stack a thread had, when. Three parallel columns, in time order as collected.
 */
#pragma once

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
