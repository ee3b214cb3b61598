/*
 * Which rows are worth showing: those that have their share of any measure by which rows count. By
 * the main one, and of samples by all that stands beside them.
 */
#pragma once

#include "model/totals.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_worth {
	unsigned n;
	struct {
		enum dw_measure measure;
		uint64_t least; /* 1 or more */
	} v[DWELL_MEASURES];	/* the main one first */
};

/* Rows of @t are worth it from @pct of all on, @t->all known. */
void dw_worth_init(struct dw_worth *w, const struct dw_totals *t, double pct);

/* Whether @row of @a, either table of the totals, is: by what is at or below it, or @exclusive by
 * its own. */
static inline bool dw_worth_has(const struct dw_worth *w, const struct dw_amounts *a, size_t row,
				bool exclusive)
{
	for (unsigned i = 0; i < w->n; i++) {
		const struct dw_values *v = dw_amounts_common(a, row, w->v[i].measure);

		if ((exclusive ? v->exclusive : v->inclusive) >= w->v[i].least)
			return true;
	}
	return false;
}
