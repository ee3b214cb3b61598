/* Verdicts; see verdict.h. */
#include "compare/verdict.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Without runs to test: what is worth showing, as a share of the row, and of all. */
#define SINGLE_WORTH_PCT     10.
#define SINGLE_WORTH_ALL_PCT 1.
#define NORMAL_95_PCT	     1.959964

struct sides {
	double v[DWELL_SIDES][DWELL_RUNS_MAX];
	size_t n[DWELL_SIDES];
};

/* What the runs have of @column in @row, of each call if @calls is a column, SIZE_MAX = none. */
static void gather(const struct dw_comparison *c, size_t row, size_t column, size_t calls,
		   struct sides *ret)
{
	ret->n[0] = ret->n[1] = 0;
	dw_vec_each(run, &c->runs) {
		double value = (double)dw_comparison_value(c, run, row, column);
		uint64_t n = calls == SIZE_MAX ? 1 : dw_comparison_value(c, run, row, calls);

		ret->v[run->side][ret->n[run->side]++] = n ? value / (double)n : 0;
	}
}

static void find_bounds(const struct sides *s, struct dw_change *ret)
{
	for (int side = 0; side < DWELL_SIDES; side++) {
		ret->least[side] = s->n[side] ? INFINITY : 0;
		for (size_t i = 0; i < s->n[side]; i++) {
			ret->least[side] = fmin(ret->least[side], s->v[side][i]);
			ret->most[side] = fmax(ret->most[side], s->v[side][i]);
		}
	}
}

/* How far chance alone takes samples apart at least: each is one of many that might have been. */
static double sampling_error(const struct dw_comparison *c, const struct dw_change *change)
{
	double sample_ns = c->runs.n ? c->runs.v[0].sample_ns : 0;
	double one = sample_ns > 0 ? sample_ns : 1;

	return NORMAL_95_PCT * sqrt((change->base + change->now) * one);
}

static bool change_of(const struct dw_comparison *c, struct sides *s, size_t column,
		      struct dw_change *ret)
{
	double copy[DWELL_RUNS_MAX];

	*ret = (struct dw_change){.p = 1};
	find_bounds(s, ret);
	memcpy(copy, s->v[0], s->n[0] * sizeof *copy);
	ret->base = dw_median(copy, s->n[0]);
	memcpy(copy, s->v[1], s->n[1] * sizeof *copy);
	ret->now = dw_median(copy, s->n[1]);
	ret->is_exact = c->columns[column].is_count && ret->least[0] == ret->most[0] &&
			ret->least[1] == ret->most[1];
	if (s->n[0] == 1 && s->n[1] == 1) {
		ret->shift = (struct dw_shift){ret->now - ret->base, -INFINITY, INFINITY};
		if (ret->is_exact)
			ret->shift.low = ret->shift.high = ret->shift.median;
		return true;
	}
	if (!dw_shift_estimate(s->v[0], s->n[0], s->v[1], s->n[1], &ret->shift))
		return false;
	if (ret->is_exact)
		ret->shift.low = ret->shift.high = ret->shift.median;
	else if (s->n[0] > 1 || s->n[1] > 1)
		ret->p = dw_mann_whitney_p(s->v[0], s->n[0], s->v[1], s->n[1]);
	return true;
}

bool dw_change_get(const struct dw_comparison *c, size_t row, size_t column, struct dw_change *ret)
{
	struct sides s;

	gather(c, row, column, SIZE_MAX, &s);
	return change_of(c, &s, column, ret);
}

struct dw_story dw_story_of(const struct dw_change *time, const struct dw_change *calls)
{
	double delta = time->now - time->base, by_calls;

	if (!calls || calls->base <= 0 || calls->now <= 0) {
		if (calls && calls->base != calls->now)
			return (struct dw_story){delta, 0};
		return (struct dw_story){0, delta};
	}
	by_calls = (calls->now - calls->base) * (time->base / calls->base);
	return (struct dw_story){by_calls, delta - by_calls};
}

