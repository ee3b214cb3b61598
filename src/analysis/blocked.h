/*
 * Blocked time beside samples, while they are counted: trees and tallies count a wait like a
 * sample, so that what only waits is there, too, and keep here how long it was and how many of
 * the samples are none.
 */
#pragma once

#include "model/totals.h"

struct dw_blocked {
	struct dw_values ns;
	struct dw_values waits; /* among the samples of the same row */
};

/* Add all of @more to @sum. */
static inline void dw_blocked_add_inclusive(struct dw_blocked *sum, const struct dw_blocked *more)
{
	sum->ns.inclusive += more->ns.inclusive;
	sum->waits.inclusive += more->waits.inclusive;
}

/* Likewise what is @more's own. */
static inline void dw_blocked_add_exclusive(struct dw_blocked *sum, const struct dw_blocked *more)
{
	sum->ns.exclusive += more->ns.exclusive;
	sum->waits.exclusive += more->waits.exclusive;
}
