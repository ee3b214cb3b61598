/*
 * The timeline; see timeline.h. Samples and waits are counted in equal bins, slices of calls and
 * objects are as long as they are; both become a rising line, from which a column of any width
 * reads what it has.
 */
#include "analysis/timeline.h"

#include "base/cleanup.h"
#include "model/amounts.h"

#include <errno.h>
#include <stdlib.h>

/* So many that columns may begin with one, whatever their width. */
enum { BINS = 16384 };

/* Amounts by bin, and what each bin has more than the one before: of long waits. */
struct bins {
	double n[BINS + 1], more[BINS + 1];
	double per_ns; /* bins */
};

static int add_knot(struct dw_timeline *t, uint64_t at_ns, double sum)
{
	return dw_vec_push(&t->knots, ((struct dw_timeline_knot){at_ns, sum}));
}

static size_t bin_of(const struct bins *b, uint64_t ns)
{
	double at = (double)ns * b->per_ns;

	return at < BINS ? (size_t)at : BINS - 1;
}

static void add_samples(struct bins *b, const struct dw_samples *s)
{
	for (size_t i = 0; i < s->n; i++)
		b->n[bin_of(b, s->time_ns[i])]++;
}

/* The bins of its ends have their parts of it, those between them all the same. */
static void add_wait(struct bins *b, const struct dw_extra *x)
{
	double begin = (double)x->begin_ns * b->per_ns, span = (double)x->span_ns * b->per_ns;
	size_t first = bin_of(b, x->begin_ns), last = bin_of(b, x->begin_ns + x->span_ns);
	double per_bin = first < last ? (double)x->n / span : 0;

	if (first == last) {
		b->n[first] += (double)x->n;
		return;
	}
	b->n[first] += per_bin * ((double)(first + 1) - begin);
	b->n[last] += per_bin * (begin + span - (double)last);
	b->more[first + 1] += per_bin;
	b->more[last] -= per_bin;
}

static bool waited(const struct dw_profile *p)
{
	bool has = dw_measures_has(dw_profile_measures(p), DWELL_MEASURE_BLOCKED);

	dw_vec_each(x, &p->extras.rows)
		if (has && x->measure == DWELL_MEASURE_BLOCKED && x->n)
			return true;
	return false;
}

static int from_samples(struct dw_timeline *t, const struct dw_profile *p)
{
	dw_auto_free struct bins *b = calloc(1, sizeof *b);
	double sum = 0, more = 0;
	int rc = b ? add_knot(t, 0, 0) : -ENOMEM;

	if (rc)
		return rc;
	t->is_binned = true;
	b->per_ns = BINS / (double)t->duration_ns;
	if (waited(p))
		dw_vec_each(x, &p->extras.rows) {
			if (x->measure == DWELL_MEASURE_BLOCKED)
				add_wait(b, x);
		}
	else
		add_samples(b, &p->samples);
	for (size_t i = 0; i < BINS && !rc; i++) {
		more += b->more[i];
		sum += b->n[i] + more;
		rc = add_knot(t, (uint64_t)((double)(i + 1) / b->per_ns), sum);
	}
	return rc;
}

static int from_slices(struct dw_timeline *t, const struct dw_calls *calls)
{
	double sum = 0;
	int rc = add_knot(t, 0, 0);

	dw_vec_each(slice, &calls->activity) {
		sum += (double)slice->amount;
		rc = rc ? rc : add_knot(t, slice->end_ns, sum);
	}
	return rc;
}

/* The recording's duration, or of one that nobody finished the time that something is known of. */
static uint64_t duration_of(const struct dw_profile *p)
{
	int64_t told = dw_facts_get(&p->facts, "duration_ns", 0);
	uint64_t last = told > 0 ? (uint64_t)told : 0;

	if (!last && p->samples.n)
		last = p->samples.time_ns[p->samples.n - 1] + 1;
	if (p->calls.activity.n && p->calls.activity.v[p->calls.activity.n - 1].end_ns > last)
		last = p->calls.activity.v[p->calls.activity.n - 1].end_ns;
	return last;
}

int dw_timeline_make(struct dw_timeline *t, const struct dw_profile *p)
{
	int rc = 0;

	*t = (struct dw_timeline){.duration_ns = duration_of(p)};
	if (!t->duration_ns)
		return 0;
	if (p->calls.activity.n)
		rc = from_slices(t, &p->calls);
	else if (p->samples.n || p->extras.rows.n)
		rc = from_samples(t, p);
	if (rc || (t->knots.n && t->knots.v[t->knots.n - 1].sum <= 0))
		t->knots.n = 0;
	return rc;
}

/* What was measured up to @ns. *@at: a knot that is not behind it, moved on. */
static double sum_until(const struct dw_timeline *t, double ns, size_t *at)
{
	const struct dw_timeline_knot *k = t->knots.v;
	double from, to;

	while (*at + 1 < t->knots.n && (double)k[*at + 1].at_ns <= ns)
		++*at;
	/* Of a part of a bin nobody knows what is in it. */
	if (*at + 1 >= t->knots.n || t->is_binned)
		return k[*at].sum;
	from = (double)k[*at].at_ns;
	to = (double)k[*at + 1].at_ns;
	return k[*at].sum + (k[*at + 1].sum - k[*at].sum) * (ns - from) / (to - from);
}

/* Rounding leaves traces of sums where there is nothing, and columns have a bin more or less. */
static uint8_t level_of(double share)
{
	double level = share * DWELL_TIMELINE_FULL - .05;

	if (!(share >= 1e-9))
		return 0;
	return level < 1 ? 1 : (uint8_t)(level + .9999);
}

void dw_timeline_levels(const struct dw_timeline *t, size_t n, uint8_t *ret)
{
	double width = (double)t->duration_ns / (double)(n ? n : 1), most = 0;

	for (size_t i = 0; i < n; i++)
		ret[i] = 0;
	for (int pass = 0; pass < 2 && t->knots.n; pass++) {
		size_t at = 0;
		double before = 0;

		for (size_t i = 0; i < n; i++) {
			double sum = sum_until(t, width * (double)(i + 1), &at);
			double own = sum - before;

			before = sum;
			most = own > most ? own : most;
			if (pass)
				ret[i] = level_of(own / most);
		}
	}
}

uint64_t dw_timeline_at(const struct dw_timeline *t, size_t i, size_t n)
{
	uint64_t exact = (uint64_t)((double)t->duration_ns * (double)i / (double)(n ? n : 1));
	uint64_t step = 1, half = t->duration_ns / (2 * (n ? n : 1));

	if (i >= n)
		return t->duration_ns;
	while (step * 10 <= half)
		step *= 10;
	return (exact + step / 2) / step * step;
}

size_t dw_timeline_column(const struct dw_timeline *t, uint64_t ns, size_t n)
{
	size_t i = 0;

	while (i < n && dw_timeline_at(t, i + 1, n) <= ns)
		i++;
	return i;
}

void dw_timeline_release(struct dw_timeline *t)
{
	dw_vec_release(&t->knots);
	*t = (struct dw_timeline){0};
}
