/* Functions' times by probes and by samples. */
#include "check.h"
#include "collect/calls/probe-costs.h"

enum { SHORT = 1, LONG, SEEN, TICKS = 1000 };

struct node {
	uint64_t key;
	double time, cost;
	uint32_t samples;
};

/* A reading of @n nodes, one of each function; costs become what they are then. */
static int read_all(struct dw_fit *f, struct node *nodes, size_t n)
{
	int rc = 0;

	dw_fit_begin(f);
	for (size_t i = 0; i < n; i++) {
		rc |= dw_fit_add(f, nodes[i].key, nodes[i].time, nodes[i].cost);
		for (uint32_t k = 0; k < nodes[i].samples; k++)
			rc |= dw_fit_sample(f, nodes[i].key, TICKS);
	}
	dw_fit_solve(f, TICKS);
	for (size_t i = 0; i < n; i++)
		nodes[i].cost = dw_fit_cost(f, nodes[i].key, nodes[i].cost);
	return rc;
}

TEST(short_calls_are_as_samples_say)
{
	struct node nodes[] = {{SHORT, 3e6, 2.8e6, 500}, {SEEN, 3e6, 2.2e6, 500}};
	struct dw_fit f = {0};

	CHECK_INT(read_all(&f, nodes, 2), 0);
	CHECK(nodes[0].cost > 2.5e6 && nodes[0].cost < 2.52e6);
	CHECK(nodes[0].cost + nodes[1].cost > 4.999e6 && nodes[0].cost + nodes[1].cost < 5.001e6);
	dw_fit_release(&f);
}

/* Where probes take little there is nothing that samples could know better. */
TEST(long_calls_are_as_probes_say)
{
	struct node nodes[] = {{LONG, 3e6, 1e3, 2000}, {SEEN, 3e6, 2.2e6, 1800}};
	struct dw_fit f = {0};

	CHECK_INT(read_all(&f, nodes, 2), 0);
	CHECK(nodes[0].cost > 900 && nodes[0].cost < 1100);
	dw_fit_release(&f);
}

/* Interrupts and the host take of all alike. */
TEST(what_all_lack_moves_nothing)
{
	struct node nodes[] = {{SHORT, 3e6, 2e6, 900}, {SEEN, 4e6, 2e6, 1800}};
	struct dw_fit f = {0};

	CHECK_INT(read_all(&f, nodes, 2), 0);
	CHECK(nodes[0].cost > 1.999e6 && nodes[0].cost < 2.001e6);
	CHECK(nodes[1].cost > 1.999e6 && nodes[1].cost < 2.001e6);
	dw_fit_release(&f);
}

/* The kernel's time, or that of what has no probes, is in no sample. */
TEST(others_get_little_of_what_samples_miss)
{
	struct node nodes[] = {{SHORT, 3e6, 2e6, 1000}, {SEEN, 3e6, 2e6, 200}};
	struct dw_fit f = {0};

	CHECK_INT(read_all(&f, nodes, 2), 0);
	CHECK(nodes[0].cost > 1.75e6 && nodes[0].cost < 1.8e6);
	CHECK(nodes[1].cost > 2.2e6 && nodes[1].cost < 2.25e6);
	dw_fit_release(&f);
}

TEST(readings_add_up)
{
	struct node first[] = {{SHORT, 3e5, 2.8e5, 50}, {SEEN, 3e5, 2.2e5, 50}};
	struct dw_fit f = {0};
	double sum[2] = {0, 0};

	for (int i = 0; i < 10; i++) {
		struct node now[] = {first[0], first[1]};

		CHECK_INT(read_all(&f, now, 2), 0);
		sum[0] += now[0].cost;
		sum[1] += now[1].cost;
	}
	CHECK(sum[0] > 2.5e6 && sum[0] < 2.52e6);
	CHECK(sum[0] + sum[1] > 4.999e6 && sum[0] + sum[1] < 5.001e6);
	dw_fit_release(&f);
}

TEST(costs_are_none_of_other_peoples_time)
{
	struct node nodes[] = {{SHORT, 3e6, 1e5, 5000}, {SEEN, 3e6, 2.9e6, 3000}};
	struct dw_fit f = {0};

	CHECK_INT(read_all(&f, nodes, 2), 0);
	CHECK(nodes[0].cost >= 0 && nodes[1].cost <= 3e6);
	CHECK(dw_fit_cost(&f, LONG, 7) == 7);
	dw_fit_release(&f);
}

TEST_MAIN()
