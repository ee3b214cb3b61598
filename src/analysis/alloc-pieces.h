/*
 * The pieces of allocations that pass a filter, sorted by process.
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
	uint32_t *rows; /* indices of allocations.deltas that pass */
	size_t *end;	/* by process id: where its rows end */
};

/* Choose from @p (borrowed) under @filter. 0; -ENOMEM; DWELL_ERR_LIMIT. To be released in either
 * case. */
int dw_alloc_pieces_init(struct dw_alloc_pieces *t, const struct dw_profile *p,
			 const struct dw_filter *filter);

/* Free everything. */
void dw_alloc_pieces_release(struct dw_alloc_pieces *t);

/* Row @i: what it adds, and of which group. */
static inline const struct dw_alloc_delta *dw_alloc_piece(const struct dw_alloc_pieces *t, size_t i)
{
	return &t->profile->allocations.deltas.v[t->rows[i]];
}

/* The group of @d. */
static inline const struct dw_alloc_group *dw_alloc_piece_group(const struct dw_alloc_pieces *t,
								const struct dw_alloc_delta *d)
{
	return &t->profile->allocations.groups.v[d->group - 1];
}
