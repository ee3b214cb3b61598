/*
 * The shortest decimal of 15 to 17 digits that reads back as the same double, as printf's %g would
 * write it.
 *
 * Percentages, which reports are full of, are worked out exactly in 128-bit integers: v is m / 2^s,
 * and D / 10^k is its decimal of p digits when D is m * 10^k / 2^s = m * 5^k / 2^(s - k), rounded
 * to the even neighbour. D reads back as v when the two differ by less than half of v's last bit.
 * Anything else goes to printf(). Background: Steele & White, "How to print floating-point numbers
 * accurately" (1990).
 */
#include "base/out.h"
#include "format/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DIGITS_MIN = 15, /* any decimal of this many digits survives being a double */
	DIGITS_MAX = 17, /* any double survives being a decimal of this many digits */
	MANTISSA_BITS = 52,
	EXPONENT_BIAS = 1075,
	EXPONENT_FIXED_MIN = -4, /* of the first digit; smaller ones are written as such */
};

struct decimal {
	uint64_t digits;
	int places; /* behind the point */
};

#define POWERS_OF_5                                                                             \
	1u, 5u, 25u, 125u, 625u, 3125u, 15625u, 78125u, 390625u, 1953125u, 9765625u, 48828125u, \
		244140625u, 1220703125u, 6103515625ull, 30517578125ull, 152587890625ull,        \
		762939453125ull, 3814697265625ull, 19073486328125ull, 95367431640625ull,        \
		476837158203125ull, 2384185791015625ull, 11920928955078125ull,                  \
		59604644775390625ull, 298023223876953125ull, 1490116119384765625ull,            \
		7450580596923828125ull

/* 5^@n, of which 54 is the largest that 128 bits hold. */
static unsigned __int128 power_of_5(int n)
{
	static const uint64_t powers[] = {POWERS_OF_5};
	int most = (int)(sizeof powers / sizeof *powers) - 1;

	return n <= most ? powers[n] : (unsigned __int128)powers[most] * powers[n - most];
}

/* m * 10^places / 2^s, rounded. Whether it reads back as m / 2^s. */
static bool round_to(uint64_t m, int s, int places, struct decimal *ret)
{
	unsigned __int128 power = power_of_5(places), n, rest, half, off;
	uint64_t digits;

	s -= places;
	half = (unsigned __int128)1 << (s - 1);
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

/* The shortest decimal of @v, from 10^-15 to 100: as small as 128 bits hold. False: not found this
 * way. */
static bool find_shortest(double v, struct decimal *ret)
{
	static const double least[] = {10,   1,	   1e-1,  1e-2,	 1e-3,	1e-4,  1e-5,  1e-6, 1e-7,
				       1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 0};
	int whole = 2, s; /* digits before the point, less than 0 = zeros behind it */
	uint64_t bits, m;

	for (const double *at = least; v < *at; at++)
		whole--;
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

/* Write the @n digits at @digits, the first of which stands for 10^@exponent, to @ret with a NUL.
 */
static size_t put_exponent(const char *digits, int n, int exponent, char *ret)
{
	char buffer[DWELL_DIGITS_MAX_BYTES], *at = ret;

	*at++ = *digits;
	if (n > 1)
		*at++ = '.';
	at = mempcpy(at, digits + 1, (size_t)n - 1);
	at = stpcpy(at, exponent > -10 ? "e-0" : "e-");
	return (size_t)(stpcpy(at, dw_digits_decimal((uint64_t)-exponent, buffer)) - ret);
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
	if (n - 1 - d.places < EXPONENT_FIXED_MIN)
		return put_exponent(digits, n, n - 1 - d.places, ret);
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
	if (v >= 1e-15 && v < 100 && find_shortest(v, &d))
		return put_decimal(d, ret);
	for (int digits = DIGITS_MIN; digits <= DIGITS_MAX; digits++) {
		n = snprintf(ret, DWELL_DOUBLE_MAX_BYTES, "%.*g", digits, v);
		if (strtod(ret, NULL) == v)
			break;
	}
	return (size_t)n;
}
