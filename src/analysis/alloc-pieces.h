/*
 * The pieces of allocations that pass a filter, sorted by process; behind them those of parts of
 * stacks that are no leaves (model/stack.h), which only sums by function and the like count.
 */
#pragma once

#include "analysis/selection.h"
#include "analysis/totals.h"
#include "model/profile.h"

#include <stddef.h>
#include <stdint.h>

struct dw_alloc_pieces {
	const struct dw_profile *profile;
	uint32_t threads_n, processes_n;
	uint32_t *process; /* by thread id; UINT32_MAX = filtered out */
	struct dw_slices slices;
	uint32_t *rows; /* indices of allocations.deltas, or .sums, that pass */
	size_t *end;	/* by process id: where its rows end; + processes_n: where its parts do */
};

/* Choose from @p (borrowed) under @filter. 0; -ENOMEM; DWELL_ERR_LIMIT. To be released in either
 * case. */
int dw_alloc_pieces_init(struct dw_alloc_pieces *t, const struct dw_profile *p,
			 const struct dw_filter *filter);

/* Free everything. */
void dw_alloc_pieces_release(struct dw_alloc_pieces *t);

/* The group of row @i. */
static inline const struct dw_alloc_group *dw_alloc_piece_group(const struct dw_alloc_pieces *t,
								size_t i)
{
	const struct dw_allocations *a = &t->profile->allocations;
	uint32_t row = t->rows[i];

	return &a->groups.v[dw_allocations_summed(a) ? row : a->deltas.v[row].group - 1];
}

/* What of its stack row @i is: enum dw_stack_part, 0 = all. */
unsigned dw_alloc_piece_part(const struct dw_alloc_pieces *t, size_t i);

/* What row @i adds to it. */
static inline struct dw_alloc_values dw_alloc_piece_values(const struct dw_alloc_pieces *t,
							   size_t i)
{
	const struct dw_allocations *a = &t->profile->allocations;
	uint32_t row = t->rows[i];

	struct dw_alloc_values values;

	if (!dw_allocations_summed(a))
		return a->deltas.v[row].values;
	values = dw_alloc_store_get(&a->sums, row);
	if (dw_allocations_ranged(a))
		values.range = a->ranges.v[row];
	return values;
}
