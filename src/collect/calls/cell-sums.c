/* Inclusive values of cells; see cell-sums.h. */
#include "collect/calls/cell-sums.h"

#include "collect/calls/call-values.h"
#include "collect/calls/cell-lines.h"
#include "collect/calls/increments.h"
#include "collect/calls/call-extremes.h"

#include <errno.h>

void dw_cell_costs_clear(struct dw_cell_costs *c)
{
	c->rows.n = 0;
	dw_pairs_release(&c->of);
}

int dw_cell_costs_add(struct dw_cell_costs *c, uint32_t function, double elapsed, double cost)
{
	uint32_t i = dw_pairs_add(&c->of, function, 0);

	if (!i || (i > c->rows.n && dw_vec_push(&c->rows, (struct dw_cell_cost){0})))
		return -ENOMEM;
	c->rows.v[i - 1].elapsed += elapsed;
	c->rows.v[i - 1].cost += cost;
	return 0;
}

double dw_cell_costs_share(const struct dw_cell_costs *c, uint32_t function, double elapsed)
{
	uint32_t i = dw_pairs_find(&c->of, function, 0);
	const struct dw_cell_cost *row = i ? &c->rows.v[i - 1] : NULL;

	return row && row->elapsed > 0 && elapsed > 0 ? row->cost * elapsed / row->elapsed : 0;
}

void dw_cell_costs_release(struct dw_cell_costs *c)
{
	dw_vec_release(&c->rows);
	dw_pairs_release(&c->of);
}

/* A thread that waits. */
struct waiting {
	const struct dw_call_thread *thread;
	struct dw_tree_thread t;
	const struct dw_call_ahead *ahead; /* of its current node */
	uint32_t n;
	struct dw_tree_open open[DWELL_OPEN_MAX];
};

/* What is charged ahead of the current node of @k, read anew. NULL = it waits no more, or has no
 * cells. */
static const struct dw_call_ahead *ahead_of(struct waiting *k, const struct dw_call_lines *s,
					    const struct dw_call_aheads *ahead,
					    const struct dw_region_head *head)
{
	const struct dw_call_ahead *a;
	uint64_t line;

	dw_call_lines_get_newer(s, k->thread->line, DWELL_THREAD_LINES, &k->t);
	line = ((uint64_t)k->t.current - head->arena_base) / DWELL_LINE_BYTES;
	if (!k->t.has_cells || k->t.state != DWELL_THREAD_IN_CALL || line >= s->lines.n)
		return NULL;
	a = dw_call_ahead_of(ahead, (uint32_t)line);
	return a && a->now.elapsed > 0 && a->until - (uint64_t)a->now.elapsed == k->t.last ? a
											   : NULL;
}

/* Copy what is open in a thread that waits. Whether it has waited all the time. */
static bool get_open(struct waiting *k, const struct dw_call_lines *s,
		     const struct dw_call_aheads *ahead, const struct dw_region_head *head)
{
	struct dw_tree_open *o = k->open;
	uint32_t index;

	k->ahead = ahead_of(k, s, ahead, head);
	if (!k->ahead)
		return false;
	index = k->t.open_top;
	while (k->n < DWELL_OPEN_MAX && dw_open_get(s, &k->t, index, o)) {
		index = o->below < index ? o->below : 0;
		k->n += o->adds != 0;
		o += o->adds != 0;
	}
	return k->ahead == ahead_of(k, s, ahead, head);
}

/* What the values of @kind of the cell at @line come to so far, both. False: it has none. */
static bool known_of(struct dw_call_lines *s, uint32_t line, int kind, uint64_t *ret)
{
	struct dw_tree_inner inner, old;
	struct dw_tree_cell cell;
	uint32_t node;

	dw_call_lines_get(s, line, 1, &cell);
	*ret = cell.inclusive + cell.probes;
	if (kind == DWELL_OUTERMOST)
		return true;
	if (dw_cell_lines_inner(s, line, cell.inner, &inner, &old, &node))
		return false;
	*ret = inner.inclusive + inner.probes;
	return true;
}

/* The open @o will have added so much more. */
static int add(struct dw_cell_waits *w, struct dw_call_lines *s, const struct waiting *k,
	       const struct dw_tree_open *o)
{
	const struct dw_call_ahead *current = k->ahead;
	int kind = (int)o->adds - 1;
	struct dw_call_ahead *a;
	uint64_t known, more;

	if (kind >= DWELL_INNER_KINDS || o->node >= s->lines.n ||
	    !dw_line_is_cell(s->lines.v[o->node].kind) ||
	    dw_call_lines_thread(s, o->node) != k->thread || !known_of(s, o->node, kind, &known))
		return 0;
	more = o->sums + current->until - k->t.other_cost - known;
	if (more < (uint64_t)current->now.elapsed || more > INT64_MAX)
		return 0;
	a = dw_call_ahead_add(&w->of[kind], o->node);
	if (!a)
		return -ENOMEM;
	a->now = current->now;
	a->now.elapsed = (int64_t)more;
	a->now.application += (int64_t)more - current->now.elapsed;
	return 0;
}

