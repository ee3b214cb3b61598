/* Aggregating waits; see aggregator.h. Rows of one stack that follow one another within a tenth of
 * a second are one: that is what ranges of time resolve. */
#include "collect/waits/aggregator.h"

#include "model/measure.h"

#include <errno.h>

#define MERGE_NS  100000000ull
#define SETTLE_NS 20000000ull /* unseen waits are told after this, at least */

static int put_row(struct dw_wait_aggregator *b, struct dw_profile *p)
{
	int rc = 0;

	if (b->row.span_ns && b->row.n)
		rc = dw_vec_push(&p->extras.rows, b->row);
	b->row = (struct dw_extra){0};
	return rc;
}

int dw_wait_aggregator_seen(struct dw_wait_aggregator *b, struct dw_profile *p,
			    const struct dw_extra *w)
{
	uint64_t end = w->begin_ns + w->span_ns, before = b->row.begin_ns + b->row.span_ns;
	int rc = 0;

	if (!w->span_ns)
		return 0;
	if (b->row.span_ns && (b->row.stack != w->stack || b->row.thread != w->thread ||
			       w->begin_ns < before || end - b->row.begin_ns > MERGE_NS))
		rc = put_row(b, p);
	if (!b->row.span_ns) {
		b->row = *w;
	} else {
		b->row.span_ns = end - b->row.begin_ns;
		b->row.n += w->n;
	}
	return rc;
}

void dw_wait_aggregator_note(struct dw_wait_aggregator *b, uint32_t stack, uint64_t ns,
			     uint64_t look_ns)
{
	uint64_t more = look_ns > ns ? look_ns - ns : 0;
	struct dw_wait_shares *s = &b->now;
	unsigned i = 0, least = 0;

	if (!more)
		return;
	while (i < s->n && s->v[i].stack != stack)
		i++;
	if (i == DWELL_WAIT_STACKS) {
		for (unsigned k = 1; k < DWELL_WAIT_STACKS; k++)
			if (s->v[k].ns < s->v[least].ns)
				least = k;
		i = least;
		s->v[i] = (struct dw_wait_share){stack, 0};
	} else if (i == s->n) {
		s->v[s->n++] = (struct dw_wait_share){stack, 0};
	}
	s->v[i].ns += more;
}

void dw_wait_aggregator_unseen(struct dw_wait_aggregator *b, uint64_t begin_ns, uint64_t end_ns)
{
	if (end_ns <= begin_ns)
		return;
	if (!b->unseen_ns)
		b->unseen_begin_ns = begin_ns;
	b->unseen_ns += end_ns - begin_ns;
	b->unseen_end_ns = end_ns;
}

static int put_unseen(struct dw_wait_aggregator *b, struct dw_profile *p, uint32_t thread,
		      uint32_t stack, uint64_t ns)
{
	struct dw_extra w = {
		.begin_ns = b->unseen_begin_ns,
		.span_ns = b->unseen_end_ns - b->unseen_begin_ns,
		.n = ns,
		.thread = thread,
		.stack = stack,
		.measure = DWELL_MEASURE_BLOCKED,
	};

	return ns ? dw_vec_push(&p->extras.rows, w) : 0;
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
		rc = put_unseen(b, p, thread, s->v[i].stack, part);
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
		rc = put_unseen(b, p, thread, 0, b->unseen_ns);
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

	if (b->row.span_ns && (final || now_ns > b->row.begin_ns + 2 * MERGE_NS))
		rc = put_row(b, p);
	if (!rc && b->unseen_ns && (final || (b->now.n && now_ns > b->unseen_begin_ns + SETTLE_NS)))
		rc = put_all_unseen(b, p, thread);
	return rc;
}
