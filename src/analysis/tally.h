/*
 * Counting once per stack: inclusive and exclusive values by dense id, with the number of times
 * that an id lies on the path at hand.
 */
#pragma once

#include "model/totals.h"

#include <stdint.h>

/* One id. 32 bits are enough: a computation has less than 2^32 samples. */
struct dw_tally_row {
	uint32_t inclusive;
	uint32_t exclusive;
	uint32_t active; /* occurrences on the current path */
};

struct dw_tally {
	struct dw_tally_row *rows; /* by id */
	uint32_t *touched;	   /* ids with values, in order of first sight */
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
	struct dw_tally_row *row = &t->rows[id];

	if (row->active++)
		return;
	if (!row->inclusive)
		t->touched[t->touched_n++] = id;
	row->inclusive += inclusive;
}

/* @id leaves the path. */
static inline void dw_tally_leave(struct dw_tally *t, uint32_t id)
{
	t->rows[id].active--;
}

/* @n samples end in @id. */
static inline void dw_tally_end(struct dw_tally *t, uint32_t id, uint32_t n)
{
	t->rows[id].exclusive += n;
}

/* What was counted for the touched id number @i. */
static inline struct dw_values dw_tally_values(const struct dw_tally *t, uint32_t i)
{
	const struct dw_tally_row *row = &t->rows[t->touched[i]];

	return (struct dw_values){row->inclusive, row->exclusive};
}
