/*
 * The shortest decimal of 15 to 17 digits that reads back as the same double, as printf's %g would
 * write it.
 *
 * Percentages, which reports are full of, are worked out exactly in 128-bit integers: v is m / 2^s,
 * and D / 10^k is its decimal of p digits when D is m * 10^k / 2^s, rounded to the even neighbour.
 * D reads back as v when the two differ by less than half of v's last bit. Anything else goes to
 * printf(). Background: Steele & White, "How to print floating-point numbers accurately" (1990).
 */
#include "base/digits.h"
#include "format/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DIGITS_MIN = 15, /* any decimal of this many digits survives being a double */
	DIGITS_MAX = 17, /* any double survives being a decimal of this many digits */
	MANTISSA_BITS = 52,
	EXPONENT_BIAS = 1075,
};

struct decimal {
	uint64_t digits;
	int places; /* behind the point */
};

/* m * 10^places / 2^s, rounded. Whether it reads back as m / 2^s. */
static bool round_to(uint64_t m, int s, int places, struct decimal *ret)
{
	unsigned __int128 power = 1, n, rest, half = (unsigned __int128)1 << (s - 1), off;
	uint64_t digits;

	for (int i = 0; i < places; i++)
		power *= 10;
	n = m * power;
	digits = (uint64_t)(n >> s);
	rest = n & (2 * half - 1);
	off = rest;
	if (rest > half || (rest == half && digits & 1)) {
		digits++;
		off = 2 * half - rest;
	}
	*ret = (struct decimal){digits, places};
	return 2 * off < power || (2 * off == power && !(m & 1));
}

/* The shortest decimal of @v, from 0.0001 to 100. False: not found this way. */
static bool find_shortest(double v, struct decimal *ret)
{
	int whole = v >= 10 ? 2 : v >= 1 ? 1 : v >= .1 ? 0 : v >= .01 ? -1 : v >= .001 ? -2 : -3;
	uint64_t bits, m;
	int s;

	memcpy(&bits, &v, sizeof bits);
	m = bits & ((1ull << MANTISSA_BITS) - 1);
	s = EXPONENT_BIAS - (int)(bits >> MANTISSA_BITS);
	if (!m)
		return false; /* a power of two: its lower neighbour is nearer */
	m |= 1ull << MANTISSA_BITS;
	for (int digits = DIGITS_MIN; digits <= DIGITS_MAX; digits++)
		if (round_to(m, s, digits - whole, ret))
			return true;
	return false;
}

/* Write @d to @ret with a NUL. Returns the bytes before it. */
static size_t put_decimal(struct decimal d, char *ret)
{
	char buffer[DWELL_DIGITS_MAX_BYTES], *at = ret;
	const char *digits;
	int n;

	for (; d.places && d.digits % 10 == 0; d.places--)
		d.digits /= 10;
	digits = dw_digits_decimal(d.digits, buffer);
	n = (int)strlen(digits);
	if (d.places < n) {
		at = mempcpy(at, digits, (size_t)(n - d.places));
		digits += n - d.places;
	} else {
		*at++ = '0';
	}
	if (d.places)
		*at++ = '.';
	for (; n < d.places; n++)
		*at++ = '0';
	return (size_t)(stpcpy(at, digits) - ret);
}

size_t dw_format_double(double v, char ret[DWELL_DOUBLE_MAX_BYTES])
{
	struct decimal d;
	int n = 0;

	if (v >= 0 && v < 1e15 && v == (double)(uint64_t)v)
		return put_decimal((struct decimal){(uint64_t)v, 0}, ret);
	if (v >= .0001 && v < 100 && find_shortest(v, &d))
		return put_decimal(d, ret);
	for (int digits = DIGITS_MIN; digits <= DIGITS_MAX; digits++) {
		n = snprintf(ret, DWELL_DOUBLE_MAX_BYTES, "%.*g", digits, v);
		if (strtod(ret, NULL) == v)
			break;
	}
	return (size_t)n;
}
