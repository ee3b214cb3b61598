/*
 * Which differences are real, and what they are made of.
 *
 * A count that all runs of each side agree on is exact: any difference is real. Times, and counts
 * that vary, are tested over the runs, where a row has at least 1 % of all. With one run a side
 * nothing can be tested; of sampled sessions the error of sampling is a lower bound of what chance
 * does.
 */
#pragma once

#include "compare/comparison.h"

#define DWELL_TESTED_PCT 1. /* of the pooled main column, from which on rows are tested */

/* What one column of a row has on both sides. */
struct dw_change {
	double base, now; /* medians over the runs */
	double least[DWELL_SIDES], most[DWELL_SIDES];
	struct dw_shift shift; /* with one run a side: the plain difference, by the sampling error
				  +-INFINITY or what that makes of it */
	double p;	       /* of the U test, not adjusted; 1 with too few runs */
	bool is_exact;	       /* a count that the runs of each side agree on */
};

/* What @column (an index) of @row has. False without memory. */
bool dw_change_get(const struct dw_comparison *c, size_t row, size_t column, struct dw_change *ret);

/* A difference of the main column in two parts: what more or fewer calls make, each at the old
 * cost; and what the new ones cost more or less. Where calls are not counted, or there were none,
 * all is in one part. */
struct dw_story {
	double by_calls, by_cost;
};

/* The parts of the change of @time with @calls (NULL = not counted). */
struct dw_story dw_story_of(const struct dw_change *time, const struct dw_change *calls);

/* Decide about all rows. 0 or -ENOMEM. */
int dw_comparison_decide(struct dw_comparison *c);

/* Whether runs that are compared are enough to tell anything of @tests rows. */
bool dw_comparison_has_runs(const struct dw_comparison *c, size_t tests);
