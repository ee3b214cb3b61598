/* What waits in cells; see cell-waits.h. */
#include "collect/region/cell-waits.h"

#include "collect/region/cell-lines.h"
#include "collect/region/open.h"

#include <errno.h>

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

int dw_cell_waits_look(struct dw_cell_waits *w, struct dw_call_lines *s,
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

int dw_cell_waits_keep(struct dw_cell_waits *w)
{
	int rc = dw_call_aheads_keep(&w->of[DWELL_OUTERMOST]);

	return rc ? rc : dw_call_aheads_keep(&w->of[DWELL_REPEATED]);
}

void dw_cell_waits_release(struct dw_cell_waits *w)
{
	for (int kind = 0; kind < DWELL_INNER_KINDS; kind++)
		dw_call_aheads_release(&w->of[kind]);
}
