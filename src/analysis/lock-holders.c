/* Stacks of holders of locks; see lock-holders.h. */
#include "analysis/lock-holders.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/measure.h"

#include <errno.h>
#include <stdlib.h>

enum {
	STACKS_MAX = 16,      /* that one row is divided among: those with most */
	LOOKS_MAX = 50000000, /* at what holders did, for all rows together; */
	LOOKS_MIN = 64,	      /* for one row so many may be in any case */
};

/* What a thread did: a wait, or a sample, which begins where it ends. */
struct activity {
	uint64_t begin_ns, end_ns;
	double ns; /* of waits */
	uint32_t thread, stack;
};

struct share {
	uint32_t stack;
	double ns;
};

struct locating {
	struct dw_profile *p;
	DW_VEC(struct activity)
	done;		  /* by holders, one after the other, each in the order of ends */
	size_t looks_max; /* for one row */
	DW_VEC(struct share) shares; /* of the row at hand, one a stack */
	struct dw_map share_of;	     /* stack -> index + 1 */
};

static bool is_unlocated(const struct dw_extra *x)
{
	return x->measure == DWELL_MEASURE_OTHERS_WAITED && !x->stack;
}

/* Put what holders did into the order of their threads, and of ends. 0 or -ENOMEM. */
static int sort(struct locating *l)
{
	size_t n = l->done.n;
	dw_auto_free struct dw_sort_row *order = calloc(n + 1, sizeof *order);
	struct activity *sorted = calloc(n + 1, sizeof *sorted);
	int rc = order && sorted ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !rc; i++)
		order[i] = (struct dw_sort_row){l->done.v[i].end_ns, i};
	rc = rc ? rc : dw_sort_rows(order, n);
	for (size_t i = 0; i < n && !rc; i++)
		order[i].key = l->done.v[order[i].row].thread;
	rc = rc ? rc : dw_sort_rows(order, n);
	if (rc) {
		free(sorted);
		return rc;
	}
	for (size_t i = 0; i < n; i++)
		sorted[i] = l->done.v[order[i].row];
	free(l->done.v);
	l->done.v = sorted;
	l->done.cap = n + 1;
	return 0;
}

/* Gather what those threads did that held a lock somewhere. 0 or -ENOMEM. */
static int gather(struct locating *l)
{
	const struct dw_profile *p = l->p;
	bool has_samples = dw_sample_ns(p) > 0;
	struct dw_map holders = {0};
	int rc = 0;

	dw_vec_each(x, &p->extras.rows)
		if (is_unlocated(x) && !rc)
			rc = dw_map_put(&holders, x->thread, 1);
	for (size_t i = 0; i < p->samples.n && has_samples && !rc; i++) {
		uint64_t at = p->samples.time_ns[i];

		if (p->samples.stack[i] && dw_map_get(&holders, p->samples.thread[i]))
			rc = dw_vec_push(&l->done,
					 (struct activity){at, at, 0, p->samples.thread[i],
							   p->samples.stack[i]});
	}
	dw_vec_each(x, &p->extras.rows) {
		/* What one wait lacks it was ready for a processor, still in the same call. */
		uint64_t ns = dw_extra_is_one_long_wait(x) ? x->span_ns : x->n;

		if (x->measure == DWELL_MEASURE_BLOCKED && x->stack && x->span_ns && !rc &&
		    dw_map_get(&holders, x->thread))
			rc = dw_vec_push(&l->done,
					 (struct activity){x->begin_ns, x->begin_ns + x->span_ns,
							   (double)ns, x->thread, x->stack});
	}
	dw_map_release(&holders);
	return rc ? rc : sort(l);
}

static int add_share(struct locating *l, uint32_t stack, double ns)
{
	uint32_t at = dw_map_get(&l->share_of, stack);

	if (!at) {
		if (dw_vec_push(&l->shares, (struct share){.stack = stack}) ||
		    dw_map_put(&l->share_of, stack, (uint32_t)l->shares.n))
			return -ENOMEM;
		at = (uint32_t)l->shares.n;
	}
	l->shares.v[at - 1].ns += ns;
	return 0;
}

static bool is_sample(const struct activity *a)
{
	return a->begin_ns == a->end_ns;
}

/* What of @a, a wait, lies between @from_ns and @to_ns. */
static double part_of(const struct activity *a, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t begin = a->begin_ns > from_ns ? a->begin_ns : from_ns,
		 end = a->end_ns < to_ns ? a->end_ns : to_ns;

	return end > begin ? a->ns * (double)(end - begin) / (double)(a->end_ns - a->begin_ns) : 0;
}

/* Whether l->done.v[@i] is there, and is what the thread of @x began before that ended. */
static bool is_within(const struct locating *l, size_t i, const struct dw_extra *x)
{
	return i < l->done.n && l->done.v[i].thread == x->thread &&
	       l->done.v[i].begin_ns < x->begin_ns + x->span_ns;
}

