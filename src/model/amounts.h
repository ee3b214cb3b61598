/* What was measured of a row of totals, whatever measured it. Reads only, any thread. */
#pragma once

#include "model/measure.h"
#include "model/totals.h"

/* Borrowed; NULL = nothing of the kind was measured. */
struct dw_amounts {
	const struct dw_values *samples, *blocked;
	const struct dw_call_total *calls;
	const struct dw_call_ranges *extremes; /* of single calls */
	const struct dw_alloc_total *allocs;
};

/* The amounts that rows of @t name by @index. Samples stand in the row itself. */
struct dw_amounts dw_totals_amounts(const struct dw_totals *t, uint32_t index);

/* How much of @measure @a has. False where nobody knows. */
bool dw_amounts_value(const struct dw_amounts *a, enum dw_measure measure, bool exclusive,
		      uint64_t *ret);

/* The shortest and the longest call by @measure, elapsed or application. */
struct dw_range_ns dw_amounts_extremes(const struct dw_amounts *a, enum dw_measure measure,
				       bool exclusive);

/* How much of @measure passed the filter of @t: what shares of it are shares of. */
uint64_t dw_totals_value(const struct dw_totals *t, enum dw_measure measure);
