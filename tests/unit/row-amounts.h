/*
 * Amounts of rows of totals as structs, to compare.
 */
#pragma once

#include "model/totals.h"

/* What was counted for a row. */
struct dw_call_total {
	struct dw_call_values inclusive, exclusive; /* calls: the same in both */
	uint64_t outer_calls;			    /* by which inclusive means divide */
	uint64_t counted; /* of the calls: those of what was switched off */
};

/* What is below something, and what it has allocated itself. */
struct dw_alloc_total {
	struct dw_alloc_values inclusive;
	struct dw_alloc_count exclusive;
};

static inline struct dw_values row_pair(const struct dw_amounts *a, size_t row, enum dw_measure m)
{
	const struct dw_measured all = {.table = a, .row = row};

	return (struct dw_values){dw_measured_get(&all, m, false), dw_measured_get(&all, m, true)};
}

/* What was measured of the calls of @row. */
static inline struct dw_call_total row_calls(const struct dw_amounts *a, size_t row)
{
	struct dw_values v[DWELL_MEASURES];
	struct dw_call_total t;

	for (unsigned m = 0; m < DWELL_MEASURES; m++)
		v[m] = row_pair(a, row, m);
#define SIDE(side)                                                      \
	(struct dw_call_values){                                        \
		.calls = v[DWELL_MEASURE_CALLS].exclusive,              \
		.elapsed_ns = v[DWELL_MEASURE_ELAPSED].side,            \
		.application_ns = v[DWELL_MEASURE_APPLICATION].side,    \
		.delimited_ns = v[DWELL_MEASURE_DELIMITED].side,        \
		.overhead_ns = v[DWELL_MEASURE_OVERHEAD].side,          \
		.blocked_ns = v[DWELL_MEASURE_BLOCKED].side,            \
		.os_cpu_ns = v[DWELL_MEASURE_OS_CPU].side,              \
		.switches = v[DWELL_MEASURE_SWITCHES].side,             \
		.io_calls = v[DWELL_MEASURE_IO_CALLS].side,             \
		.blocking_calls = v[DWELL_MEASURE_BLOCKING_CALLS].side, \
	}
	t = (struct dw_call_total){.inclusive = SIDE(inclusive),
				   .exclusive = SIDE(exclusive),
				   .outer_calls = v[DWELL_MEASURE_OUTER_CALLS].inclusive,
				   .counted = v[DWELL_MEASURE_COUNTED].exclusive};
#undef SIDE
	return t;
}

/* How often something was called. */
struct row_calls {
	uint64_t calls, outer, counted;
};

/* Append a row of calls. Its number. */
static inline uint32_t row_put_calls(struct dw_amounts *a, const struct dw_call_values *inclusive,
				     const struct dw_call_values *exclusive, struct row_calls n)
{
	struct dw_amount all, own;

	dw_amount_of_calls(a, inclusive, &all);
	dw_amount_of_calls(a, exclusive, &own);
	all.v[a->place[DWELL_MEASURE_CALLS]] = n.outer;
	own.v[a->place[DWELL_MEASURE_CALLS]] = n.calls;
	dw_amount_set(a, &own, DWELL_MEASURE_COUNTED, n.counted);
	return dw_amounts_put(a, &all, &own);
}

static inline struct dw_alloc_count row_count(const struct dw_amounts *a, size_t row,
					      enum dw_measure objects)
{
	enum dw_measure bytes = objects - DWELL_MEASURE_OBJECTS + DWELL_MEASURE_BYTES;

	return (struct dw_alloc_count){row_pair(a, row, objects).inclusive,
				       row_pair(a, row, bytes).inclusive};
}

/* What was measured of the objects of @row. */
static inline struct dw_alloc_total row_allocs(const struct dw_amounts *a, size_t row)
{
	struct dw_alloc_total t = {
		.exclusive = {row_pair(a, row, DWELL_MEASURE_OBJECTS).exclusive,
			      row_pair(a, row, DWELL_MEASURE_BYTES).exclusive},
		.inclusive.allocated = row_count(a, row, DWELL_MEASURE_OBJECTS),
		.inclusive.range = {row_count(a, row, DWELL_MEASURE_OBJECTS_BEFORE),
				    row_count(a, row, DWELL_MEASURE_OBJECTS_LEAST),
				    row_count(a, row, DWELL_MEASURE_OBJECTS_MOST)},
	};

	for (int i = 0; i < DWELL_GENERATIONS; i++)
		t.inclusive.collected[i] = row_count(a, row, DWELL_MEASURE_OBJECTS_GEN0 + i);
	return t;
}
