/* Statistics of comparisons, against what scipy says of random cases
 * (tests/tools/make-statistics.py). */
#include "check.h"
#include "compare/statistics.h"

#include <math.h>

enum { VALUES_MAX = 16, CASES_LEAST = 1000 };

/* Read numbers up to '|' or the end of the line. */
static size_t read_values(char **at, double *ret)
{
	size_t n = 0;

	do
		ret[n++] = strtod(*at, at);
	while (*(*at)++ == ',');
	return n;
}

static bool is_near(double got, double want)
{
	return got == want || fabs(got - want) < 1e-8;
}

TEST(thousand_random_cases_agree_with_scipy)
{
	FILE *f = fopen(DWELL_SOURCE_ROOT "/tests/data/statistics.txt", "r");
	size_t cases = 0, intervals = 0;
	char line[512];

	CHECK(f);
	while (fgets(line, sizeof line, f) && strncmp(line, "fdr ", 4) != 0) {
		double a[VALUES_MAX], b[VALUES_MAX], p, shift;
		struct dw_shift got;
		char *at = line;
		size_t n = read_values(&at, a), m = read_values(&at, b);

		read_values(&at, &p);
		read_values(&at, &shift);
		CHECK(is_near(dw_mann_whitney_p(a, n, b, m), p));
		CHECK(is_near(dw_mann_whitney_p(b, m, a, n), p));
		CHECK(dw_shift_estimate(a, n, b, m, dw_shift_outside(n, m), &got));
		CHECK(is_near(got.median, shift));
		if (strncmp(at, "-|", 2) != 0) {
			CHECK(is_near(got.low, strtod(at, &at)));
			CHECK(is_near(got.high, strtod(at + 1, &at)));
			intervals++;
		}
		cases++;
	}
	fclose(f);
	CHECK_INT(cases, CASES_LEAST);
	CHECK(intervals > CASES_LEAST / 4);
}

TEST(adjusted_values_agree_with_their_definition)
{
	FILE *f = fopen(DWELL_SOURCE_ROOT "/tests/data/statistics.txt", "r");
	size_t cases = 0;
	char line[512];

	CHECK(f);
	while (fgets(line, sizeof line, f)) {
		double p[VALUES_MAX], want[VALUES_MAX];
		char *at = line + 4;
		size_t n;

		if (strncmp(line, "fdr ", 4) != 0)
			continue;
		n = read_values(&at, p);
		CHECK_INT(read_values(&at, want), n);
		CHECK(dw_adjust_p(p, n));
		for (size_t i = 0; i < n; i++)
			CHECK(is_near(p[i], want[i]));
		cases++;
	}
	fclose(f);
	CHECK_INT(cases, 50);
}

TEST(runs_that_are_wanted)
{
	CHECK_INT(dw_runs_wanted(0), 4);
	CHECK_INT(dw_runs_wanted(1), 4);
	CHECK_INT(dw_runs_wanted(23), 6);
	CHECK_INT(dw_runs_wanted(24), 7);
	CHECK_INT(dw_runs_wanted(321), 8);
	CHECK_INT(dw_runs_wanted(4600), 10);
	/* Sides may differ: 2 / C(23, 3) = 2 / 1771. */
	CHECK(dw_runs_suffice(3, 20, 44) && !dw_runs_suffice(3, 20, 45));
	CHECK(!dw_runs_suffice(3, 3, 1) && !dw_runs_suffice(1, 38, 1) && dw_runs_suffice(1, 39, 1));
}

/* Where nothing can be told, nothing is claimed. */
TEST(sides_without_values_and_equal_ones)
{
	const double same[] = {5, 5, 5, 5}, more[] = {7, 8};
	struct dw_shift shift;

	CHECK(dw_mann_whitney_p(same, 0, more, 2) == 1);
	CHECK(dw_mann_whitney_p(same, 4, same, 4) == 1);
	CHECK(dw_shift_estimate(NULL, 0, more, 2, dw_shift_outside(0, 2), &shift));
	CHECK(shift.median == 7.5 && isinf(shift.low) && isinf(shift.high));
	CHECK(dw_shift_estimate(same, 4, same, 4, dw_shift_outside(4, 4), &shift));
	CHECK(shift.median == 0 && shift.low == 0 && shift.high == 0);
}

/* Too many for enumeration; the values are scipy's. */
TEST(many_runs_go_by_the_normal_distribution)
{
	double a[40], b[40];

	for (size_t i = 0; i < 40; i++) {
		a[i] = (double)(i * 37 % 101);
		b[i] = (double)(i * 53 % 101) + 9;
	}
	CHECK(is_near(dw_mann_whitney_p(a, 31, b, 30), .6546909627));
	for (size_t i = 0; i < 40; i++) {
		a[i] = (double)(i % 7);
		b[i] = (double)(i % 5) + 3;
	}
	CHECK(is_near(dw_mann_whitney_p(a, 40, b, 35), 1.350112846e-05));
	CHECK(dw_mann_whitney_p(a, 40, a, 40) == 1);
}

TEST_MAIN()
