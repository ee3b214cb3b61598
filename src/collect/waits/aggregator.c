/* Aggregating waits; see aggregator.h. Rows of one stack that follow one another within a tenth of
 * a second are one: that is what ranges of time resolve. */
#include "collect/waits/aggregator.h"

#include "model/measure.h"

#include <errno.h>

#define MERGE_NS  100000000ull
#define SETTLE_NS 20000000ull /* unseen waits are told after this, at least */

static int put(struct dw_profile *p, const struct dw_extra *wait, struct dw_wait_holder holder)
{
	struct dw_extra held = *wait;
	int rc = dw_vec_push(&p->extras.rows, *wait);

	if (rc || !holder.thread)
		return rc;
	held.measure = DWELL_MEASURE_OTHERS_WAITED;
	held.thread = holder.thread;
	held.stack = dw_extra_is_one_long_wait(wait) ? 0 : holder.stack;
	return dw_vec_push(&p->extras.rows, held);
}

static int put_row(struct dw_wait_row *row, struct dw_profile *p)
{
	int rc = 0;

	if (row->wait.span_ns && row->wait.n)
		rc = put(p, &row->wait, row->holder);
	*row = (struct dw_wait_row){0};
	return rc;
}

static bool is_same_holder(struct dw_wait_holder a, struct dw_wait_holder b)
{
	return a.thread == b.thread && a.stack == b.stack;
}

static bool are_alike(const struct dw_wait_row *a, const struct dw_wait_row *b)
{
	return a->wait.stack == b->wait.stack && a->wait.kind == b->wait.kind &&
	       a->wait.thread == b->wait.thread && is_same_holder(a->holder, b->holder);
}

/* Add @w to @row, if it follows; else that is told. */
static int merge(struct dw_wait_row *row, struct dw_profile *p, const struct dw_wait_row *w)
{
	struct dw_extra *at = &row->wait;
	uint64_t end = w->wait.begin_ns + w->wait.span_ns, before = at->begin_ns + at->span_ns;
	int rc = 0;

	if (!w->wait.span_ns)
		return 0;
	if (at->span_ns &&
	    (!are_alike(row, w) || w->wait.begin_ns < before || end - at->begin_ns > MERGE_NS))
		rc = put_row(row, p);
	if (!at->span_ns) {
		*row = *w;
	} else {
		at->span_ns = end - at->begin_ns;
		at->n += w->wait.n;
	}
	return rc;
}

/* What of @ns is left of a wait behind which the thread was ready, as is told of earlier ones. */
static uint64_t without_woken(struct dw_wait_aggregator *b, uint64_t ns)
{
	uint64_t woken = b->woken_ns < ns ? b->woken_ns : ns;

	b->woken_ns -= woken;
	return ns - woken;
}

int dw_wait_aggregator_seen(struct dw_wait_aggregator *b, struct dw_profile *p,
			    const struct dw_wait_row *w)
{
	struct dw_wait_row left = *w;

	left.wait.n = without_woken(b, w->wait.n);
	return merge(&b->row, p, &left);
}

int dw_wait_aggregator_ready(struct dw_wait_aggregator *b, struct dw_profile *p, uint32_t thread,
			     uint64_t begin_ns, uint64_t end_ns, uint64_t ns, uint64_t woken_ns)
{
	uint64_t open = b->unseen_ns + b->row.wait.n, unseen;
	const struct dw_extra *last = &b->ready.wait;
	struct dw_wait_row row = {0};
	struct dw_extra ready = {.begin_ns = begin_ns,
				 .span_ns = end_ns > begin_ns ? end_ns - begin_ns : 0,
				 .n = ns,
				 .thread = thread,
				 .measure = DWELL_MEASURE_BLOCKED,
				 .kind = DWELL_WAIT_READY};

	woken_ns += b->woken_ns;
	b->woken_ns = woken_ns > open ? woken_ns - open : 0;
	woken_ns -= b->woken_ns;
	unseen = open ? (uint64_t)((unsigned __int128)woken_ns * b->unseen_ns / open) : 0;
	b->unseen_ns -= unseen;
	b->row.wait.n -= woken_ns - unseen;
	/* It is told when it is over, and may have begun before the last time. */
	if (ready.n > ready.span_ns) {
		uint64_t before = last->begin_ns + last->span_ns;

		ready.begin_ns = end_ns > ready.n ? end_ns - ready.n : 0;
		if (last->span_ns && ready.begin_ns < before && before < end_ns)
			ready.begin_ns = before;
		ready.span_ns = end_ns - ready.begin_ns;
	}
	row.wait = ready;
	return ready.n ? merge(&b->ready, p, &row) : 0;
}

