/* Units of times; see units.h. */
#include "format/units.h"

static const struct {
	const char *name;
	double ns;
	int decimals[DWELL_DIGITS_CALL + 1];
} units[] = {
	[DWELL_UNIT_NS] = {"ns", 1, {0, 0, 0, 0}},
	[DWELL_UNIT_US] = {"us", 1e3, {0, 3, 3, 3}},
	[DWELL_UNIT_MS] = {"ms", 1e6, {0, 3, 3, 6}},
	[DWELL_UNIT_S] = {"s", 1e9, {3, 3, 6, 6}},
};

enum dw_time_unit dw_time_unit_for(uint64_t ns)
{
	enum dw_time_unit unit = DWELL_UNIT_NS;

	/* The largest may have four digits before the point: small ones should still be seen. */
	while (unit < DWELL_UNIT_S && (double)ns >= 10 * units[unit + 1].ns)
		unit++;
	return unit;
}

void dw_time_unit_put(struct dw_buf *b, uint64_t ns, enum dw_time_unit unit,
		      enum dw_time_digits digits)
{
	if (ns)
		dw_buf_printf(b, "%.*f%s", units[unit].decimals[digits],
			      (double)ns / units[unit].ns, units[unit].name);
	else
		dw_buf_puts(b, "0");
}
