/*
 * Verdicts; see verdict.h.
 *
 * The main column is judged by what a call costs, where calls are counted: more calls at the old
 * cost are no change of it. Each column is a family of tests of its own.
 */
#include "compare/verdict.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Where nothing can be tested: what is worth showing, of the row and of all. */
#define STRIKING_PCT	 10.
#define STRIKING_ALL_PCT 1.
#define NORMAL_95_PCT	 1.959964

struct sides {
	double v[DWELL_SIDES][DWELL_RUNS_MAX];
	size_t n[DWELL_SIDES];
};

/* What the runs have of @column in @row; @each: of a call, where there were any. */
static void gather(const struct dw_comparison *c, size_t row, size_t column, bool each,
		   struct sides *ret)
{
	ret->n[0] = ret->n[1] = 0;
	dw_vec_each(run, &c->runs) {
		double value = (double)dw_comparison_value(c, run, row, column);
		uint64_t calls = each ? dw_comparison_value(c, run, row, DWELL_CALLS) : 1;

		if (calls)
			ret->v[run->side][ret->n[run->side]++] = value / (double)calls;
	}
}

static double median_of(const struct sides *s, enum dw_side side)
{
	double copy[DWELL_RUNS_MAX];

	memcpy(copy, s->v[side], s->n[side] * sizeof *copy);
	return dw_median(copy, s->n[side]);
}

static struct dw_change change_of(const struct sides *s, bool is_count)
{
	struct dw_change ret = {
		.n = {s->n[0], s->n[1]},
		.base = median_of(s, DWELL_SIDE_BASE),
		.now = median_of(s, DWELL_SIDE_NEW),
		.is_exact = is_count,
	};

	for (int side = 0; side < DWELL_SIDES; side++) {
		ret.least[side] = s->n[side] ? INFINITY : 0;
		for (size_t i = 0; i < s->n[side]; i++) {
			ret.least[side] = fmin(ret.least[side], s->v[side][i]);
			ret.most[side] = fmax(ret.most[side], s->v[side][i]);
		}
		ret.is_exact &= ret.least[side] == ret.most[side];
	}
	return ret;
}

struct dw_change dw_change_get(const struct dw_comparison *c, size_t row, size_t column)
{
	struct sides s;

	gather(c, row, column, false, &s);
	return change_of(&s, c->columns[column].is_count);
}

bool dw_change_shift(const struct dw_comparison *c, size_t row, size_t column, struct dw_shift *ret)
{
	struct sides s;

	gather(c, row, column, false, &s);
	if (!dw_shift_estimate(s.v[0], s.n[0], s.v[1], s.n[1], c->outside, ret))
		return false;
	if (change_of(&s, c->columns[column].is_count).is_exact)
		ret->low = ret->high = ret->median;
	return true;
}

static bool test_of(const struct sides *s, double *ret_p, double *ret_shift)
{
	struct dw_shift shift;

	if (!dw_shift_estimate(s->v[0], s->n[0], s->v[1], s->n[1], 0, &shift))
		return false;
	*ret_p = dw_mann_whitney_p(s->v[0], s->n[0], s->v[1], s->n[1]);
	*ret_shift = shift.median;
	return true;
}

bool dw_change_test(const struct dw_comparison *c, size_t row, size_t column, double *ret_p,
		    double *ret_shift)
{
	struct sides s;

	gather(c, row, column, false, &s);
	return test_of(&s, ret_p, ret_shift);
}

bool dw_change_is_counted(const struct dw_comparison *c, size_t column,
			  const struct dw_change *change)
{
	bool has_begun = change->most[DWELL_SIDE_BASE] == 0 && change->least[DWELL_SIDE_NEW] > 0;
	bool has_ended = change->most[DWELL_SIDE_NEW] == 0 && change->least[DWELL_SIDE_BASE] > 0;

	return change->is_exact || (c->columns[column].is_count && (has_begun || has_ended));
}

