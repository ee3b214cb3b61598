/*
 * Totals of calls; see model/calls.h for what was measured and model/totals.h for the rows.
 */
#pragma once

#include "analysis/totals.h"

/* As dw_totals_compute(), of the calls of @p. @ret is empty. */
int dw_call_totals_compute(const struct dw_profile *p, const struct dw_filter *filter,
			   unsigned parts, struct dw_totals *ret);
