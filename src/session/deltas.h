/*
 * What nodes of calls and groups of objects gained in slices, read one by one or added up.
 *
 * Each takes @n rows from @c and appends them to @p, or adds them to its sums. Slices and ids
 * exist, and slices rise. 0 or -ENOMEM; what makes no sense sets c->failed, and then @p is only
 * good for release. @n is at most the bytes that @c has.
 */
#pragma once

#include "base/cursor.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which deltas to add up. */
struct dw_call_sums {
	const uint8_t *selected; /* by slice: 1 = this one too; NULL = all */
	size_t slices_n;	 /* known to @selected; later ones are none */
	size_t first;		 /* of those; earlier ones are before the range. Of all: 0 */
};

/* Whether what happened in @slice is to be added. */
static inline bool dw_call_sums_has(const struct dw_call_sums *sums, uint32_t slice)
{
	return !sums->selected || (slice < sums->slices_n && sums->selected[slice]);
}

/* Those of calls, by node in calls.sums. */
int dw_take_call_sums(struct dw_cursor *c, size_t n, const struct dw_call_sums *sums,
		      struct dw_profile *p);

/* Those of objects, by group in allocations.sums, and what is before the first selected
 * slice, and becomes of that, in allocations.ranges. */
int dw_take_alloc_sums(struct dw_cursor *c, size_t n, const struct dw_call_sums *sums,
		       struct dw_profile *p);
