/*
 * Amounts of rows: what was measured of each row, whatever measured it.
 *
 * A row has a pair of numbers for each measure that the table stores: what lies at or below its
 * subject, and what is its own. Pairs that few rows have (what the operating system did, what
 * became of large objects) stand apart: so a million nodes of a call tree take 52 bytes each.
 * Measures that others tell are not stored: dw_measured_value() knows them all.
 *
 * One thread while rows are added.
 */
#pragma once

#include "base/vec.h"
#include "model/allocations.h"
#include "model/calls.h"
#include "model/measure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_values {
	uint64_t inclusive;
	uint64_t exclusive;
};

/* Zero-initialised: no measure, no row. */
struct dw_amounts {
	uint8_t place[DWELL_MEASURES]; /* of a measure's pair in a row, from 1; 0 = not stored */
	uint8_t measure[DWELL_MEASURES + 1]; /* by place */
	uint8_t common_n;		     /* pairs of every row, */
	uint8_t all_n;			     /* and of those that have rare ones */
	/* What a sample stands for, where it is time and waits stand beside: WORK is their sum. */
	uint64_t sample_ns;
	size_t n; /* rows */
	DW_VEC(struct dw_values) common;
	DW_VEC(uint32_t) rare_of; /* by row: where its rare pairs begin + 1, 0 = it has none */
	DW_VEC(struct dw_values) rare;
};

/* Make @a, which is zero, a table for rows of a profile that has @set, and samples of @sample_ns
 * each if that has both samples and work, else 0. */
void dw_amounts_init(struct dw_amounts *a, dw_measures set, uint64_t sample_ns);

/* The same of all that @p was recorded with, but for what is made of that when it is asked for. */
void dw_amounts_init_for(struct dw_amounts *a, const struct dw_profile *p);

/* Make @a a table of the same measures as @like, without rows. */
void dw_amounts_init_like(struct dw_amounts *a, const struct dw_amounts *like);

/* Whether @a stores @measure. */
static inline bool dw_amounts_has(const struct dw_amounts *a, enum dw_measure measure)
{
	return a->place[measure];
}

/* Make room for @n rows more with all of their pairs: to append them and to add to them once does
 * not fail. 0 or -ENOMEM. */
int dw_amounts_reserve(struct dw_amounts *a, size_t n);

/* Append a row of nothing. Its number, UINT32_MAX = no memory. */
uint32_t dw_amounts_push(struct dw_amounts *a);

/* Keep the first @n rows. */
void dw_amounts_cut(struct dw_amounts *a, size_t n);

/* Row @to gets what @from has. */
void dw_amounts_move(struct dw_amounts *a, size_t to, size_t from);

/* The pair of @measure, which every row has, of @row: to read and to write. */
static inline struct dw_values *dw_amounts_common(const struct dw_amounts *a, size_t row,
						  enum dw_measure measure)
{
	return &a->common.v[row * a->common_n + a->place[measure] - 1];
}

/* Amounts of one thing, by their places in a table. */
struct dw_amount {
	/* Place 0 is for what the table does not store. Those of rare ones are set if is_rare. */
	uint64_t v[DWELL_MEASURES + 1];
	bool is_rare;
};

extern const struct dw_values dw_no_values;

/* The pair of @measure of @row. NULL: it is not stored. Those of application and of whole time are
 * what these have less than elapsed time. */
static inline const struct dw_values *dw_amounts_pair(const struct dw_amounts *a, size_t row,
						      enum dw_measure measure)
{
	size_t place = a->place[measure];

	if (place - 1 < a->common_n)
		return &a->common.v[row * a->common_n + place - 1];
	if (!place)
		return NULL;
	if (!a->rare_of.v[row])
		return &dw_no_values;
	return &a->rare.v[a->rare_of.v[row] - 1 + place - 1 - a->common_n];
}

/* How much of @measure @row has of a measure that pairs do not just hold. False: nothing of the
 * kind was measured. */
