/* What is switched off for a limit of overhead. */
#include "check.h"
#include "collect/calls/overhead.h"

#include <math.h>

enum { MAX = 100, SMALL = 1, HOT, WARM, HEAVY, SELDOM };

/* A second of a program: tiny functions that are called all the time, and one that computes. */
static void add_all(bool *check_failed, struct dw_overhead *o)
{
	CHECK_INT(dw_overhead_add(o, SMALL, 2e6, 1e6), 0);
	CHECK_INT(dw_overhead_add(o, HOT, 900e6, 100e6), 0);
	CHECK_INT(dw_overhead_add(o, WARM, 90e6, 100e6), 0);
	CHECK_INT(dw_overhead_add(o, HEAVY, 1e6, 800e6), 0);
}

TEST(what_measures_least_goes_first)
{
	struct dw_overhead o = {.limit = .3};

	add_all(check_failed, &o);
	CHECK_INT(dw_overhead_decide(&o, 1e6, MAX), 0);
	CHECK_INT(o.disabled.n, 1);
	CHECK_INT(o.disabled.v[0], HOT);
	dw_overhead_release(&o);
}

TEST(goes_on_until_the_rest_is_little)
{
	struct dw_overhead o = {.limit = .05};

	add_all(check_failed, &o);
	CHECK_INT(dw_overhead_decide(&o, 1e6, MAX), 0);
	CHECK_INT(o.disabled.n, 3);
	CHECK_INT(o.disabled.v[0], HOT);
	CHECK_INT(o.disabled.v[1], SMALL);
	CHECK_INT(o.disabled.v[2], WARM);
	dw_overhead_release(&o);
}

TEST(what_is_hopeless_goes_too)
{
	struct dw_overhead o = {.limit = .3};

	add_all(check_failed, &o);
	CHECK_INT(dw_overhead_add(&o, SELDOM, 1e6, .4e6), 0);
	CHECK_INT(dw_overhead_decide(&o, 1e6, MAX), 0);
	CHECK_INT(o.disabled.n, 2);
	CHECK_INT(o.disabled.v[0], HOT);
	CHECK_INT(o.disabled.v[1], SELDOM);
	dw_overhead_release(&o);
}

TEST(what_costs_next_to_nothing_stays)
{
	struct dw_overhead o = {.limit = .05};

	add_all(check_failed, &o);
	CHECK_INT(dw_overhead_add(&o, SELDOM, 1e3, 0), 0);
	CHECK_INT(dw_overhead_decide(&o, 1e6, MAX), 0);
	CHECK_INT(o.disabled.n, 3);
	CHECK_INT(o.disabled.v[0], HOT);
	dw_overhead_release(&o);
}

TEST(within_the_limit_nothing_goes)
{
	struct dw_overhead o = {.limit = 2};

	add_all(check_failed, &o);
	CHECK_INT(dw_overhead_decide(&o, 1e6, MAX), 0);
	CHECK_INT(o.disabled.n, 0);
	dw_overhead_release(&o);
}

/* It was measured as the program's time, and displaces little: half of it counts as probes. */
TEST(counting_is_in_the_limit)
{
	for (int counts = 0; counts < 2; counts++) {
		struct dw_overhead o = {.limit = .3};

		CHECK_INT(dw_overhead_add(&o, WARM, 90e6, 100e6), 0);
		CHECK_INT(dw_overhead_add(&o, HEAVY, 1e6, 800e6), 0);
		dw_overhead_count(&o, counts * 150e6);
		CHECK_INT(dw_overhead_decide(&o, 1e6, MAX), 0);
		CHECK_INT(o.disabled.n, counts);
		/* Later it is owed. */
		CHECK_INT(dw_overhead_add(&o, SMALL, 90e6, 100e6), 0);
		CHECK_INT(dw_overhead_add(&o, HEAVY, 1e6, 800e6), 0);
		CHECK_INT(dw_overhead_decide(&o, 1e6, MAX), 0);
		CHECK_INT(o.disabled.n, 2 * counts);
		dw_overhead_release(&o);
	}
}

TEST(decisions_are_made_of_what_came_since_the_last)
{
	struct dw_overhead o = {.limit = .3};

	add_all(check_failed, &o);
	CHECK_INT(dw_overhead_decide(&o, 1e12, MAX), 0); /* too little to decide by */
	CHECK_INT(o.disabled.n, 0);
	CHECK_INT(dw_overhead_decide(&o, 1e6, MAX), 0);
	CHECK_INT(o.disabled.n, 1);
	/* What was disabled may have calls that were under way: they count no more. */
	CHECK_INT(dw_overhead_add(&o, HOT, 900e6, 1), 0);
	CHECK_INT(dw_overhead_add(&o, HEAVY, 1e6, 800e6), 0);
	CHECK_INT(dw_overhead_decide(&o, 1e6, MAX), 0);
	CHECK_INT(o.disabled.n, 1);
	CHECK_INT(dw_overhead_add(&o, WARM, 900e6, 100e6), 0);
	CHECK_INT(dw_overhead_add(&o, HEAVY, 1e6, 800e6), 0);
	CHECK_INT(dw_overhead_decide(&o, 1e6, MAX), 0);
	CHECK_INT(o.disabled.n, 2);
	CHECK_INT(o.disabled.v[1], WARM);
	dw_overhead_release(&o);
}

