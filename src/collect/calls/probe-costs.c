/* What probes cost, and whose that was; see probe-costs.h. */
#include "collect/calls/probe-costs.h"

#include "collect/calls/call-values.h"

#include <errno.h>

/* The part of a function's probes that their mean may miss. */
#define UNCERTAIN 0.25

/* Samples may stand for that much more than they took, or less: where they see nothing of a part of
 * a function, others are not to get it. */
#define SCALE_MAX 1.25

void dw_fit_begin(struct dw_fit *f)
{
	dw_vec_each(row, &f->rows)
		row->new_time = row->new_cost = 0;
}

int dw_fit_add(struct dw_fit *f, uint64_t key, double time, double cost)
{
	struct dw_fit_row *row = dw_row_of(&f->rows, &f->of, key);

	if (!row)
		return -ENOMEM;
	row->time += time;
	row->new_time += time;
	row->cost += cost;
	row->new_cost += cost;
	return 0;
}

int dw_fit_sample(struct dw_fit *f, uint64_t key, double ticks)
{
	struct dw_fit_row *row = dw_row_of(&f->rows, &f->of, key);

	if (!row)
		return -ENOMEM;
	row->sampled += ticks;
	return 0;
}

/*
 * What a tick of samples stands for. The clock sees more than they do: interrupts, and what the
 * host does meanwhile. That hits all functions alike, who would else all be too long by it.
 */
static double scale_of(const struct dw_fit *f)
{
	double by_probes = 0, sampled = 0;

	dw_vec_each(row, &f->rows) {
		by_probes += row->time - row->cost;
		sampled += row->sampled;
	}
	if (by_probes > SCALE_MAX * sampled)
		return SCALE_MAX;
	return by_probes * SCALE_MAX > sampled ? by_probes / sampled : 1 / SCALE_MAX;
}

/* What @row wants to move for itself alone, where a sample stands for @ticks and they tell of
 * @sampled in it. */
static double want(const struct dw_fit_row *row, double sampled, double ticks)
{
	double by_probes = row->time - row->cost;
	double of_probes = UNCERTAIN * row->cost * UNCERTAIN * row->cost;
	double of_samples = (sampled + ticks) * ticks;
	double move = (sampled - by_probes) * of_probes / (of_probes + of_samples);

	return move < row->cost ? move : row->cost;
}

/* What a row is to have moved in all is done as far as this reading has something to move. */
static void move(struct dw_fit_row *row, double all)
{
	double now = all - row->moved;

	if (now > row->new_cost)
		now = row->new_cost;
	if (now < row->new_cost - row->new_time)
		now = row->new_cost - row->new_time;
	if (row->new_cost <= 0)
		now = 0;
	row->want = now;
	row->moved += now;
}

void dw_fit_solve(struct dw_fit *f, double ticks)
{
	double get = 0, give = 0, scale = scale_of(f), least;

	dw_vec_each(row, &f->rows) {
		row->want = want(row, scale * row->sampled, scale * ticks);
		if (row->want > 0)
			get += row->want;
		else
			give -= row->want;
	}
	least = get < give ? get : give;
	dw_vec_each(row, &f->rows) {
		double all = row->want > 0 ? get : give;

		move(row, all > 0 ? row->want * least / all : 0);
	}
}

double dw_fit_cost(const struct dw_fit *f, uint64_t key, double cost)
{
	uint32_t i = dw_map_get(&f->of, key);
	const struct dw_fit_row *row = i ? &f->rows.v[i - 1] : NULL;

	return row && row->new_cost > 0 ? cost * (row->new_cost - row->want) / row->new_cost : cost;
}

void dw_fit_release(struct dw_fit *f)
{
	dw_vec_release(&f->rows);
	dw_map_release(&f->of);
}

/*
 * What a reading took is not known better than its few samples say, but all readings together are:
 * each gives what brings their sum to where it should be.
 */

#define LOOPS_COUNT   4.0 /* samples for which the loops speak */
#define ALL_SCALE_MAX 4.0

/*
 * While a trampoline waits for the clock the processor goes on with the program's own work, which
 * samples then find in the trampoline: this part of what loops take. Measured as what probes were
 * told to cost beside what runs took longer than plain ones: 0.3 to 1.9 ns a call, 0.7 in the mean
 * of 14 programs (Zen 5, idle; bench/RESULTS.md).
 */
#define HIDDEN 0.04

/* What a pair of probes costs, of which @cost has the caller's part and then the callee's. */
static struct dw_probe_cost pair(const int32_t *cost)
{
	return (struct dw_probe_cost){.caller = dw_probe_ticks(cost[0]),
				      .callee = dw_probe_ticks(cost[1])};
}

void dw_probe_costs_take(struct dw_probe_costs *c, const struct dw_region_head *head)
{
	const int32_t *cost = head->probe_cost;

	c->function = pair(&cost[DWELL_PROBE_ENTER]);
	c->external = pair(&cost[DWELL_PROBE_OUT]);
	c->cell = pair(&cost[DWELL_PROBE_CELL_ENTER]);
	c->cell_external = pair(&cost[DWELL_PROBE_CELL_OUT]);
	c->function.pass = c->cell.pass = dw_probe_ticks(head->pass_cost) / 2;
	c->line = dw_probe_ticks(cost[DWELL_PROBE_LINE]);
	c->scale = 1;
	c->factor = c->factor > 0 ? c->factor : 1;
}

static double within(double x)
{
	return x > ALL_SCALE_MAX ? ALL_SCALE_MAX : x > 1 / ALL_SCALE_MAX ? x : 1 / ALL_SCALE_MAX;
}

static void multiply(struct dw_probe_cost *c, double scale)
{
	c->caller *= scale;
	c->callee *= scale;
	c->pass *= scale;
}

/* Samples of less than half of the time that probes need are not all of the process's: a kernel
 * that stopped to take them, or threads that it did not see. */
static bool is_seen(double looped, const struct dw_trampoline_samples *now)
{
	return (double)now->all * now->ticks > looped / 2;
}

bool dw_probe_costs_scale(struct dw_probe_costs *c, double looped,
			  const struct dw_trampoline_samples *now)
{
	bool counts = now->all && is_seen(looped, now);
	double in_trampolines = (double)now->in_trampolines * now->ticks, known;

	if (!(looped > 0))
		return counts;
	if (counts) {
		c->samples += now->all;
		c->looped += looped;
		c->sampled +=
			in_trampolines > HIDDEN * looped ? in_trampolines - HIDDEN * looped : 0;
		known = LOOPS_COUNT * now->ticks;
		c->factor = within((c->sampled + known) / (c->looped + known));
	}
	c->looped_all += looped;
	c->scale = within((c->factor * c->looped_all - c->given) / looped);
	c->given += c->scale * looped;
	multiply(&c->function, c->scale);
	multiply(&c->external, c->scale);
	multiply(&c->cell, c->scale);
	multiply(&c->cell_external, c->scale);
	c->line *= c->scale;
	return counts;
}
