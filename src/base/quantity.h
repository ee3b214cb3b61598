/*
 * Quantities as people write them, on command lines and in prompts.
 */
#pragma once

#include <stdint.h>

/* Read digits with at most one point among them: no sign, exponent, hexadecimal, "nan" or "inf".
 * *@end is what stands behind. 0 or -EINVAL. */
int dw_quantity_number(const char *s, double *ret, const char **end);

/* Read a time: a bare number is seconds, else ns, us, ms, s, m, h behind it. 0 or -EINVAL. */
int dw_quantity_time_ns(const char *s, uint64_t *ret);
