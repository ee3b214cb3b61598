/* How far times of calls can be trusted. */
#pragma once

#include "model/profile.h"
#include "model/totals.h"

/*
 * How far off the time of a call may be, ns, by what the session of @p has measured: work that is
 * done while the clock is read takes no time, which is what both readings of a call take at most,
 * and the cost of probes is known no better than loops and samples agree. 0 = no calls.
 */
double dw_call_uncertainty(const struct dw_profile *p);

/* How long the program may have worked in the calls of @m themselves at most, ns, where the mean
 * one took less than @uncertain_ns, else 0. */
uint64_t dw_call_at_most(double uncertain_ns, const struct dw_measured *m);

/* Whether application times of @process (0 = of all) are upper bounds in @p: it is not known when
 * its threads were switched. */
bool dw_call_is_upper_bound(const struct dw_profile *p, uint32_t process);