bool dw_amounts_derived(const struct dw_amounts *a, size_t row, enum dw_measure measure,
			bool exclusive, uint64_t *ret);

/* Set what @measure has in @to to @n, if tables like @a store it. Of what is work this too. */
void dw_amount_set(const struct dw_amounts *a, struct dw_amount *to, enum dw_measure measure,
		   uint64_t n);

/* @v as an amount for tables like @a. Their calls are outermost ones where it is added to what is
 * inclusive. */
void dw_amount_of_calls(const struct dw_amounts *a, const struct dw_call_values *v,
			struct dw_amount *ret);

/* Likewise objects and what became of them. */
void dw_amount_of_allocs(const struct dw_amounts *a, const struct dw_alloc_values *v,
			 struct dw_amount *ret);

/* The same of objects that are in no heap of its own. */
void dw_amount_of_plain_allocs(const struct dw_amounts *a, const struct dw_alloc_plain *v,
			       struct dw_amount *ret);

/* Likewise @n of @measure alone. */
void dw_amount_of(const struct dw_amounts *a, enum dw_measure measure, uint64_t n,
		  struct dw_amount *ret);

/* What add functions add to. */
enum dw_amounts_side { DWELL_INCLUSIVE = 1, DWELL_EXCLUSIVE = 2, DWELL_BOTH = 3 };

/* Add @more to @row. 0 or -ENOMEM. */
int dw_amounts_add(struct dw_amounts *a, size_t row, const struct dw_amount *more,
		   enum dw_amounts_side side);

/* Append a row of @inclusive and of @exclusive. Its number, UINT32_MAX = no memory. */
uint32_t dw_amounts_put(struct dw_amounts *a, const struct dw_amount *inclusive,
			const struct dw_amount *exclusive);

/* The rare pairs of @row, made when it has none: those of the places behind common_n. NULL without
 * memory. */
struct dw_values *dw_amounts_rare(struct dw_amounts *a, size_t row);

/* Take away the last row, and write what was at or below it to @ret, by measure. */
void dw_amounts_pop(struct dw_amounts *a, uint64_t ret[DWELL_MEASURES]);

/* Add row @from of @more, a table of the same measures. 0 or -ENOMEM. */
int dw_amounts_add_row(struct dw_amounts *a, size_t row, const struct dw_amounts *more, size_t from,
		       enum dw_amounts_side side);

/* Free everything. */
void dw_amounts_release(struct dw_amounts *a);

/* Those of which dw_amounts_derived() tells. */
extern const dw_measures dw_derived_measures;

/* All that is known of one row. Borrowed. */
struct dw_measured {
	const struct dw_amounts *table; /* NULL = nothing was measured */
	size_t row;
	bool is_site;				  /* a call site: nobody measured what is its own */
	const struct dw_extreme_values *extremes; /* of single calls, NULL = not known */
	uint32_t disabled_at; /* of a function: index in the profile's calls.disabled + 1, 0 =
			  measured to the end */
};

/* How much of @measure @m has. False where nobody knows. */
static inline bool dw_measured_value(const struct dw_measured *m, enum dw_measure measure,
				     bool exclusive, uint64_t *ret)
{
	const struct dw_values *pair;

	if (!m->table || (exclusive && m->is_site))
		return false;
	if (dw_measures_has(dw_derived_measures, measure))
		return dw_amounts_derived(m->table, m->row, measure, exclusive, ret);
	pair = dw_amounts_pair(m->table, m->row, measure);
	if (!pair)
		return false;
	*ret = exclusive ? pair->exclusive : pair->inclusive;
	return true;
}

/* The same, 0 where nobody knows. */
uint64_t dw_measured_get(const struct dw_measured *m, enum dw_measure measure, bool exclusive);

/* The shortest and the longest call by @measure, elapsed or application. */
struct dw_range_ns dw_measured_extremes(const struct dw_measured *m, enum dw_measure measure,
					bool exclusive);
