/*
 * Amounts of rows of totals as structs, to compare.
 */
#pragma once

#include "analysis/call-ledger.h"
#include "model/totals.h"

static inline struct dw_values row_pair(const struct dw_amounts *a, size_t row, enum dw_measure m)
{
	const struct dw_values *pair = dw_amounts_pair(a, row, m);

	return pair ? *pair : (struct dw_values){0};
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
		.whole_ns = v[DWELL_MEASURE_WHOLE].side,                \
		.overhead_ns = v[DWELL_MEASURE_OVERHEAD].side,          \
		.blocked_ns = v[DWELL_MEASURE_BLOCKED].side,            \
		.os_cpu_ns = v[DWELL_MEASURE_OS_CPU].side,              \
		.switches = v[DWELL_MEASURE_SWITCHES].side,             \
		.io_calls = v[DWELL_MEASURE_IO_CALLS].side,             \
		.blocking_calls = v[DWELL_MEASURE_BLOCKING_CALLS].side, \
	}
	t = (struct dw_call_total){.inclusive = SIDE(inclusive),
				   .exclusive = SIDE(exclusive),
				   .outer_calls = v[DWELL_MEASURE_CALLS].inclusive,
				   .counted = v[DWELL_MEASURE_COUNTED].exclusive};
#undef SIDE
	return t;
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
