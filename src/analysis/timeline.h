/*
 * How much was measured over the time of a recording, whatever part of it is shown: samples, or
 * what threads waited where that is what one looks for, application time of functions, or bytes of
 * objects. Made once from a profile, read for any number of columns. One thread.
 */
#pragma once

#include "base/vec.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DWELL_TIMELINE_FULL = 8 }; /* the level of a column that has most */

/* What was measured up to a time; evenly since the knot before. */
struct dw_timeline_knot {
	uint64_t at_ns; /* since the start of the recording */
	double sum;
};

/* Zero-initialised: nothing is known. */
struct dw_timeline {
	DW_VEC(struct dw_timeline_knot) knots; /* the first one is at 0; none = nothing is known */
	uint64_t duration_ns;
	bool is_binned; /* knots are so many that columns begin at them */
};

/* Make the timeline of @p, of which a part may have been loaded. 0 or -ENOMEM, to be released in
 * either case. */
int dw_timeline_make(struct dw_timeline *t, const struct dw_profile *p);

/* Write how full each of @n columns is to @ret: 0 = nothing was measured then, else 1 to
 * DWELL_TIMELINE_FULL in proportion to the fullest one. */
void dw_timeline_levels(const struct dw_timeline *t, size_t n, uint8_t *ret);

/* The time at which column @i of @n begins, rounded to what somebody would write; of column @n the
 * duration. */
uint64_t dw_timeline_at(const struct dw_timeline *t, size_t i, size_t n);

/* The column of @n that begins at @ns or last before it, at most @n. */
size_t dw_timeline_column(const struct dw_timeline *t, uint64_t ns, size_t n);

/* Free everything. */
void dw_timeline_release(struct dw_timeline *t);