bool dw_comparison_has_runs(const struct dw_comparison *c, size_t tests)
{
	size_t n = dw_runs_wanted(tests);

	return c->runs_n[DWELL_SIDE_BASE] >= n && c->runs_n[DWELL_SIDE_NEW] >= n;
}

/* The main column of all rows and runs together, of which shares of rows are told. */
static double pooled(const struct dw_comparison *c)
{
	double all = 0;

	dw_vec_each(run, &c->runs)
		all += (double)run->all[DWELL_MAIN];
	return all;
}

static double pooled_row(const struct dw_comparison *c, size_t row)
{
	double all = 0;

	dw_vec_each(run, &c->runs)
		all += (double)dw_comparison_value(c, run, row, DWELL_MAIN);
	return all;
}

/* Whether there are more bytes by more objects alone. */
static bool has_same_cost(const struct dw_comparison *c, size_t row)
{
	struct dw_change main, calls;

	return c->columns[DWELL_MAIN].is_count && dw_comparison_has_calls(c) &&
	       dw_change_get(c, row, DWELL_MAIN, &main) &&
	       dw_change_get(c, row, DWELL_CALLS, &calls) &&
	       main.base * calls.now == main.now * calls.base;
}

/* What counts say, which is exact where runs agree. */
static void decide_counts(const struct dw_comparison *c, size_t at, struct dw_compared_row *row)
{
	double more = 0;

	for (size_t i = 0; i < c->columns_n; i++) {
		struct dw_change change;

		if (!c->columns[i].is_count || (i > DWELL_CALLS && c->view != &dw_view_file_io) ||
		    !dw_change_get(c, at, i, &change))
			continue;
		if (i == DWELL_MAIN)
			row->trust = change.is_exact ? DWELL_COUNTED : DWELL_NOT_TESTED;
		if (!change.is_exact) {
			row->happened |= i == DWELL_MAIN ? 0 : DWELL_CALLS_VARY;
			continue;
		}
		if (i == DWELL_MAIN && change.now != change.base)
			row->happened |= change.now > change.base ? DWELL_SLOWER : DWELL_FASTER;
		else if (i)
			more = more == 0 ? change.now - change.base : more;
	}
	if (more != 0 && has_same_cost(c, at))
		row->happened &= (uint16_t) ~(DWELL_SLOWER | DWELL_FASTER);
	if (more != 0)
		row->happened |= more > 0 ? DWELL_MORE_CALLS : DWELL_FEWER_CALLS;
}

/* Whether calls of the row were counted on both sides: a thread's time outside its functions has
 * none. */
static bool is_called(const struct dw_comparison *c, size_t row)
{
	bool called[DWELL_SIDES] = {false};

	if (!dw_comparison_has_calls(c))
		return false;
	dw_vec_each(run, &c->runs)
		called[run->side] |= dw_comparison_value(c, run, row, DWELL_CALLS) > 0;
	return called[0] && called[1];
}

/* A change of what a call costs, or of all time where calls are not counted. */
static bool cost_change(const struct dw_comparison *c, size_t row, struct dw_change *ret)
{
	struct sides s;
	bool counted = is_called(c, row) && !c->columns[DWELL_MAIN].is_count;

	gather(c, row, DWELL_MAIN, counted ? DWELL_CALLS : SIZE_MAX, &s);
	return change_of(c, &s, DWELL_MAIN, ret);
}

/* One run a side: nothing can be tested, and only what is large is told. */
static void decide_single(const struct dw_comparison *c, size_t at, double all,
			  struct dw_compared_row *row)
{
	struct dw_change time, calls, cost;
	struct dw_story story;