static bool is_same_place(const struct dw_wait_place *a, const struct dw_wait_place *b)
{
	return a->stack == b->stack && a->kind == b->kind && is_same_holder(a->holder, b->holder);
}

void dw_wait_aggregator_note(struct dw_wait_aggregator *b, struct dw_wait_place place, uint64_t ns,
			     uint64_t look_ns)
{
	uint64_t more = look_ns > ns ? look_ns - ns : 0;
	struct dw_wait_shares *s = &b->now;
	unsigned i = 0, least = 0;

	if (!more)
		return;
	while (i < s->n && !is_same_place(&s->v[i].place, &place))
		i++;
	if (i == DWELL_WAIT_STACKS) {
		for (unsigned k = 1; k < DWELL_WAIT_STACKS; k++)
			if (s->v[k].ns < s->v[least].ns)
				least = k;
		i = least;
		s->v[i] = (struct dw_wait_share){place, 0};
	} else if (i == s->n) {
		s->v[s->n++] = (struct dw_wait_share){place, 0};
	}
	s->v[i].ns += more;
}

void dw_wait_aggregator_unseen(struct dw_wait_aggregator *b, uint64_t begin_ns, uint64_t end_ns)
{
	if (end_ns <= begin_ns)
		return;
	if (!b->unseen_ns)
		b->unseen_begin_ns = begin_ns;
	b->unseen_ns += without_woken(b, end_ns - begin_ns);
	b->unseen_end_ns = end_ns;
}

static int put_unseen(struct dw_wait_aggregator *b, struct dw_profile *p, uint32_t thread,
		      struct dw_wait_place place, uint64_t ns)
{
	struct dw_extra w = {
		.begin_ns = b->unseen_begin_ns,
		.span_ns = b->unseen_end_ns - b->unseen_begin_ns,
		.n = ns,
		.thread = thread,
		.stack = place.stack,
		.measure = DWELL_MEASURE_BLOCKED,
		.kind = place.kind,
	};

	return ns ? put(p, &w, place.holder) : 0;
}

/* Divide @ns of the unseen waits as @s says. */
static int divide(struct dw_wait_aggregator *b, struct dw_profile *p, uint32_t thread,
		  const struct dw_wait_shares *s, uint64_t ns)
{
	uint64_t all = 0, left = ns;
	int rc = 0;

	for (unsigned i = 0; i < s->n; i++)
		all += s->v[i].ns;
	for (unsigned i = 0; i < s->n && !rc; i++) {
		uint64_t part = (uint64_t)((unsigned __int128)ns * s->v[i].ns / all);

		if (i + 1 == s->n)
			part = left;
		left -= part;
		rc = put_unseen(b, p, thread, s->v[i].place, part);
	}
	return rc;
}

/* The unseen waits go to the stacks that were seen since the last time and to those before, half
 * each: where a program goes on to something else, nobody knows when between two looks. */
static int put_all_unseen(struct dw_wait_aggregator *b, struct dw_profile *p, uint32_t thread)
{
	uint64_t half = !b->now.n ? b->unseen_ns : b->before.n ? b->unseen_ns / 2 : 0;
	int rc;

	if (!b->now.n && !b->before.n) {
		b->nameless_ns += b->unseen_ns;
		rc = put_unseen(b, p, thread, (struct dw_wait_place){0}, b->unseen_ns);
	} else {
		rc = divide(b, p, thread, &b->before, half);
		if (!rc)
			rc = divide(b, p, thread, &b->now, b->unseen_ns - half);
	}
	b->before = b->now;
	b->now.n = 0;
	b->unseen_ns = 0;
	return rc;
}

int dw_wait_aggregator_flush(struct dw_wait_aggregator *b, struct dw_profile *p, uint32_t thread,
			     uint64_t now_ns, bool final)
{
	int rc = 0;

	if (b->row.wait.span_ns && (final || now_ns > b->row.wait.begin_ns + 2 * MERGE_NS))
		rc = put_row(&b->row, p);
	if (!rc && b->ready.wait.span_ns &&
	    (final || now_ns > b->ready.wait.begin_ns + 2 * MERGE_NS))
		rc = put_row(&b->ready, p);
	if (!rc && b->unseen_ns && (final || (b->now.n && now_ns > b->unseen_begin_ns + SETTLE_NS)))
		rc = put_all_unseen(b, p, thread);
	return rc;
}
