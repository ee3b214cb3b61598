/*
 * The statistics of comparisons; see statistics.h.
 *
 * The distribution of U is that of sums of ranks over all subsets. Ranks are doubled, so that those
 * of ties are whole, and subsets are counted by size and sum. Counts are doubles: up to 2^53 they
 * are exact, and beyond that their error is far below what a p value is read for.
 */
#include "compare/statistics.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double dw_median(double *values, size_t n)
{
	if (!n)
		return 0;
	qsort(values, n, sizeof *values, by_value);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Twice the rank of @x among @n sorted values: the mean of the places that equal ones take. */
static size_t doubled_rank(const double *sorted, size_t n, double x)
{
	size_t below = 0, equal = 0;

	for (size_t i = 0; i < n; i++) {
		below += sorted[i] < x;
		equal += sorted[i] == x;
	}
	return 2 * below + equal + 1;
}

struct pooled {
	size_t n, total; /* of the first side, of both */
	size_t *rank;	 /* doubled, of the sorted values */
	size_t observed; /* sum of the first side's */
	double tied;	 /* sum of t^3 - t over groups of equal values */
};

static bool pool(struct pooled *p, const double *a, size_t n, const double *b, size_t m)
{
	double *sorted = malloc((n + m) * sizeof *sorted);

	*p = (struct pooled){.n = n, .total = n + m, .rank = malloc((n + m) * sizeof *p->rank)};
	if (!sorted || !p->rank) {
		free(sorted);
		return false;
	}
	for (size_t i = 0; i < n + m; i++)
		sorted[i] = i < n ? a[i] : b[i - n];
	qsort(sorted, n + m, sizeof *sorted, by_value);
	for (size_t i = 0; i < n; i++)
		p->observed += doubled_rank(sorted, n + m, a[i]);
	for (size_t i = 0; i < n + m; i++) {
		size_t same = 0;

		p->rank[i] = doubled_rank(sorted, n + m, sorted[i]);
		for (size_t j = 0; j < n + m; j++)
			same += sorted[j] == sorted[i];
		p->tied += (double)(same * same) - 1;
	}
	free(sorted);
	return true;
}

/* Count the subsets of @n ranks by their sum: @ret[sum], of which there are @sums. */
static bool count_subsets(const struct pooled *p, size_t n, size_t sums, double *ret)
{
	double *ways = calloc((n + 1) * sums, sizeof *ways); /* by size, then sum */

	if (!ways)
		return false;
	ways[0] = 1;
	for (size_t i = 0; i < p->total; i++)
		for (size_t k = i < n ? i + 1 : n; k; k--)
			for (size_t sum = sums; sum-- > p->rank[i];)
				ways[k * sums + sum] += ways[(k - 1) * sums + sum - p->rank[i]];
	for (size_t sum = 0; sum < sums; sum++)
		ret[sum] = ways[n * sums + sum];
	free(ways);
	return true;
}

static double p_by_enumeration(const struct pooled *p)
{
	size_t sums = p->total * (p->total + 1) + 1;
	double *ways = malloc(sums * sizeof *ways), below = 0, above = 0, all = 0, tail;

	if (!ways || !count_subsets(p, p->n, sums, ways)) {
		free(ways);
		return 1;
	}
	for (size_t sum = 0; sum < sums; sum++) {
		all += ways[sum];
		below += sum <= p->observed ? ways[sum] : 0;
		above += sum >= p->observed ? ways[sum] : 0;
	}
	free(ways);
	tail = 2 * (below < above ? below : above) / all;
	return tail < 1 ? tail : 1;
}

static double p_by_normal(const struct pooled *p)
{
	double n = (double)p->n, total = (double)p->total, m = total - n;
	double mean = n * (total + 1) / 2, off = fabs((double)p->observed / 2 - mean) - .5;
	double variance = n * m / 12 * (total + 1 - p->tied / (total * (total - 1)));

	if (variance <= 0 || off <= 0)
		return 1;
	return erfc(off / sqrt(2 * variance));
}

double dw_mann_whitney_p(const double *a, size_t n, const double *b, size_t m)
{
	struct pooled p;
	double ret = 1;

	if (!n || !m)
		return 1;
	if (pool(&p, a, n, b, m))
		ret = p.total <= DWELL_RUNS_EXACT_MAX ? p_by_enumeration(&p) : p_by_normal(&p);
	free(p.rank);
	return ret;
}

/* Beyond what is enumerated. */
static size_t outside_by_normal(size_t n, size_t m)
{
	double pairs = (double)(n * m), deviation = sqrt(pairs * (double)(n + m + 1) / 12);

	return (size_t)fmax(0, floor(pairs / 2 - 1.959964 * deviation));
}

/* The largest k with P(U < k) <= 2.5 %. */
size_t dw_shift_outside(size_t n, size_t m)
{
	struct pooled p = {.n = n, .total = n + m};
	size_t sums = p.total * (p.total + 1) / 2 + 1, least = n * (n + 1) / 2, k = 0;
	double *ways, all = 0, below = 0;

	if (!n || !m)
		return 0;
	if (p.total > DWELL_RUNS_EXACT_MAX)
		return outside_by_normal(n, m);
	p.rank = calloc(p.total, sizeof *p.rank);
	ways = malloc(sums * sizeof *ways);
	for (size_t i = 0; p.rank && i < p.total; i++)
		p.rank[i] = i + 1;
	if (ways && p.rank && count_subsets(&p, n, sums, ways)) {
		for (size_t sum = least; sum < sums; sum++)
			all += ways[sum];
		while (below + ways[least + k] <= .025 * all)
			below += ways[least + k++];
	}
	free(ways);
	free(p.rank);
	return k;
}

bool dw_shift_estimate(const double *a, size_t n, const double *b, size_t m, size_t outside,
		       struct dw_shift *ret)
{
	static const double none;
	double *differences;

	a = n ? a : &none;
	b = m ? b : &none;
	n = n ? n : 1;
	m = m ? m : 1;
	differences = malloc(n * m * sizeof *differences);
	if (!differences)
		return false;
	for (size_t i = 0; i < n * m; i++)
		differences[i] = b[i % m] - a[i / m];
	ret->median = dw_median(differences, n * m);
	ret->low = outside ? differences[outside - 1] : -INFINITY;
	ret->high = outside ? differences[n * m - outside] : INFINITY;
	free(differences);
	return true;
}

struct test {
	double p;
	size_t place;
};

static int by_p(const void *a, const void *b)
{
	return by_value(&((const struct test *)a)->p, &((const struct test *)b)->p);
}

bool dw_adjust_p(double *p, size_t n)
{
	struct test *tests = malloc((n + 1) * sizeof *tests);
	double least = 1;

	if (!tests)
		return false;
	for (size_t i = 0; i < n; i++)
		tests[i] = (struct test){p[i], i};
	qsort(tests, n, sizeof *tests, by_p);
	for (size_t i = n; i--;) {
		double adjusted = tests[i].p * (double)n / (double)(i + 1);

		least = adjusted < least ? adjusted : least;
		p[tests[i].place] = least;
	}
	free(tests);
	return true;
}

bool dw_runs_suffice(size_t n, size_t m, size_t tests)
{
	double ways = 1; /* C(n + m, n) */

	for (size_t i = 1; i <= n; i++)
		ways *= (double)(m + i) / (double)i;
	return 2 * (double)(tests ? tests : 1) <= DWELL_SIGNIFICANCE * ways;
}

size_t dw_runs_wanted(size_t tests)
{
	size_t n = 1;

	while (!dw_runs_suffice(n, n, tests))
		n++;
	return n;
}
