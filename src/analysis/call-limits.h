/*
 * What rows of calls have at most, and at least.
 */
#pragma once

#include "analysis/flat.h"
#include "model/call-values.h"

/*
 * Of cells, inclusive and exclusive times are measured apart: what probes cost of both is an
 * estimate, so a row could seem to have more than its process, or less than its own. A function
 * that calls itself from two places is found twice on an edge: that has no more than all calls of
 * the callee, and of the caller.
 *
 * Let no row of @f, which has all of a process, have more than @all. 0 or -ENOMEM.
 */
int dw_call_limits_apply(struct dw_flat *f, const struct dw_call_values *all);
