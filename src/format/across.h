/*
 * A sampled session beside an instrumented one as text: in words with a table, and for machines.
 */
#pragma once

#include "base/out.h"
#include "compare/across.h"

#include <stdbool.h>
#include <stddef.h>

struct dw_across_job {
	const struct dw_across *across;
	const char *paths[DWELL_ACROSS_SIDES];
	bool all;     /* rows that are small and no different, too */
	size_t rows;  /* at most these many, 0 = all */
	size_t width; /* columns of the terminal; 0 = as wide as it gets */
};

/* Write @job as the format called @format, one of those of dw_diff_formats. */
void dw_across_write(const struct dw_across_job *job, const char *format, struct dw_out *out);