TEST(what_was_too_much_is_paid_back)
{
	struct dw_overhead o = {.limit = .3};

	add_all(check_failed, &o);
	CHECK_INT(dw_overhead_decide(&o, 1e6, MAX), 0);
	CHECK_INT(o.disabled.n, 1);
	/* Alone this would be within the limit. */
	CHECK_INT(dw_overhead_add(&o, WARM, 90e6, 100e6), 0);
	CHECK_INT(dw_overhead_add(&o, HEAVY, 1e6, 800e6), 0);
	CHECK_INT(dw_overhead_decide(&o, 1e6, MAX), 0);
	CHECK_INT(o.disabled.n, 2);
	CHECK_INT(o.disabled.v[1], WARM);
	/* Much later it is forgotten. */
	CHECK_INT(dw_overhead_add(&o, HEAVY, 1e6, 100e9), 0);
	CHECK_INT(dw_overhead_decide(&o, 1e6, MAX), 0);
	CHECK_INT(dw_overhead_add(&o, SMALL, 90e6, 100e6), 0);
	CHECK_INT(dw_overhead_add(&o, HEAVY, 1e6, 800e6), 0);
	CHECK_INT(dw_overhead_decide(&o, 1e6, MAX), 0);
	CHECK_INT(o.disabled.n, 2);
	dw_overhead_release(&o);
}

TEST(nobody_is_never_disabled)
{
	struct dw_overhead o = {.limit = .01};

	CHECK_INT(dw_overhead_add(&o, 0, 900e6, 1e6), 0);
	CHECK_INT(dw_overhead_add(&o, HEAVY, 0, 100e6), 0);
	CHECK_INT(dw_overhead_decide(&o, 1e6, MAX), 0);
	CHECK_INT(o.disabled.n, 0);
	dw_overhead_release(&o);
}

TEST(what_was_left_is_not_disabled_again)
{
	struct dw_overhead o = {.limit = .3};

	CHECK_INT(dw_overhead_leave(&o, HOT), 0);
	add_all(check_failed, &o);
	CHECK_INT(dw_overhead_decide(&o, 1e6, MAX), 0);
	CHECK_INT(o.disabled.n, 0);
	CHECK(dw_overhead_is_disabled(&o, HOT));
	dw_overhead_release(&o);
}

TEST(worth_and_waste_are_of_the_whole_run)
{
	struct dw_overhead o = {.limit = .3};

	for (int i = 0; i < 3; i++) {
		CHECK_INT(dw_overhead_add(&o, SMALL, 2e6, .5e6), 0);
		CHECK_INT(dw_overhead_add(&o, SELDOM, 2, 1), 0);
		CHECK_INT(dw_overhead_add(&o, WARM, 10e6, 20e6), 0);
		CHECK_INT(dw_overhead_add(&o, HEAVY, 1e6, 800e6), 0);
		CHECK_INT(dw_overhead_decide(&o, 1e6, MAX), 0);
	}
	CHECK_INT(o.disabled.n, 0);
	CHECK(dw_overhead_is_worth(&o, HEAVY));
	CHECK(!dw_overhead_is_worth(&o, WARM));
	CHECK(!dw_overhead_is_worth(&o, HOT)); /* never seen */
	dw_vec_each(c, &o.calls)
		CHECK_INT(dw_overhead_is_waste(&o, c), c->key == SMALL);
	dw_overhead_release(&o);
}

TEST(there_is_an_end)
{
	struct dw_overhead o = {.limit = .001};

	CHECK_INT(dw_overhead_inherit(&o, 7), 0);
	CHECK_INT(dw_overhead_inherit(&o, 7), 0);
	CHECK_INT(o.disabled.n, 1);
	for (uint32_t i = 1; i <= 2 * MAX; i++)
		CHECK_INT(dw_overhead_add(&o, i, 1e6, 1e3), 0);
	CHECK_INT(dw_overhead_decide(&o, 1e6, MAX), 0);
	CHECK_INT(o.disabled.n, MAX);
	dw_overhead_release(&o);
}

TEST(odd_numbers_do_no_harm)
{
	struct dw_overhead o = {.limit = .3};

	CHECK_INT(dw_overhead_add(&o, HOT, NAN, -1e300), 0);
	CHECK_INT(dw_overhead_add(&o, WARM, INFINITY, INFINITY), 0);
	CHECK_INT(dw_overhead_add(&o, SMALL, 1e308, 1e-308), 0);
	CHECK_INT(dw_overhead_add(&o, SMALL, 1e308, 1e308), 0);
	CHECK_INT(dw_overhead_decide(&o, 0, MAX), 0);
	CHECK(o.disabled.n <= 3);
	dw_overhead_release(&o);
}

TEST_MAIN()