static int look_at(struct dw_cell_waits *w, struct dw_call_lines *s, struct waiting *k,
		   const struct dw_call_aheads *ahead, const struct dw_region_head *head)
{
	int rc = 0;

	k->n = 0;
	if (!get_open(k, s, ahead, head))
		return 0;
	for (uint32_t i = 0; i < k->n && !rc; i++)
		rc = add(w, s, k, &k->open[i]);
	return rc;
}

/* Find out what waits by now, from what is charged @ahead to current nodes. Touches the cells of
 * all that is or was ahead. 0 or -ENOMEM, as the next. */
static int cell_waits_look(struct dw_cell_waits *w, struct dw_call_lines *s,
			   const struct dw_call_aheads *ahead, const struct dw_region_head *head)
{
	struct waiting k;
	int rc = 0;

	for (int kind = 0; kind < DWELL_INNER_KINDS; kind++)
		dw_vec_each(a, &w->of[kind].v)
			a->now = (struct dw_call_stretch){0};
	dw_vec_each(thread, &s->threads) {
		k.thread = thread;
		if (!rc && thread->cells_node)
			rc = look_at(w, s, &k, ahead, head);
	}
	for (int kind = 0; kind < DWELL_INNER_KINDS; kind++)
		for (size_t i = 0; i < w->of[kind].v.n && !rc; i++)
			if (dw_call_lines_touch(s, w->of[kind].v.v[i].line) < 0)
				rc = -ENOMEM;
	return rc;
}

/* A reading is done: forget what is even. */
static int cell_waits_keep(struct dw_cell_waits *w)
{
	int rc = dw_call_aheads_keep(&w->of[DWELL_OUTERMOST]);

	return rc ? rc : dw_call_aheads_keep(&w->of[DWELL_REPEATED]);
}

/* Free everything. */
static void cell_waits_release(struct dw_cell_waits *w)
{
	for (int kind = 0; kind < DWELL_INNER_KINDS; kind++)
		dw_call_aheads_release(&w->of[kind]);
}

/* What a reading gives. */
struct giving {
	struct dw_call_lines *s;
	const struct dw_region_reading *now;
	const struct dw_cell_waits *waits;
	double scale; /* what probes did cost, of what the agent took them to cost */
};

/* Give node @id what an inclusive sum has grown by that has @ahead, with @probes ticks of probes.
 */
static int give_sum(const struct giving *g, uint32_t id, struct dw_call_ahead *ahead,
		    struct dw_call_increment increment, uint64_t probes)
{
	uint64_t calls = increment.calls;
	struct dw_call_values values;

	if (ahead)
		dw_call_ahead_settle(ahead, &increment);
	increment.calls = calls;
	dw_call_values_of(&increment, g->scale * (double)(int64_t)probes, g->now->clock, &values);
	return dw_deltas_give(g->s->p, id, &values, g->now);
}

static uint64_t increase(uint64_t now, uint64_t old)
{
	return now > old ? now - old : 0;
}

/* The sums of the cell at @line. */
static int give_cell(const struct giving *g, uint32_t line)
{
	struct dw_tree_inner inner = {0}, inner_old = {0};
	struct dw_tree_cell cell, old;
	struct dw_call_increment increment;
	uint32_t node = 0;
	int rc;

	dw_call_lines_get(g->s, line, 1, &cell);
	dw_call_lines_get_old(g->s, line, 1, &old);
	rc = dw_cell_lines_inner(g->s, line, cell.inner, &inner, &inner_old, &node);
	if (rc == -ENOMEM)
		return rc;
	increment = dw_call_increment_inclusive(
		(uint64_t[]){cell.inclusive, cell.probes}, (uint64_t[]){old.inclusive, old.probes},
		&inner.os[DWELL_OUTERMOST], &inner_old.os[DWELL_OUTERMOST]);
	increment.calls = increase(cell.calls, old.calls);
	rc = give_sum(g, g->s->lines.v[line].id + 1,
		      dw_call_ahead_of(&g->waits->of[DWELL_OUTERMOST], line), increment,
		      cell.probes - old.probes);
	if (rc || !node)
		return rc;
	increment = dw_call_increment_inclusive((uint64_t[]){inner.inclusive, inner.probes},
						(uint64_t[]){inner_old.inclusive, inner_old.probes},
						&inner.os[DWELL_REPEATED],
						&inner_old.os[DWELL_REPEATED]);
	increment.calls = increase(inner.repeated, inner_old.repeated);
	return give_sum(g, node, dw_call_ahead_of(&g->waits->of[DWELL_REPEATED], line), increment,
			inner.probes - inner_old.probes);
}

int dw_cell_sums_give(struct dw_cell_sums *c, struct dw_call_lines *s,
		      const struct dw_call_aheads *ahead, const struct dw_region_reading *now)
{
	struct giving g = {s, now, &c->waits, c->probes > 0 ? c->cost / c->probes : 0};
	int rc = cell_waits_look(&c->waits, s, ahead, now->head);

	for (size_t i = 0; i < s->changes.n && !rc; i++) {
		uint32_t line = s->changes.v[i].line;
		enum dw_line_kind kind = s->lines.v[line].kind;

		if (kind == DWELL_LINE_CELL || kind == DWELL_LINE_CELL_EXTERNAL)
			rc = give_cell(&g, line);
	}
	return rc ? rc : cell_waits_keep(&c->waits);
}

void dw_cell_sums_release(struct dw_cell_sums *c)
{
	cell_waits_release(&c->waits);
}
