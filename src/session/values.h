/*
 * Values of calls and objects as columns, and their deltas, which are added up while they are read:
 * one by one they would be several times as large.
 */
#pragma once

#include "base/cursor.h"
#include "model/allocations.h"
#include "model/calls.h"
#include "model/profile.h"
#include "session/columns.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Append @n values, the first at @at, @stride bytes from one to the next. */
void dw_put_call_values(struct dw_buf *b, const void *at, size_t stride, size_t n);

/* Likewise those of objects. */
void dw_put_alloc_values(struct dw_buf *b, const void *at, size_t stride, size_t n);

/* Read what these have put. */
void dw_take_call_values(struct dw_cursor *c, void *at, size_t stride, size_t n,
			 const uint64_t limits[DWELL_LIMITS]);

/* Likewise those of objects. */
void dw_take_alloc_values(struct dw_cursor *c, void *at, size_t stride, size_t n,
			  const uint64_t limits[DWELL_LIMITS]);

/* Append what of the time of calls off the processor was only because none was free. */
void dw_put_ready(struct dw_buf *b, const void *at, size_t stride, size_t n);

/* Read that into values that have been read before: 0 where older sessions do not tell. */
void dw_take_ready(struct dw_cursor *c, void *at, size_t stride, size_t n,
		   const uint64_t limits[DWELL_LIMITS]);

/* Which deltas to add up. */
struct dw_call_sums {
	const uint8_t *selected; /* by slice: 1 = this one too; NULL = all */
	size_t slices_n;	 /* known to @selected; later ones are none */
	size_t first;		 /* of those; earlier ones are before the range. Of all: 0 */
};

/* Add up @n deltas of calls at @c, by node in calls.sums. What makes no sense sets c->failed. 0 or
 * -ENOMEM. */
int dw_take_call_sums(struct dw_cursor *c, size_t n, const struct dw_call_sums *sums,
		      struct dw_profile *p);

/* Likewise those of objects, by group in allocations.sums, and what is before the first selected
 * slice, and becomes of that, in allocations.ranges. */
int dw_take_alloc_sums(struct dw_cursor *c, size_t n, const struct dw_call_sums *sums,
		       struct dw_profile *p);

/* Add up by slice what the deltas of @p are, which were checked, where that is wanted and they are
 * kept one by one (dw_calls.activity). 0 or -ENOMEM. */
int dw_note_activity_of_deltas(struct dw_profile *p);
