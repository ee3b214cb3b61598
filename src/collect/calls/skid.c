/*
 * Means of skid; see skid.h. Counters of a hostile target give odd means, within bounds.
 */
#include "collect/calls/skid.h"

#include "collect/calls/call-values.h"

#include <errno.h>
#include <stdlib.h>

#define TICKS_MAX 4096 /* of one reading: as the agent has it */

/* A mean of so few counts for half. */
#define FEW 16

/* A part of all readings that is notable. */
#define NOTABLE 8

/* Means below this many times the base are those of a full pipeline, not of waiting. */
#define MATTERS 1.5

static void add(struct dw_tree_skid *sum, const struct dw_tree_skid *now,
		const struct dw_tree_skid *old)
{
	uint64_t n = now->n - old->n, ticks = now->ticks - old->ticks;

	if (n > UINT32_MAX || ticks > n * TICKS_MAX)
		return;
	sum->n += n;
	sum->ticks += ticks;
}

static int add_changes(struct dw_skid *l, const struct dw_call_lines *s)
{
	dw_vec_each(change, &s->changes) {
		const struct dw_call_line *line = &s->lines.v[change->line];
		struct dw_tree_extremes now, old;
		struct dw_skid_calls *calls;

		if (line->kind != DWELL_LINE_REST ||
		    s->lines.v[line->id].kind != DWELL_LINE_EXTREMES)
			continue;
		dw_call_lines_get(s, line->id, DWELL_EXTREMES_LINES, &now);
		dw_call_lines_get_old(s, line->id, DWELL_EXTREMES_LINES, &old);
		calls = dw_row_of(&l->calls, &l->of, now.key);
		if (!calls)
			return -ENOMEM;
		for (int i = 0; i < DWELL_SKIDS; i++)
			add(&calls->skid[i], &now.skid[i], &old.skid[i]);
	}
	return 0;
}

static double mean(const struct dw_tree_skid *skid)
{
	return skid->n ? (double)skid->ticks / (double)skid->n : 0;
}

static int by_mean(const void *a, const void *b)
{
	double x = mean(a), y = mean(b);

	return (x > y) - (x < y);
}

/* The base is that of the quarter of all readings with the least skid. It is found anew when there
 * are notably more of them than the last time. */
static int find_base(struct dw_skid *l)
{
	struct dw_tree_skid *all;
	uint64_t sum = 0, n = 0;
	size_t rows = 0;

	dw_vec_each(c, &l->calls)
		for (int i = 0; i < DWELL_SKIDS; i++)
			sum += c->skid[i].n;
	if (sum <= l->base_of + l->base_of / NOTABLE)
		return 0;
	all = calloc(l->calls.n, sizeof l->calls.v->skid);
	if (!all)
		return -ENOMEM;
	dw_vec_each(c, &l->calls)
		for (int i = 0; i < DWELL_SKIDS; i++)
			if (c->skid[i].n)
				all[rows++] = c->skid[i];
	l->base_of = sum;
	qsort(all, rows, sizeof *all, by_mean);
	for (size_t i = 0; i < rows && n <= sum / 4; i++) {
		n += all[i].n;
		l->base = mean(&all[i]);
	}
	free(all);
	return 0;
}

int dw_skid_read(struct dw_skid *l, const struct dw_call_lines *s)
{
	int rc = add_changes(l, s);

	return rc ? rc : find_base(l);
}

/* The mean skid, less what measuring it takes. */
static double excess(const struct dw_skid *l, const struct dw_tree_skid *skid)
{
	double above = mean(skid) - l->base;

	if (mean(skid) < MATTERS * l->base)
		return 0;
	return above * (double)skid->n / (double)(skid->n + FEW);
}

double dw_skid_of(const struct dw_skid *l, uint64_t key, int i)
{
	uint32_t at = dw_map_get(&l->of, key);

	return at && l->base > 0 ? excess(l, &l->calls.v[at - 1].skid[i]) : 0;
}

double dw_skid_bound(struct dw_skid_moves *m, double moved, double spare)
{
	m->got += moved > 0 ? moved : 0;
	if (moved >= -spare)
		return moved;
	m->lack -= moved + spare;
	return -spare;
}

/* What nodes lack is taken off all that others get. */
double dw_skid_share(const struct dw_skid_moves *m, double moved)
{
	double share = m->lack < m->got ? 1 - m->lack / m->got : 0;

	return moved > 0 ? moved * share : moved;
}

void dw_skid_release(struct dw_skid *l)
{
	dw_vec_release(&l->calls);
	dw_map_release(&l->of);
}
