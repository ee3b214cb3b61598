/*
 * What a filter lets through: threads, stacks, slices of time.
 */
#pragma once

#include "analysis/totals.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether @id is among the @n @ids, of which NULL has all. */
bool dw_select_id(const uint32_t *ids, size_t n, uint32_t id);

/* Decide for all threads, 0 included: @process[id] becomes the id of the thread's process (0 = not
 * known), or UINT32_MAX when the filter leaves the thread out. */
void dw_select_threads(const struct dw_profile *p, const struct dw_filter *filter,
		       uint32_t *process);

/* Whether the innermost frame of @stack lies in one of the filter's modules. */
bool dw_select_stack(const struct dw_profile *p, const struct dw_filter *filter, uint32_t stack);

/* How much of @w, in ns, passes @filter, 0 = nothing. @process: by thread id, as
 * dw_select_threads() gives it. */
uint64_t dw_wait_passing(const struct dw_profile *p, const struct dw_filter *filter,
			 const uint32_t *process, const struct dw_wait *w);

struct dw_slices {
	uint8_t *passes;	 /* by slice: 1 = counts */
	uint64_t from_ns, to_ns; /* what they come to; 0, 0 = no range was asked for */
};

/* Choose slices of @calls for the filter's range, as dw_calls_select() does. 0 or -ENOMEM. */
int dw_slices_init(struct dw_slices *s, const struct dw_calls *calls,
		   const struct dw_filter *filter);

/* Free everything. */
void dw_slices_release(struct dw_slices *s);
