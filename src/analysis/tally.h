/*
 * Counting once per stack: inclusive and exclusive values by dense id, with the number of times
 * that an id lies on the path at hand.
 */
#pragma once

#include "model/totals.h"

#include <stdint.h>

struct dw_tally {
	struct dw_values *values; /* by id */
	uint32_t *active;	  /* by id: occurrences on the current path */
	uint32_t *touched;	  /* ids with values, in order of first sight */
	uint32_t touched_n;
	uint32_t n; /* ids are below this */
};

/* Make room for ids below @n, keeping what is there. 0 or -ENOMEM. */
int dw_tally_reserve(struct dw_tally *t, uint32_t n);

/* Forget the values that were counted. */
void dw_tally_clear(struct dw_tally *t);

/* Free everything. */
void dw_tally_release(struct dw_tally *t);

/* @id joins the path at a place with @inclusive samples (not 0) at or below it. */
static inline void dw_tally_enter(struct dw_tally *t, uint32_t id, uint32_t inclusive)
{
	if (t->active[id]++)
		return;
	if (!t->values[id].inclusive)
		t->touched[t->touched_n++] = id;
	t->values[id].inclusive += inclusive;
}

/* @id leaves the path. */
static inline void dw_tally_leave(struct dw_tally *t, uint32_t id)
{
	t->active[id]--;
}
