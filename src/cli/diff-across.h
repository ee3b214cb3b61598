/*
 * `dwell diff` of a sampled session and an instrumented one of the same program.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct dw_diff_across {
	const char *paths[2]; /* in any order */
	const char *view;     /* functions or modules; others are refused */
	const char *format, *output;
	size_t rows; /* at most, 0 = all */
	bool all;    /* rows, also small ones */
};

/* Whether one of the two sessions has samples and the other calls. What cannot be read is neither,
 * and is told by who compares it. */
bool dw_diff_is_across(const char *const paths[2]);

/* Compare them and write that. 0 or a negative code with a line: DWELL_ERR_USAGE (the view makes no
 * sense), errors of loading, comparing and writing. */
int dw_diff_across(const struct dw_diff_across *d, struct dw_error *err);
