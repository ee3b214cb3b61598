/* Numbers as digits, from the last one on; see digits.h. Two at a time: a division for each is what
 * takes the time. */
#include "base/digits.h"

#include <string.h>

const char *dw_digits_decimal(uint64_t n, char ret[DWELL_DIGITS_MAX_BYTES])
{
	static const char pairs[] = "000102030405060708091011121314151617181920212223242526272829"
				    "303132333435363738394041424344454647484950515253545556575859"
				    "606162636465666768697071727374757677787980818283848586878889"
				    "90919293949596979899";
	char *at = ret + DWELL_DIGITS_MAX_BYTES - 1;

	*at = 0;
	for (; n >= 100; n /= 100)
		at = memcpy(at - 2, pairs + n % 100 * 2, 2);
	if (n >= 10)
		return memcpy(at - 2, pairs + n * 2, 2);
	*--at = (char)('0' + n);
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
