/*
 * Single calls that agree with the sums of their paths.
 *
 * What probes cost is subtracted from a single call at the mean, from a path at what was found out
 * for its functions later. The two differ by as much as a tenth where calls are many and short, so
 * that a function called once took other times as a call than as a function.
 */
#pragma once

#include "model/profile.h"

/*
 * Let the slowest calls of @p, of which all slices were loaded, have the times of their path where
 * it was called once, and elsewhere no more than that. Threads that ran out of memory for paths
 * stay as they are. To do so again changes nothing. 0 or -ENOMEM.
 */
int dw_fit_slow_calls(struct dw_profile *p);
