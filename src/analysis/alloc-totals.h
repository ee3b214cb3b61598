/*
 * Totals of a session of allocations.
 */
#pragma once

#include "analysis/totals.h"

/* What dw_totals_compute() does for such a session. @ret is empty. 0; -ENOMEM; DWELL_ERR_LIMIT for
 * 2^32 pieces and more. */
int dw_alloc_totals_compute(const struct dw_profile *p, const struct dw_filter *filter,
			    unsigned parts, struct dw_totals *ret);