double dw_change_pct(double base, double more)
{
	if (base > 0)
		return 100 * more / base;
	return more > 0 ? INFINITY : more < 0 ? -INFINITY : 0;
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

/* What all runs together have of @column. */
static double pooled(const struct dw_comparison *c, size_t column)
{
	double all = 0;

	dw_vec_each(run, &c->runs)
		all += (double)run->all[column];
	return all;
}

/* The percentage of that which @row has. */
static double share_pct(const struct dw_comparison *c, size_t row, size_t column)
{
	double own = 0;

	dw_vec_each(run, &c->runs)
		own += (double)dw_comparison_value(c, run, row, column);
	return own > 0 ? 100 * own / pooled(c, column) : 0;
}

bool dw_comparison_is_large(const struct dw_comparison *c, size_t row, size_t column)
{
	return share_pct(c, row, column) >= DWELL_TESTED_PCT ||
	       (column != DWELL_MAIN && share_pct(c, row, DWELL_MAIN) >= DWELL_TESTED_PCT);
}

/* Whether calls of the row were counted on both sides: a thread's time outside its functions has
 * none. */
static bool is_called(const struct dw_comparison *c, size_t row)
{
	bool called[DWELL_SIDES] = {false};

	if (!dw_comparison_has_calls(c) || c->view == &dw_view_file_io)
		return false;
	dw_vec_each(run, &c->runs)
		called[run->side] |= dw_comparison_value(c, run, row, DWELL_CALLS) > 0;
	return called[0] && called[1];
}

/* What @row is judged by in @column. */
static struct dw_change gather_judged(const struct dw_comparison *c, size_t row, size_t column,
				      struct sides *s)
{
	gather(c, row, column, column == DWELL_MAIN && is_called(c, row), s);
	return change_of(s, c->columns[column].is_count);
}

bool dw_change_judged(const struct dw_comparison *c, size_t row, struct dw_change *ret,
		      double *ret_shift, bool *ret_each)
{
	struct sides s;
	double p;

	*ret_each = is_called(c, row);
	*ret = gather_judged(c, row, DWELL_MAIN, &s);
	return test_of(&s, &p, ret_shift);
}

/* How far chance alone takes samples apart at least: each is one of many that might have been. */
static double sampling_error(const struct dw_comparison *c, const struct dw_change *total)
{
	double sample[DWELL_SIDES] = {0};

	dw_vec_each(run, &c->runs)
		sample[run->side] = run->sample;
	return NORMAL_95_PCT * sqrt(total->base * sample[0] + total->now * sample[1]);
}

/* Whether all runs of one side have more than any of the other. */
static bool are_apart(const struct dw_change *change)
{
	return change->least[DWELL_SIDE_NEW] > change->most[DWELL_SIDE_BASE] ||
	       change->least[DWELL_SIDE_BASE] > change->most[DWELL_SIDE_NEW];
}

/* Whether a difference that could not be tested is told even so. */
static bool is_striking(const struct dw_comparison *c, size_t row, size_t column,
			const struct dw_change *judged)
{
	double pct = fabs(dw_change_pct(judged->base, judged->now - judged->base)), delta;
	struct dw_change total = dw_change_get(c, row, column), calls;

	if (!are_apart(judged) || pct < STRIKING_PCT || pct < c->relevant_pct)
		return false;
	if (column != DWELL_MAIN)
		return dw_comparison_is_large(c, row, column);
	if (dw_comparison_has_calls(c))
		calls = dw_change_get(c, row, DWELL_CALLS);
	delta = fabs(dw_story_of(&total, dw_comparison_has_calls(c) ? &calls : NULL).by_cost);
	return delta * 100 * (double)c->runs.n >= STRIKING_ALL_PCT * pooled(c, column) &&
	       delta >= sampling_error(c, &total);
}

/* The tests of a column. */
struct tests {
	DW_VEC(uint32_t) rows; /* rising */
	DW_VEC(double) p;
	DW_VEC(double) shift;
};

static int gather_tests(const struct dw_comparison *c, size_t column, struct tests *t)
{
	for (uint32_t at = 0; at < c->rows.n; at++) {
		struct sides s;
		struct dw_change judged = gather_judged(c, at, column, &s);
		double p, shift;

		if (dw_change_is_counted(c, column, &judged) ||
		    !dw_comparison_is_large(c, at, column))
			continue;
		if (!test_of(&s, &p, &shift) || dw_vec_push(&t->rows, at) ||
		    dw_vec_push(&t->p, p) || dw_vec_push(&t->shift, shift))
			return -ENOMEM;
	}
	return dw_adjust_p(t->p.v, t->p.n) ? 0 : -ENOMEM;
}

/* The verdict about @column of @row, whose test is the one at @test if it has one. Returns the
 * difference that is told, 0 = none. */
static double judge(const struct dw_comparison *c, uint32_t at, size_t column,
		    const struct tests *t, size_t test, struct dw_verdict *ret)
{
	bool is_tested = test < t->rows.n && t->rows.v[test] == at;
	double p = is_tested ? t->p.v[test] : 1, pct;
	struct sides s;
	struct dw_change judged = gather_judged(c, at, column, &s);
	bool suffice = dw_runs_suffice(judged.n[0], judged.n[1], t->rows.n);

	*ret = (struct dw_verdict){.p = 1};
	if (dw_change_is_counted(c, column, &judged)) {
		ret->trust = DWELL_COUNTED;
		return judged.now - judged.base;
	}
	if (!is_tested || (p > DWELL_SIGNIFICANCE && !suffice))
		return !suffice && is_striking(c, at, column, &judged) ? judged.now - judged.base
								       : 0;
	*ret = (struct dw_verdict){.trust = DWELL_TESTED, .p = (float)p};
	pct = dw_change_pct(judged.base, t->shift.v[test]);
	return p <= DWELL_SIGNIFICANCE && fabs(pct) >= c->relevant_pct ? t->shift.v[test] : 0;
}

static void note(struct dw_compared_row *row, size_t column, const struct dw_verdict *verdict,
		 double more)
{
	const unsigned counts = DWELL_MORE_CALLS | DWELL_FEWER_CALLS;

	if (column == DWELL_MAIN) {
		row->cost = *verdict;
		if (more != 0)
			row->happened |= more > 0 ? DWELL_SLOWER : DWELL_FASTER;
		return;
	}
	if (verdict->trust != DWELL_COUNTED && !(row->happened & DWELL_CALLS_VARY)) {
		row->happened |= DWELL_CALLS_VARY;
		row->varying = (uint8_t)column;
	}
	/* Of several counts the first one that has changed is told. */
	if (row->happened & counts || (more == 0 && column > DWELL_CALLS))
		return;
	row->calls = *verdict;
	row->count = (uint8_t)column;
	if (more != 0)
		row->happened |= more > 0 ? DWELL_MORE_CALLS : DWELL_FEWER_CALLS;
}

static int decide_column(struct dw_comparison *c, size_t column)
{
	struct tests t = {0};
	int rc = gather_tests(c, column, &t);
	size_t test = 0;

	for (uint32_t at = 0; at < c->rows.n && !rc; at++) {
		struct dw_verdict verdict;
		double more;

		while (test < t.rows.n && t.rows.v[test] < at)
			test++;
		more = judge(c, at, column, &t, test, &verdict);
		note(&c->rows.v[at], column, &verdict, more);
	}
	c->tests = t.rows.n > c->tests ? t.rows.n : c->tests;
	dw_vec_release(&t.rows);
	dw_vec_release(&t.p);
	dw_vec_release(&t.shift);
	return rc;
}

/* Whether the function of @row has inlined copies alone on @side. */
static bool is_inlined_alone(const struct dw_comparison *c, const struct dw_compared_row *row,
			     enum dw_side side)
{
	const struct dw_compared_name *name = dw_names_get(&c->names, row->name);

	if (side == DWELL_SIDE_BASE && name->other)
		name = dw_names_get(&c->names, name->other);
	return name->inlined[side] && !name->has[side];
}

/* A row that one side alone has is new or gone: where that was counted, and else where its time is
 * a difference, for there is always some function with a sample or two. */
static void decide_presence(const struct dw_comparison *c, struct dw_compared_row *row)
{
	bool is_new = !row->has[DWELL_SIDE_BASE];

	if ((row->has[0] && row->has[1]) || !(row->happened & DWELL_DIFFERENT))
		return;
	row->happened &= (uint16_t)~DWELL_DIFFERENT;
	row->happened |= is_new ? DWELL_HAS_APPEARED : DWELL_HAS_GONE;
	if (is_inlined_alone(c, row, is_new ? DWELL_SIDE_BASE : DWELL_SIDE_NEW))
		row->happened |= is_new ? DWELL_NO_LONGER_INLINED : DWELL_IS_INLINED;
}

int dw_comparison_decide(struct dw_comparison *c)
{
	int rc = 0;

	c->outside = dw_shift_outside(c->runs_n[DWELL_SIDE_BASE], c->runs_n[DWELL_SIDE_NEW]);
	for (size_t column = 0; column <= c->counts_n && !rc; column++)
		rc = decide_column(c, column);
	for (uint32_t at = 0; at < c->rows.n; at++)
		decide_presence(c, &c->rows.v[at]);
	c->runs_wanted = dw_runs_wanted(c->tests);
	return rc;
}
