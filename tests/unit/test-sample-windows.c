/* When samples are taken: always, or in windows where threads are switched often. */
#include "check.h"
#include "collect/perf/cost-sampler.h"

#define MS 1000000ull

/* Turn for @ms, with threads that are given a processor @runs_a_s times in a second of theirs. The
 * part of that time that windows were open. */
static double open_part(struct dw_sample_windows *w, uint64_t *now, uint64_t ms, uint64_t runs_a_s,
			uint64_t cost_ns, uint32_t *ret_turns)
{
	uint64_t begin = *now, open_ns = dw_sample_windows_open_ns(w, begin);

	*ret_turns = 0;
	while (w->next_ns < begin + ms * MS) {
		*now = w->next_ns;
		if (w->is_open)
			dw_sample_windows_update(w, runs_a_s / 5, 200 * MS);
		*ret_turns += dw_sample_windows_turn(w, *now, cost_ns);
	}
	*now = begin + ms * MS;
	return (double)(dw_sample_windows_open_ns(w, *now) - open_ns) / (double)(ms * MS);
}

static bool is_near(double a, double b)
{
	return a > b * 0.9 && a < b * 1.1;
}

TEST(who_is_switched_seldom_is_sampled_always)
{
	struct dw_sample_windows w;
	uint64_t now = 5000 * MS;
	uint32_t turns;

	dw_sample_windows_begin(&w, now);
	CHECK(open_part(&w, &now, 10000, 300, 1000, &turns) > 0.9999);
	CHECK_INT(turns, 0);
	CHECK(open_part(&w, &now, 10000, 0, 1000, &turns) > 0.9999);
}

TEST(who_is_switched_often_is_sampled_in_windows)
{
	struct dw_sample_windows w;
	uint64_t now = 5000 * MS;
	uint32_t turns;

	dw_sample_windows_begin(&w, now);
	CHECK(is_near(open_part(&w, &now, 60000, 4000, 1000, &turns), 0.25));
	CHECK(turns > 1000);
	CHECK(is_near(open_part(&w, &now, 60000, 1000000, 1000, &turns), 0.1));
	/* It may end. */
	open_part(&w, &now, 1000, 300, 1000, &turns);
	CHECK(open_part(&w, &now, 10000, 300, 1000, &turns) > 0.9999);
}

/* As where a thousand threads are to be looked at. */
TEST(turning_is_a_small_part_of_all)
{
	struct dw_sample_windows w;
	uint64_t now = 5000 * MS;
	uint32_t turns;

	dw_sample_windows_begin(&w, now);
	CHECK(is_near(open_part(&w, &now, 6000000, 4000, 2 * MS, &turns), 0.25));
	CHECK(turns > 100 && turns < 6000000 / 400);
}

TEST(few_switches_cost_nothing)
{
	struct dw_sample_windows w;

	dw_sample_windows_begin(&w, 0);
	dw_sample_windows_update(&w, 50, MS);
	CHECK(w.part == 1);
	dw_sample_windows_update(&w, 1000, 100 * MS);
	CHECK(w.part < 0.11);
	dw_sample_windows_update(&w, 0, 0);
	CHECK(w.part == 1);
}

TEST(samples_stand_for_the_time_between_windows)
{
	struct dw_sample_windows w;
	struct dw_samples_seen seen = {1000 * MS, 0};
	uint64_t now = 1000 * MS;
	double part;
	uint32_t turns;

	dw_sample_windows_begin(&w, now);
	CHECK(dw_sample_windows_part(&w, &seen, now + 10 * MS) > 0.9999);
	CHECK(dw_sample_windows_part(&w, &seen, now + 10 * MS) > 0.9999);
	part = open_part(&w, &now, 30000, 4000, 1000, &turns);
	CHECK(is_near(dw_sample_windows_part(&w, &seen, now), part));
}

TEST_MAIN()
