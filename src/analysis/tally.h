/*
 * Counting once per stack: inclusive and exclusive values by dense id.
 *
 * Whether an id lies on the path at hand is told by a clock that ticks once per sample: a walk that
 * visits parents before children, and moves the clock by the samples that end in each stack it
 * comes to, spends exactly the ticks of a stack's inclusive value at or below that stack. So an id
 * remembers until when it is on the path, and nothing needs to be undone on the way back.
 * Amounts are added where an id joins the path and where it ends, by who walks.
 */
#pragma once

#include "analysis/blocked.h"
#include "model/totals.h"

#include <stdbool.h>
#include <stdint.h>

/* One id. 32 bits are enough: a computation has less than 2^32 samples. */
struct dw_tally_row {
	uint32_t inclusive;
	uint32_t exclusive;
	union {
		uint32_t until; /* on the walk's path as long as the clock is below this */
		uint32_t place; /* after the walk: where its total stands in its array */
	};
};

struct dw_tally {
	struct dw_tally_row *rows;	/* by id */
	struct dw_alloc_total *amounts; /* by id; NULL = samples are counted */
	struct dw_blocked *blocked;	/* by id; NULL = there are no waits */
	bool weighs;			/* amounts are to be counted */
	bool waits;			/* blocked times are */
	uint32_t *touched;		/* ids with values, in order of first sight */
	uint32_t touched_n;
	uint32_t n; /* ids are below this */
};

/* Make room for ids below @n, keeping what is there. 0 or -ENOMEM. */
int dw_tally_reserve(struct dw_tally *t, uint32_t n);

/* Forget the values that were counted. */
void dw_tally_clear(struct dw_tally *t);

/* Free everything. */
void dw_tally_release(struct dw_tally *t);

/* @id joins the path at @clock, at a place with @inclusive samples (not 0) at or below it. Whether
 * it was not on it. */
static inline bool dw_tally_enter(struct dw_tally *t, uint32_t id, uint32_t inclusive,
				  uint32_t clock)
{
	struct dw_tally_row *row = &t->rows[id];

	if (clock < row->until)
		return false;
	row->until = clock + inclusive;
	if (!row->inclusive)
		t->touched[t->touched_n++] = id;
	row->inclusive += inclusive;
	return true;
}

/* @n samples end in @id. */
static inline void dw_tally_end(struct dw_tally *t, uint32_t id, uint32_t n)
{
	t->rows[id].exclusive += n;
}

/* The samples that were counted for the touched id number @i. */
static inline struct dw_values dw_tally_values(const struct dw_tally *t, uint32_t i)
{
	const struct dw_tally_row *row = &t->rows[t->touched[i]];

	const struct dw_blocked *b = t->blocked ? &t->blocked[t->touched[i]] : NULL;

	return (struct dw_values){row->inclusive - (b ? b->waits.inclusive : 0),
				  row->exclusive - (b ? b->waits.exclusive : 0)};
}
