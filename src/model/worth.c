/* Shares that rows need; see worth.h. */
#include "model/worth.h"

/* The smallest number, but 0, that is @pct of @all or more. */
static uint64_t least_of(uint64_t all, double pct)
{
	double share = pct * (double)all / 100;
	uint64_t least = share < 0x1p63 ? (uint64_t)share : UINT64_MAX;

	least += (double)least < share;
	return least ? least : 1;
}

/* A wait is as much work as it is long, however few waits there are. */
static void add(struct dw_worth *w, const struct dw_totals *t, enum dw_measure measure, double pct)
{
	enum dw_measure of = measure == DWELL_MEASURE_BLOCKED && t->amounts.sample_ns
				     ? DWELL_MEASURE_WORK
				     : measure;

	w->v[w->n].measure = measure;
	w->v[w->n++].least = least_of(t->all[of], pct);
}

void dw_worth_init(struct dw_worth *w, const struct dw_totals *t, double pct)
{
	w->n = 0;
	add(w, t, t->main, pct);
	for (unsigned place = 1; place <= t->amounts.common_n; place++)
		if (t->main == DWELL_MEASURE_SAMPLES && t->amounts.measure[place] != t->main &&
		    t->amounts.measure[place] != DWELL_MEASURE_WORK)
			add(w, t, t->amounts.measure[place], pct);
}
