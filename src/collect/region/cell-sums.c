/* Inclusive values of cells; see cell-sums.h. */
#include "collect/region/cell-sums.h"

#include "collect/region/call-values.h"
#include "collect/region/cell-lines.h"
#include "collect/region/deltas.h"

#include <errno.h>

/* What a reading gives. */
struct giving {
	struct dw_call_lines *s;
	const struct dw_region_reading *now;
	const struct dw_cell_waits *waits;
	double scale; /* what probes did cost, of what the agent took them to cost */
};

/* Give node @id what an inclusive sum has risen by that has @ahead, with @probes ticks of probes.
 */
static int give_sum(const struct giving *g, uint32_t id, struct dw_call_ahead *ahead,
		    struct dw_call_rise rise, uint64_t probes)
{
	uint64_t calls = rise.calls;
	struct dw_call_values values;

	if (ahead)
		dw_call_ahead_settle(ahead, &rise);
	rise.calls = calls;
	dw_call_values_of(&rise, g->scale * (double)(int64_t)probes, g->now->clock, &values);
	return dw_deltas_give(g->s->p, id, &values, g->now);
}

static uint64_t rise(uint64_t now, uint64_t old)
{
	return now > old ? now - old : 0;
}

/* The sums of the cell at @line. */
static int give_cell(const struct giving *g, uint32_t line)
{
	struct dw_tree_inner inner = {0}, inner_old = {0};
	struct dw_tree_cell cell, old;
	struct dw_call_rise risen;
	uint32_t node = 0;
	int rc;

	dw_call_lines_get(g->s, line, 1, &cell);
	dw_call_lines_get_old(g->s, line, 1, &old);
	rc = dw_cell_lines_inner(g->s, line, cell.inner, &inner, &inner_old, &node);
	if (rc == -ENOMEM)
		return rc;
	risen = dw_call_rise_inclusive((uint64_t[]){cell.inclusive, cell.probes},
				       (uint64_t[]){old.inclusive, old.probes},
				       &inner.os[DWELL_OUTERMOST], &inner_old.os[DWELL_OUTERMOST]);
	risen.calls = rise(cell.calls, old.calls);
	rc = give_sum(g, g->s->lines.v[line].id + 1,
		      dw_call_ahead_of(&g->waits->of[DWELL_OUTERMOST], line), risen,
		      cell.probes - old.probes);
	if (rc || !node)
		return rc;
	risen = dw_call_rise_inclusive((uint64_t[]){inner.inclusive, inner.probes},
				       (uint64_t[]){inner_old.inclusive, inner_old.probes},
				       &inner.os[DWELL_REPEATED], &inner_old.os[DWELL_REPEATED]);
	risen.calls = rise(inner.repeated, inner_old.repeated);
	return give_sum(g, node, dw_call_ahead_of(&g->waits->of[DWELL_REPEATED], line), risen,
			inner.probes - inner_old.probes);
}

int dw_cell_sums_give(struct dw_cell_sums *c, struct dw_call_lines *s,
		      const struct dw_call_aheads *ahead, const struct dw_region_reading *now)
{
	struct giving g = {s, now, &c->waits, c->probes > 0 ? c->cost / c->probes : 0};
	int rc = dw_cell_waits_look(&c->waits, s, ahead, now->head);

	for (size_t i = 0; i < s->changes.n && !rc; i++) {
		uint32_t line = s->changes.v[i].line;
		enum dw_line_kind kind = s->lines.v[line].kind;

		if (kind == DWELL_LINE_CELL || kind == DWELL_LINE_CELL_OUTSIDE)
			rc = give_cell(&g, line);
	}
	return rc ? rc : dw_cell_waits_keep(&c->waits);
}

void dw_cell_sums_release(struct dw_cell_sums *c)
{
	dw_cell_waits_release(&c->waits);
}
