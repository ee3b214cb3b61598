/* Quantities as people write them; see quantity.h. */
#include "base/quantity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int dw_quantity_number(const char *s, double *ret, const char **end)
{
	char digits[32];
	size_t n = strspn(s, "0123456789.");
	char *stop;

	if (!n || n >= sizeof digits)
		return -EINVAL;
	memcpy(digits, s, n);
	digits[n] = 0;
	*ret = strtod(digits, &stop);
	*end = s + n;
	return *stop ? -EINVAL : 0;
}

int dw_quantity_time_ns(const char *s, uint64_t *ret)
{
	static const struct {
		const char *suffix;
		double ns;
	} units[] = {{"", 1e9},	 {"s", 1e9},  {"ms", 1e6},  {"us", 1e3},
		     {"ns", 1.}, {"m", 60e9}, {"h", 3600e9}};
	double v;
	const char *end;

	if (dw_quantity_number(s, &v, &end))
		return -EINVAL;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (!strcmp(end, units[i].suffix) && v * units[i].ns < 9e18) {
			*ret = (uint64_t)(v * units[i].ns + .5);
			return 0;
		}
	return -EINVAL;
}
