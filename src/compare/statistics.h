/*
 * Are two sets of runs different, and by how much? Few runs, no assumption on how times scatter.
 *
 * All functions are [any-thread] and keep no state.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
	DWELL_RUNS_MAX = 50,	   /* a side, of what is compared */
	DWELL_RUNS_EXACT_MAX = 60, /* of both sides together: p by enumeration up to there */
};

#define DWELL_SIGNIFICANCE .05

/*
 * The two-sided p value of Mann and Whitney's U for @n values at @a and @m at @b: twice the smaller
 * tail, at most 1. Exact, that is, the share of all ways to deal the pooled ranks to the two sides;
 * equal values share their mean rank. Of more than DWELL_RUNS_EXACT_MAX values by the normal
 * distribution, corrected for ties and continuity. 1 where a side is empty; also without memory.
 */
double dw_mann_whitney_p(const double *a, size_t n, const double *b, size_t m);

/* By how much @b is above @a: the median of all differences, and an interval that holds it with 95
 * %; +-INFINITY where there are too few values for one. */
struct dw_shift {
	double median, low, high;
};

/*
 * The shift of Hodges and Lehmann with the interval that belongs to the U test (of values without
 * ties). A side without values counts as one of 0. False without memory.
 * @outside  dw_shift_outside(@n, @m); 0 = no interval is wanted
 */
bool dw_shift_estimate(const double *a, size_t n, const double *b, size_t m, size_t outside,
		       struct dw_shift *ret);

/* How many of the differences between @n and @m values are below the interval of their shift, and
 * as many above it. 0 = there are too few for one. */
size_t dw_shift_outside(size_t n, size_t m);

/* The median of the @n @values, which it puts in order. 0 of none. */
double dw_median(double *values, size_t n);

/* Adjust the @n values @p of as many tests for their number, as Benjamini and Hochberg do: those up
 * to .05 then are differences of which 5 % are false. False without memory. */
bool dw_adjust_p(double *p, size_t n);

/* Whether @n and @m runs are enough for one difference among @tests to be significant: 2 / C(n + m,
 * n) <= .05 / @tests. */
bool dw_runs_suffice(size_t n, size_t m, size_t tests);

/* The fewest runs a side that suffice for @tests. */
size_t dw_runs_wanted(size_t tests);
