/*
 * From raw chunks to the allocations of a profile, every number checked; decode.h calls these kind
 * by kind.
 *
 * Each takes @n rows from @c and appends them to @p. 0 or -ENOMEM; what makes no sense sets
 * c->failed, and then @p is only good for release. @n is at most the bytes that @c has.
 */
#pragma once

#include "base/cursor.h"
#include "model/profile.h"
#include "session/decode-calls.h"

#include <stddef.h>

/* Types: names, modules and processes exist. */
int dw_take_alloc_types(struct dw_cursor *c, size_t n, struct dw_profile *p);

/* Groups: threads, stacks and types exist. */
int dw_take_alloc_groups(struct dw_cursor *c, size_t n, struct dw_profile *p);

/* Methods: modules and names exist. */
int dw_take_alloc_methods(struct dw_cursor *c, size_t n, struct dw_profile *p);

/* What groups gained in slices: both exist, slices rise. */
int dw_take_alloc_deltas(struct dw_cursor *c, size_t n, struct dw_profile *p);

/* The same rows, added up by group in allocations.sums, and what is before the first selected
 * slice, and becomes of that, in allocations.ranges. */
int dw_take_alloc_sums(struct dw_cursor *c, size_t n, const struct dw_call_sums *sums,
		       struct dw_profile *p);

/* Garbage collections: what they name exists. */
int dw_take_gcs(struct dw_cursor *c, size_t n, struct dw_profile *p);
