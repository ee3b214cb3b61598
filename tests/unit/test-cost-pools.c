/* Unit tests of costs that nodes do not cover. */
#include "check.h"

#include "collect/region/cost-pools.h"

static int near(double a, double b)
{
	return a - b < 1e-6 && b - a < 1e-6;
}

TEST(nodes_of_a_callee_share_what_they_lack)
{
	struct dw_cost_pools p = {0};

	CHECK_INT(dw_cost_pools_begin(&p, 1), 0);
	CHECK(near(dw_cost_pools_add(&p, 0, 10, 30), 10));
	CHECK(near(dw_cost_pools_add(&p, 0, 100, 20), 20));
	dw_cost_pools_close(&p, true);
	CHECK(near(dw_cost_pools_cost(&p, 0, 10, 10), 10));
	CHECK(near(dw_cost_pools_cost(&p, 0, 100, 20), 40));
	CHECK(near(p.left, 0));
	dw_cost_pools_release(&p);
}

/* Callee 0 lacks 30; 1 and 2 have probes of 20 and 10, 3 has none, 4 hardly any time beside them.
 */
static void add_callees(struct dw_cost_pools *p)
{
	(void)dw_cost_pools_begin(p, 5);
	dw_cost_pools_add(p, 0, 10, 40);
	dw_cost_pools_add(p, 1, 200, 20);
	dw_cost_pools_add(p, 2, 50, 10);
	dw_cost_pools_add(p, 3, 1000, 0);
	dw_cost_pools_add(p, 4, 31, 30);
}

TEST(what_a_callee_lacks_is_borne_by_others_with_probes)
{
	struct dw_cost_pools p = {0};

	add_callees(&p);
	dw_cost_pools_close(&p, true);
	CHECK(near(dw_cost_pools_cost(&p, 0, 10, 10), 10));
	CHECK(near(dw_cost_pools_cost(&p, 1, 200, 20), 30));
	CHECK(near(dw_cost_pools_cost(&p, 2, 50, 10), 15));
	CHECK(near(dw_cost_pools_cost(&p, 3, 1000, 0), 0));
	CHECK(near(dw_cost_pools_cost(&p, 4, 31, 30), 31));
	CHECK(near(p.left, 14));
	dw_cost_pools_release(&p);
}

TEST(without_samples_it_is_nobodys)
{
	struct dw_cost_pools p = {0};

	add_callees(&p);
	dw_cost_pools_close(&p, false);
	CHECK(near(dw_cost_pools_cost(&p, 1, 200, 20), 20));
	CHECK(near(p.left, 30));
	/* A reading after it begins anew, also with no time at all. */
	CHECK_INT(dw_cost_pools_begin(&p, 2), 0);
	dw_cost_pools_add(&p, 0, 0, 5);
	dw_cost_pools_close(&p, true);
	CHECK(near(dw_cost_pools_cost(&p, 0, 0, 0), 0));
	CHECK(near(p.left, 5));
	dw_cost_pools_release(&p);
}

TEST_MAIN()
