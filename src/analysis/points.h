/*
 * Samples, extras and objects that pass a filter, sorted by lane (lanes.h).
 *
 * A point is one of them: who, on which stack, how much. Behind those of all lanes stand the
 * points that are parts of stacks but no leaves (model/sample.h), which only sums by function and
 * the like count.
 */
#pragma once

#include "analysis/filter.h"
#include "analysis/lanes.h"
#include "analysis/totals.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_point {
	uint32_t thread, stack;
	uint32_t type; /* of objects, as lanes have it, else 0 */
};

struct dw_points {
	const struct dw_profile *profile;
	const struct dw_filter *filter;
	struct dw_lanes lanes;
	uint32_t *samples; /* by thread id: how many pass */
	uint32_t *latency; /* ns, by number of sample; NULL = nobody asked, or there is none */
	struct dw_slices slices;
	/* Numbers of what passes: samples, extras, then allocations.deltas or .sums. */
	uint32_t *rows;
	uint32_t extras_at, allocs_at; /* the first of them */
	bool has_parts;		       /* some are parts of stacks */
	size_t *end; /* by lane: where its points end; + lanes.n: where its parts do */
};

/* Choose from @p under @filter (both borrowed). 0; -ENOMEM; DWELL_ERR_LIMIT for 2^32 points and
 * more. To be released in either case. */
int dw_points_init(struct dw_points *t, const struct dw_profile *p, const struct dw_filter *filter);

/* Free everything. */
void dw_points_release(struct dw_points *t);

/* Whether point @i is a sample: its number is that of the sample. They come first in each list. */
static inline bool dw_points_is_sample(const struct dw_points *t, size_t i)
{
	return t->rows[i] < t->extras_at;
}

/* How many points there are, but for parts that are no leaves. */
static inline size_t dw_points_count(const struct dw_points *t)
{
	return t->end[t->lanes.n - 1];
}

/* @thread, 0 if it is none that is known. */
static inline uint32_t dw_points_thread(const struct dw_points *t, uint32_t thread)
{
	return thread < t->lanes.threads_n ? thread : 0;
}

/* The group of point @i, which is of objects. */
static inline const struct dw_alloc_group *dw_points_group(const struct dw_points *t, size_t i)
{
	const struct dw_allocations *a = &t->profile->allocations;
	uint32_t row = t->rows[i] - t->allocs_at;

	return &a->groups.v[dw_allocations_summed(a) ? row : a->deltas.v[row].group - 1];
}

/* Whose point @i is. */
static inline struct dw_point dw_points_get(const struct dw_points *t, size_t i)
{
	const struct dw_profile *p = t->profile;
	uint32_t row = t->rows[i];

	if (row >= t->allocs_at) {
		const struct dw_alloc_group *g = dw_points_group(t, i);

		return (struct dw_point){dw_points_thread(t, g->thread), g->stack,
					 t->lanes.type[g->type]};
	}
	if (row >= t->extras_at) {
		const struct dw_extra *x = &p->extras.rows.v[row - t->extras_at];

		return (struct dw_point){x->thread, x->stack, 0};
	}
	return (struct dw_point){dw_points_thread(t, p->samples.thread[row]), p->samples.stack[row],
				 0};
}

/* How much it is, for tables like @like. */
void dw_points_amount(const struct dw_points *t, size_t i, const struct dw_amounts *like,
		      struct dw_amount *ret);

/* Likewise of objects. */
struct dw_alloc_values dw_points_allocs(const struct dw_points *t, size_t i);

/* What of its stack point @i is: enum dw_stack_part, 0 = all. */
unsigned dw_points_part(const struct dw_points *t, size_t i);
