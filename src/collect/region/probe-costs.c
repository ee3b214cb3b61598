/*
 * Costs of probes; see probe-costs.h. What a reading took is not known better than its few samples
 * say, but all readings together are: each gives what brings their sum to where it should be.
 */
#include "collect/region/probe-costs.h"

#define LOOPS_COUNT 4.0 /* samples for which the loops speak */
#define SCALE_MAX   4.0

/*
 * While a gate waits for the clock the processor goes on with the program's own work, which samples
 * then find in the gate: this part of what loops take. Measured as what probes were told to cost
 * beside what runs took longer than plain ones: 0.3 to 1.9 ns a call, 0.7 in the mean of 14
 * programs (Zen 5, idle; bench/RESULTS.md).
 */
#define HIDDEN 0.04

/* What a pair of probes costs, of which @cost has the caller's part and then the callee's. */
static struct dw_probe_cost pair(const int32_t *cost)
{
	return (struct dw_probe_cost){.caller = dw_probe_ticks(cost[0]),
				      .callee = dw_probe_ticks(cost[1])};
}

void dw_probe_costs_learn(struct dw_probe_costs *c, const struct dw_region_head *head)
{
	const int32_t *cost = head->probe_cost;

	c->function = pair(&cost[DWELL_PROBE_ENTER]);
	c->outside = pair(&cost[DWELL_PROBE_OUT]);
	c->cell = pair(&cost[DWELL_PROBE_CELL_ENTER]);
	c->cell_outside = pair(&cost[DWELL_PROBE_CELL_OUT]);
	c->function.pass = c->cell.pass = dw_probe_ticks(head->pass_cost) / 2;
	c->line = dw_probe_ticks(cost[DWELL_PROBE_LINE]);
	c->scale = 1;
	c->factor = c->factor > 0 ? c->factor : 1;
}

static double within(double x)
{
	return x > SCALE_MAX ? SCALE_MAX : x > 1 / SCALE_MAX ? x : 1 / SCALE_MAX;
}

static void multiply(struct dw_probe_cost *c, double scale)
{
	c->caller *= scale;
	c->callee *= scale;
	c->pass *= scale;
}

/* Samples of less than half of the time that probes need are not all of the process's: a kernel
 * that stopped to take them, or threads that it did not see. */
static bool is_seen(double looped, const struct dw_gate_samples *now)
{
	return (double)now->all * now->ticks > looped / 2;
}

bool dw_probe_costs_scale(struct dw_probe_costs *c, double looped,
			  const struct dw_gate_samples *now)
{
	bool counts = now->all && is_seen(looped, now);
	double in_gates = (double)now->in_gates * now->ticks, known;

	if (!(looped > 0))
		return counts;
	if (counts) {
		c->samples += now->all;
		c->looped += looped;
		c->sampled += in_gates > HIDDEN * looped ? in_gates - HIDDEN * looped : 0;
		known = LOOPS_COUNT * now->ticks;
		c->factor = within((c->sampled + known) / (c->looped + known));
	}
	c->looped_all += looped;
	c->scale = within((c->factor * c->looped_all - c->given) / looped);
	c->given += c->scale * looped;
	multiply(&c->function, c->scale);
	multiply(&c->outside, c->scale);
	multiply(&c->cell, c->scale);
	multiply(&c->cell_outside, c->scale);
	c->line *= c->scale;
	return counts;
}
