/*
 * Bytes of perf's rings in, rows of the profile out.
 *
 * The seam between the kernel's rings and the rest: tests and fuzzing feed it with bytes of their
 * own.
 */
#pragma once

#include "collect/sampled/intake.h"

#include <stdbool.h>
#include <stddef.h>

/* Have the processor fetch what dw_intake_record() will read of the sample @p of @n bytes; other
 * records are ignored. */
void dw_intake_ahead(struct dw_intake *in, const void *p, size_t n);

/* Take in the record @p of @n bytes, @side: from a side-band ring. 0 or -ENOMEM. */
int dw_intake_record(struct dw_intake *in, const void *p, size_t n, bool side);
