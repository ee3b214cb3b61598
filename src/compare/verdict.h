/*
 * Which differences are real, and what they are made of.
 *
 * A count that all runs of each side agree on is exact: any difference is real. Times, and counts
 * that vary, are tested over the runs, where a row has at least 1 % of all. Where the runs are too
 * few to tell one difference among so many tests from chance, one run a side among them, a row is
 * told that differs by much and in all runs, as not tested; of sampled sessions by more than the
 * error of sampling, which is a lower bound of what chance does.
 */
#pragma once

#include "compare/comparison.h"

#define DWELL_TESTED_PCT 1. /* of all, from which on rows are tested */

/* What one column of a row has on both sides. */
struct dw_change {
	size_t n[DWELL_SIDES]; /* runs that have it */
	double base, now;      /* medians over them */
	double least[DWELL_SIDES], most[DWELL_SIDES];
	bool is_exact; /* a count that the runs of each side agree on */
};

/* What @column (an index) of @row has. */
struct dw_change dw_change_get(const struct dw_comparison *c, size_t row, size_t column);

/* Whether the difference of @column, an index, is exact: runs of each side agree on the count, or
 * all runs of one side alone have any. */
bool dw_change_is_counted(const struct dw_comparison *c, size_t column,
			  const struct dw_change *change);

/* By how much @column of @row is above the base. With one run a side, or for a count that runs
 * agree on, the plain difference. False without memory. */
bool dw_change_shift(const struct dw_comparison *c, size_t row, size_t column,
		     struct dw_shift *ret);

/* The U test of @column of @row: p, not adjusted, and the shift's median. False without memory. */
bool dw_change_test(const struct dw_comparison *c, size_t row, size_t column, double *ret_p,
		    double *ret_shift);

/* Whether @row is to be tested in @column, whatever its difference: it has at least 1 % of that
 * column or of the main one, of all runs together. */
bool dw_comparison_is_large(const struct dw_comparison *c, size_t row, size_t column);

/* What the main column of @row is judged by: what a call costs, where calls are counted on both
 * sides, else all of it; and by how much that is above the base, the shift's median. False without
 * memory. */
bool dw_change_judged(const struct dw_comparison *c, size_t row, struct dw_change *ret,
		      double *ret_shift, bool *ret_each);

/* @more in percent of @base, INFINITY of nothing. */
double dw_change_pct(double base, double more);

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
