/*
 * Units of times in tables: one for all cells of a column, so that they can be compared, and chosen
 * by the largest of them.
 */
#pragma once

#include "base/buf.h"

#include <stdint.h>

/* How many digits a time is worth. */
enum dw_time_digits {
	DWELL_DIGITS_FEW = 0, /* so many samples: to a millisecond */
	DWELL_DIGITS_USUAL,   /* time that was spent: three behind the point */
	DWELL_DIGITS_POINT,   /* points in time: to a microsecond */
	DWELL_DIGITS_CALL,    /* single calls, which may take any time: to a nanosecond, but of
				 seconds */
};

enum dw_time_unit { DWELL_UNIT_NS = 0, DWELL_UNIT_US, DWELL_UNIT_MS, DWELL_UNIT_S };

/* The unit of a column whose largest cell is @ns. */
enum dw_time_unit dw_time_unit_for(uint64_t ns);

/* Append @ns in @unit, "12.345ms": no blank, so that it is one word for awk and a number for sort.
 * Nothing at all is a bare "0". */
void dw_time_unit_put(struct dw_buf *b, uint64_t ns, enum dw_time_unit unit,
		      enum dw_time_digits digits);