/* One in so many of what the thread of @x did, from l->done.v[@first] on, speaks for all. */
static size_t step_of(const struct locating *l, const struct dw_extra *x, size_t first)
{
	uint64_t to_ns = x->begin_ns + x->span_ns;
	size_t end = dw_sorted_count(l->done.v, l->done.n, a,
				     a->thread < x->thread ||
					     (a->thread == x->thread && a->end_ns < to_ns));

	return end > first ? (end - first) / l->looks_max + 1 : 1;
}

/* The @k-th that is looked at of those from @first on, one in @step each: not in step with what a
 * program does again and again. */
static size_t pick(size_t first, size_t k, size_t step)
{
	return first + k * step + (step > 1 ? dw_hash_u64(k) % step : 0);
}

/* Make shares of what the thread of @x did in its time, which begins at l->done.v[@first]: of waits
 * what they took, of samples the rest, in equal parts: a thread that does not wait runs, or could.
 * In short waits the holder was seen to run. 0 or -ENOMEM. */
static int make_shares(struct locating *l, const struct dw_extra *x, size_t first)
{
	uint64_t to_ns = x->begin_ns + x->span_ns;
	double ran_ns = (double)x->span_ns;
	bool has_waits = dw_extra_is_one_long_wait(x);
	size_t samples = 0, step = step_of(l, x, first), i;
	int rc = 0;

	l->shares.n = 0;
	dw_map_release(&l->share_of);
	for (size_t k = 0; is_within(l, i = pick(first, k, step), x) && !rc; k++) {
		const struct activity *a = &l->done.v[i];
		double ns = is_sample(a) || !has_waits ? 0 : part_of(a, x->begin_ns, to_ns);

		ns *= (double)step;
		samples += is_sample(a);
		ran_ns -= ns;
		if (ns > 0)
			rc = add_share(l, a->stack, ns);
	}
	for (size_t k = 0; is_within(l, i = pick(first, k, step), x) && ran_ns > 0 && !rc; k++)
		if (is_sample(&l->done.v[i]))
			rc = add_share(l, l->done.v[i].stack, ran_ns / (double)samples);
	return rc;
}

static int compare_shares(const void *pa, const void *pb)
{
	const struct share *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return (a->stack > b->stack) - (a->stack < b->stack);
}

/* Divide @x, a copy, whose row is @row. 0 or -ENOMEM. */
static int divide(struct locating *l, struct dw_extra x, size_t row)
{
	uint64_t left = x.n;
	size_t i = dw_sorted_count(l->done.v, l->done.n, a,
				   a->thread < x.thread ||
					   (a->thread == x.thread && a->end_ns < x.begin_ns));
	double all = 0;
	int rc = make_shares(l, &x, i);

	if (rc || !l->shares.n)
		return rc;
	qsort(l->shares.v, l->shares.n, sizeof *l->shares.v, compare_shares);
	l->shares.n = l->shares.n < STACKS_MAX ? l->shares.n : STACKS_MAX;
	dw_vec_each(share, &l->shares)
		all += share->ns;
	for (size_t k = l->shares.n; k-- && !rc;) {
		struct dw_extra part = x;

		part.stack = l->shares.v[k].stack;
		part.n = k ? (uint64_t)((double)x.n * (l->shares.v[k].ns / all)) : left;
		part.n = part.n < left ? part.n : left;
		left -= part.n;
		if (!k)
			l->p->extras.rows.v[row] = part;
		else if (part.n)
			rc = dw_vec_push(&l->p->extras.rows, part);
	}
	return rc;
}

/* Let rows be in the order of their ends again. 0 or -ENOMEM. */
static int restore_order(struct dw_extras *extras)
{
	size_t n = extras->rows.n;
	dw_auto_free struct dw_sort_row *order = calloc(n + 1, sizeof *order);
	struct dw_extra *sorted = calloc(n + 1, sizeof *sorted);
	int rc = order && sorted ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !rc; i++)
		order[i] = (struct dw_sort_row){
			extras->rows.v[i].begin_ns + extras->rows.v[i].span_ns, i};
	rc = rc ? rc : dw_sort_rows(order, n);
	if (rc) {
		free(sorted);
		return rc;
	}
	for (size_t i = 0; i < n; i++)
		sorted[i] = extras->rows.v[order[i].row];
	free(extras->rows.v);
	extras->rows.v = sorted;
	extras->rows.cap = n + 1;
	return 0;
}

int dw_locate_lock_holders(struct dw_profile *p)
{
	struct locating l = {.p = p};
	size_t n = p->extras.rows.n;
	size_t unlocated = 0;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		unlocated += is_unlocated(&p->extras.rows.v[i]);
	if (unlocated) {
		l.looks_max = LOOKS_MAX / unlocated;
		l.looks_max = l.looks_max > LOOKS_MIN ? l.looks_max : LOOKS_MIN;
		rc = gather(&l);
	}
	for (size_t i = 0; i < n && unlocated && !rc; i++)
		if (is_unlocated(&p->extras.rows.v[i]))
			rc = divide(&l, p->extras.rows.v[i], i);
	if (!rc && p->extras.rows.n > n)
		rc = restore_order(&p->extras);
	dw_vec_release(&l.done);
	dw_vec_release(&l.shares);
	dw_map_release(&l.share_of);
	return rc;
}
