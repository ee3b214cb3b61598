/* Functions' times by probes and by samples; see fit.h. */
#include "collect/region/fit.h"

#include "collect/region/rows.h"

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