	if (!dw_change_get(c, at, DWELL_MAIN, &time) || !cost_change(c, at, &cost))
		return;
	if (dw_comparison_has_calls(c) && !dw_change_get(c, at, DWELL_CALLS, &calls))
		return;
	story = dw_story_of(&time, dw_comparison_has_calls(c) ? &calls : NULL);
	if (fabs(story.by_cost) * 100 < SINGLE_WORTH_ALL_PCT * all / 2 ||
	    fabs(story.by_cost) * 100 < SINGLE_WORTH_PCT * fmax(time.base, time.now) ||
	    fabs(story.by_cost) * 100 < c->relevant_pct * fmax(time.base, time.now))
		return;
	if (c->method == DWELL_METHOD_SAMPLING && fabs(story.by_cost) < sampling_error(c, &time))
		return;
	row->happened |= story.by_cost > 0 ? DWELL_SLOWER : DWELL_FASTER;
}

struct tests {
	DW_VEC(uint32_t) rows;
	DW_VEC(double) p;
	DW_VEC(double) shift_pct; /* of what a call cost before */
};

static int add_test(const struct dw_comparison *c, uint32_t at, struct tests *t)
{
	struct dw_change cost;
	double pct;

	if (!cost_change(c, at, &cost))
		return -ENOMEM;
	pct = cost.base > 0 ? 100 * cost.shift.median / cost.base : cost.shift.median > 0 ? 100 : 0;
	if (dw_vec_push(&t->rows, at) || dw_vec_push(&t->p, cost.p) ||
	    dw_vec_push(&t->shift_pct, pct))
		return -ENOMEM;
	return 0;
}

/* A row that one side alone has is new or gone: where that was counted, and else where its time is
 * a difference, for there is always some function with a sample or two. */
static void decide_presence(const struct dw_comparison *c, struct dw_compared_row *row)
{
	const struct dw_compared_name *name = dw_names_get(&c->names, row->name);
	const struct dw_compared_name *other =
		name->other ? dw_names_get(&c->names, name->other) : name;
	enum dw_side side = row->has[DWELL_SIDE_BASE] ? DWELL_SIDE_NEW : DWELL_SIDE_BASE;

	if ((row->has[0] && row->has[1]) || !(row->happened & DWELL_DIFFERENT))
		return;
	row->happened &= (uint16_t)~DWELL_DIFFERENT;
	if (side == DWELL_SIDE_BASE)
		row->happened |=
			DWELL_HAS_APPEARED | (other->inlined[side] ? DWELL_NO_LONGER_INLINED : 0);
	else
		row->happened |= DWELL_HAS_GONE | (name->inlined[side] ? DWELL_IS_INLINED : 0);
}

static int decide_tests(struct dw_comparison *c, struct tests *t)
{
	if (!dw_adjust_p(t->p.v, t->p.n))
		return -ENOMEM;
	c->tests = t->rows.n;
	for (size_t i = 0; i < t->rows.n; i++) {
		struct dw_compared_row *row = &c->rows.v[t->rows.v[i]];

		row->p = (float)t->p.v[i];
		row->trust = DWELL_TESTED;
		if (t->p.v[i] <= DWELL_SIGNIFICANCE && fabs(t->shift_pct.v[i]) >= c->relevant_pct)
			row->happened |= t->shift_pct.v[i] > 0 ? DWELL_SLOWER : DWELL_FASTER;
	}
	return 0;
}

int dw_comparison_decide(struct dw_comparison *c)
{
	bool single = c->runs_n[0] == 1 && c->runs_n[1] == 1;
	double all = pooled(c);
	struct tests t = {0};
	int rc = 0;

	for (uint32_t at = 0; at < c->rows.n && !rc; at++) {
		struct dw_compared_row *row = &c->rows.v[at];

		decide_counts(c, at, row);
		if (row->trust == DWELL_COUNTED)
			continue;
		if (single)
			decide_single(c, at, all, row);
		else if (all > 0 && pooled_row(c, at) * 100 >= DWELL_TESTED_PCT * all)
			rc = add_test(c, at, &t);
	}
	if (!rc)
		rc = decide_tests(c, &t);
	for (uint32_t at = 0; at < c->rows.n; at++)
		decide_presence(c, &c->rows.v[at]);
	c->runs_wanted = dw_runs_wanted(c->tests);
	dw_vec_release(&t.rows);
	dw_vec_release(&t.p);
	dw_vec_release(&t.shift_pct);
	return rc;
}
