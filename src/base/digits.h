/*
 * Numbers as digits, without printf(), which is a third of the time of a large report otherwise.
 *
 * The digits lie at the end of the caller's array. Pure functions.
 */
#pragma once

#include <stdint.h>

enum { DWELL_DIGITS_MAX_BYTES = 24 };

/* The decimal digits of @n in @ret, NUL-terminated. Returns where they start in it. */
const char *dw_digits_decimal(uint64_t n, char ret[DWELL_DIGITS_MAX_BYTES]);

/* "0x" and the hexadecimal digits of @n in @ret. Returns where that starts in it. */
const char *dw_digits_hex(uint64_t n, char ret[DWELL_DIGITS_MAX_BYTES]);
