/*
 * From raw chunks to the calls of a profile, every number checked; decode.h calls these kind by
 * kind.
 *
 * Each takes @n rows from @c and appends them to @p. 0 or -ENOMEM; what makes no sense sets
 * c->failed, and then @p is only good for release. @n is at most the bytes that @c has.
 */
#pragma once

#include "base/cursor.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Nodes: threads, parents, frames exist, and flags and parents fit each other. */
int dw_take_call_nodes(struct dw_cursor *c, size_t n, struct dw_profile *p);

/* Slices: their ends rise. */
int dw_take_call_slices(struct dw_cursor *c, size_t n, struct dw_profile *p);

/* What nodes gained in slices: both exist, slices rise. */
int dw_take_call_deltas(struct dw_cursor *c, size_t n, struct dw_profile *p);

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

/* The same rows, added up by node in calls.sums. */
int dw_take_call_sums(struct dw_cursor *c, size_t n, const struct dw_call_sums *sums,
		      struct dw_profile *p);

/* Shortest and longest activations: threads and frames exist, ids rise by 1 from 1 in the table. */
int dw_take_call_extremes(struct dw_cursor *c, size_t n, struct dw_profile *p);

/* The slowest activations: their nodes exist, ids as above. */
int dw_take_call_slow(struct dw_cursor *c, size_t n, struct dw_profile *p);

/* Mutes: their processes and frames exist. */
int dw_take_call_mutes(struct dw_cursor *c, size_t n, struct dw_profile *p);
