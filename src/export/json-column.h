/* Columns of JSON documents: arrays of numbers, written as they come. */
#pragma once

#include "base/out.h"

#include <inttypes.h>

/* The next element of an array of which @n are written: a comma where one must be. */
static inline void dw_json_next(struct dw_out *out, size_t n)
{
	if (n)
		dw_out_write(out, ",", 1);
}

/* The same with the number @v. */
static inline void dw_json_number(struct dw_out *out, size_t n, uint64_t v)
{
	char digits[DWELL_DIGITS_MAX_BYTES];

	dw_json_next(out, n);
	dw_out_puts(out, dw_digits_decimal(v, digits));
}

/* The same with @v or null. */
static inline void dw_json_number_or_null(struct dw_out *out, size_t n, bool known, uint64_t v)
{
	if (known)
		return dw_json_number(out, n, v);
	dw_json_next(out, n);
	dw_out_puts(out, "null");
}

/* The same with @ns nanoseconds as milliseconds. */
static inline void dw_json_ms(struct dw_out *out, size_t n, uint64_t ns)
{
	char digits[DWELL_DIGITS_MAX_BYTES];
	uint64_t rest = ns % 1000000;

	dw_json_number(out, n, ns / 1000000);
	if (!rest)
		return;
	digits[0] = '.';
	for (int i = 6; i > 0; i--, rest /= 10)
		digits[i] = (char)('0' + rest % 10);
	dw_out_write(out, digits, 7);
}
