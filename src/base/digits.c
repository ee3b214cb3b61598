/* Numbers as digits, from the last one on; see digits.h. */
#include "base/digits.h"

const char *dw_digits_decimal(uint64_t n, char ret[DWELL_DIGITS_MAX_BYTES])
{
	char *at = ret + DWELL_DIGITS_MAX_BYTES - 1;

	*at = 0;
	do
		*--at = (char)('0' + n % 10);
	while (n /= 10);
	return at;
}

const char *dw_digits_hex(uint64_t n, char ret[DWELL_DIGITS_MAX_BYTES])
{
	char *at = ret + DWELL_DIGITS_MAX_BYTES - 1;

	*at = 0;
	do
		*--at = "0123456789abcdef"[n % 16];
	while (n /= 16);
	*--at = 'x';
	*--at = '0';
	return at;
}
