/* Costs of probes: what samples say, as far as there are any. */
#include "check.h"
#include "collect/calls/probe-costs.h"

enum { TICKS = 1000 };

static struct dw_region_head head = {
	.probe_cost = {[DWELL_PROBE_ENTER] = 20 * DWELL_TICK_PARTS,
		       [DWELL_PROBE_LEAVE] = 30 * DWELL_TICK_PARTS,
		       [DWELL_PROBE_LINE] = 10 * DWELL_TICK_PARTS},
	.pass_cost = 8 * DWELL_TICK_PARTS,
};

/* A reading in which probes come to @looped, with @in_trampolines of @all samples. What it gives.
 */
static double read_with(struct dw_probe_costs *c, double looped, uint64_t in_trampolines,
			uint64_t all)
{
	dw_probe_costs_take(c, &head);
	dw_probe_costs_scale(c, looped,
			     &(struct dw_trampoline_samples){
				     .all = all, .in_trampolines = in_trampolines, .ticks = TICKS});
	return c->scale * looped;
}

static bool is_near(double a, double b)
{
	return a > b * 0.999 && a < b * 1.001;
}

TEST(loops_speak_where_nobody_samples)
{
	struct dw_probe_costs c = {0};

	CHECK(is_near(read_with(&c, 1e6, 0, 0), 1e6));
	CHECK(is_near(c.function.caller, 20));
	CHECK(is_near(c.function.callee, 30));
	CHECK(is_near(c.function.pass, 4));
	CHECK(is_near(c.factor, 1));
	CHECK(read_with(&c, 0, 5, 10) == 0);
	CHECK(is_near(c.scale, 1));
}

TEST(samples_say_what_probes_cost)
{
	struct dw_probe_costs c = {0};

	/* 2,000 samples' time by loops, 3,080 were seen, of which 80 were the program's work: four
	 * more speak for the loops. */
	CHECK(is_near(read_with(&c, 2e6, 3080, 8000), 2e6 * 3004 / 2004));
	CHECK(is_near(c.function.caller, 20. * 3004 / 2004));
	CHECK(is_near(c.line, 10. * 3004 / 2004));
}

TEST(few_samples_say_less)
{
	struct dw_probe_costs c = {0};

	CHECK(is_near(read_with(&c, 4e3, 8, 30), 4e3 * (12 - 0.16) / 8));
}

/* What a reading had too little the next one has more. */
TEST(readings_together_come_to_what_samples_say)
{
	struct dw_probe_costs c = {0};
	double sum = read_with(&c, 1e6, 1040, 4000);

	sum += read_with(&c, 1e6, 2040, 4000);
	sum += read_with(&c, 1e6, 1540, 4000);
	CHECK(is_near(sum, 3e6 * 4504 / 3004));
	CHECK(is_near(c.given, sum));
	CHECK_INT(c.samples, 12000);
}

/* Somebody who sees a tenth of a process has not seen that its probes take no time. */
TEST(who_sees_a_part_says_nothing)
{
	struct dw_probe_costs c = {0};

	CHECK(is_near(read_with(&c, 1e6, 0, 100), 1e6));
	CHECK_INT(c.samples, 0);
	CHECK(!dw_probe_costs_scale(&c, 1e6,
				    &(struct dw_trampoline_samples){.all = 400, .ticks = TICKS}));
	CHECK(dw_probe_costs_scale(&c, 1e6,
				   &(struct dw_trampoline_samples){.all = 600, .ticks = TICKS}));
	CHECK(dw_probe_costs_scale(&c, 0,
				   &(struct dw_trampoline_samples){.all = 1, .ticks = TICKS}));
	CHECK(!dw_probe_costs_scale(&c, 0, &(struct dw_trampoline_samples){.ticks = TICKS}));
}

TEST(costs_stay_within_bounds)
{
	struct dw_probe_costs c = {0};

	CHECK(is_near(read_with(&c, 1e6, 0, 5000), 0.25e6));
	c = (struct dw_probe_costs){0};
	CHECK(is_near(read_with(&c, 1e6, 100000, 100000), 4e6));
}

TEST_MAIN()
