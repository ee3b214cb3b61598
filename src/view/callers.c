/*
 * The callers view: for each lane that ran the function, who called it, itself, and what it called.
 *
 * A caller's row has the share of the function's values that its calls caused, a callee's row the
 * callee's values when this function called it. A recursive function is its own caller and callee.
 */
#include "analysis/totals.h"
#include "view/rows.h"

#include <errno.h>
#include <stdlib.h>

struct member {
	uint32_t lane;
	uint32_t function;
	enum dw_row_type type;
	struct dw_measured measured;
};

struct callers {
	DW_VEC(struct member) members;
};

/* Append the members of one block, which all are of one @type. */
static int add_edges(struct callers *c, const struct dw_view *v, uint32_t lane,
		     enum dw_row_type type)
{
	const struct dw_totals *t = v->request.totals;
	uint32_t function = v->request.function;

	for (size_t i = dw_lane_first(&t->edges, lane);
	     i < t->edges.n && t->edges.v[i].lane == lane; i++) {
		const struct dw_edge_total *e = &t->edges.v[i];
		bool callers = type == DWELL_ROW_CALLER;
		struct member m = {lane, callers ? e->caller : e->callee, type,
				   dw_totals_measured(t, e->amounts)};

		if ((callers ? e->callee : e->caller) == function && dw_vec_push(&c->members, m))
			return -ENOMEM;
	}
	return 0;
}

static int add_lane(struct callers *c, const struct dw_view *v,
		    const struct dw_function_total *total)
{
	struct member self = {total->lane, total->function, DWELL_ROW_CURRENT,
			      dw_totals_function_measured(v->request.totals, total)};

	if (add_edges(c, v, total->lane, DWELL_ROW_CALLER) || dw_vec_push(&c->members, self))
		return -ENOMEM;
	return add_edges(c, v, total->lane, DWELL_ROW_CALLEE);
}

/* Sort within each run of rows of one lane and type. */
static int sort_blocks(struct dw_view *v, const struct callers *c)
{
	size_t first = 0;
	int rc = 0;

	for (size_t i = 1; i <= v->n && !rc; i++) {
		const struct member *m = c->members.v;

		if (i < v->n && m[i].lane == m[first].lane && m[i].type == m[first].type)
			continue;
		rc = dw_order_sort(v, first, i - first);
		first = i;
	}
	return rc;
}

/* Append to @items the block of the lane that member @at is of. Returns how many there are then. */
static size_t put_block(const struct dw_view *v, const struct callers *c, size_t at,
			uint32_t *items, size_t n)
{
	const struct member *m = c->members.v;
	uint32_t lane = m[at].lane;

	while (at && m[at - 1].lane == lane)
		at--;
	for (; at < c->members.n && m[at].lane == lane; at++)
		items[n++] = v->items[at];
	return n;
}

/* Put blocks in the order of what the function itself has in each. */
static int order_blocks(struct dw_view *v, const struct callers *c)
{
	uint32_t *currents = calloc(v->n + 1, sizeof *currents);
	uint32_t *items = calloc(v->n + 1, sizeof *items);
	size_t blocks = 0, n = 0;
	int rc = currents && items ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < v->n && !rc; i++)
		if (c->members.v[i].type == DWELL_ROW_CURRENT)
			currents[blocks++] = i;
	if (!rc)
		rc = dw_order_items(v, currents, blocks);
	for (size_t i = 0; i < blocks && !rc; i++)
		n = put_block(v, c, currents[i], items, n);
	free(currents);
	if (rc) {
		free(items);
		return rc;
	}
	free(v->items);
	v->items = items;
	return 0;
}

static int open_callers(struct dw_view *v)
{
	struct callers *c = v->own = calloc(1, sizeof *c);

	if (!c)
		return -ENOMEM;
	dw_vec_each(total, &v->request.totals->functions)
		if (total->function == v->request.function && add_lane(c, v, total))
			return -ENOMEM;
	if (dw_order_all(v, c->members.n) || sort_blocks(v, c))
		return -ENOMEM;
	return order_blocks(v, c);
}

static void caller_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
		       struct dw_row *ret)
{
	const struct callers *c = v->own;
	const struct member *m = &c->members.v[item];

	(void)scratch;
	dw_row_set_lane(v, m->lane, ret);
	dw_row_set_function(v, m->function, ret);
	ret->type = m->type;
	dw_row_set_measured(v, m->measured, ret);
}

static void release_callers(struct dw_view *v)
{
	struct callers *c = v->own;

	if (c)
		dw_vec_release(&c->members);
	free(c);
}

static const enum dw_column columns[] = {DWELL_COLUMNS_GENERAL, DWELL_COLUMN_COUNTS,
					 DWELL_COLUMN_TYPE,	DWELL_COLUMN_ROOT,
					 DWELL_COLUMN_VALUES,	DWELL_COLUMN_END};
static const enum dw_column defaults[] = {DWELL_COLUMN_TYPE,	     DWELL_COLUMN_DEFAULT_VALUES,
					  DWELL_COLUMN_DEFAULT_LANE, DWELL_COLUMN_FUNCTION_NAME,
					  DWELL_COLUMN_MODULE_NAME,  DWELL_COLUMN_END};

const struct dw_view_ops dw_view_callers = {
	.name = "callers",
	.splits = true,
	.is_of_my_code = true,
	.trims = true,
	.tells_current = true,
	.help = "who calls FUNCTION, and what it calls",
	.parts = DWELL_TOTALS_FUNCTIONS | DWELL_TOTALS_EDGES,
	.columns = columns,
	.defaults = defaults,
	.sort = DWELL_COLUMN_LEAD_INCLUSIVE,
	.function = DWELL_FUNCTION_MUST,
	.open = open_callers,
	.row = caller_row,
	.release = release_callers,
};
