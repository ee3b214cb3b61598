/*
 * Orders and ranks; see order.h. A tree's order takes one sort and one walk: when nodes are put
 * before their siblings from the lightest to the heaviest, each list of children ends up sorted.
 */
#include "session/order.h"

#include "base/cleanup.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>

/* Values by index. */
struct by_index {
	const struct dw_totals *totals;
	const void *amounts; /* as dw_order_rows() takes them; NULL: the rows are nodes */
	size_t stride;
};

static struct dw_values values_at(const struct by_index *of, size_t i)
{
	const char *amounts = of->amounts;

	if (!amounts)
		return dw_totals_node_weight(of->totals, i);
	return *dw_amounts_common(&of->totals->amounts,
				  *(const uint32_t *)(const void *)(amounts + i * of->stride),
				  dw_totals_order(of->totals));
}

/* Sort @rows, indices of values, by the first number that @by_inclusive tells, then the other,
 * the largest first. */
static int sort_by_values(struct dw_sort_row *rows, size_t n, const struct by_index *of,
			  bool by_inclusive)
{
	int rc = 0;

	for (int pass = 0; pass < 2 && !rc; pass++) {
		bool inclusive = by_inclusive == (pass == 1);

		for (size_t i = 0; i < n; i++) {
			struct dw_values v = values_at(of, rows[i].row);

			rows[i].key = ~(inclusive ? v.inclusive : v.exclusive);
		}
		rc = dw_sort_rows(rows, n);
	}
	return rc;
}

int dw_order_rows(const struct dw_totals *t, const uint32_t *amounts, size_t stride, size_t n,
		  bool by_inclusive, size_t **ret)
{
	const struct by_index of = {t, amounts, stride};
	dw_auto_free struct dw_sort_row *rows = malloc((n + 1) * sizeof *rows);
	dw_auto_free size_t *order = malloc((n + 1) * sizeof *order);

	if (!rows || !order)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		rows[i].row = i;
	if (sort_by_values(rows, n, &of, by_inclusive))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		order[i] = rows[i].row;
	*ret = dw_take_ptr(order);
	return 0;
}

/* Lists of children by index + 1, 0 = none; [0] is the list of roots. */
struct children {
	size_t *first;
	size_t *next;
};

/* Walk the lists depth first into @order. */
static size_t walk(const struct children *c, const struct dw_node_total *nodes, size_t *order)
{
	size_t n = 0, at = c->first[0];

	while (at) {
		order[n++] = at - 1;
		if (c->first[at]) {
			at = c->first[at];
			continue;
		}
		while (at && !c->next[at])
			at = nodes[at - 1].parent == UINT32_MAX ? 0
								: (size_t)nodes[at - 1].parent + 1;
		if (at)
			at = c->next[at];
	}
	return n;
}

/* Sort @rows, indices of nodes, the heaviest first. */
static int sort_nodes(const struct dw_totals *t, struct dw_sort_row *rows, size_t n)
{
	const struct by_index nodes = {.totals = t};

	return sort_by_values(rows, n, &nodes, true);
}

int dw_order_nodes(const struct dw_totals *t, const struct dw_worth *worth, size_t **ret,
		   size_t *ret_n)
{
	const struct dw_node_total *nodes = t->nodes.v;
	size_t n = t->nodes.n;

	dw_auto_free struct dw_sort_row *kept = malloc((n + 1) * sizeof *kept);
	dw_auto_free size_t *first = calloc(n + 1, sizeof *first);
	dw_auto_free size_t *next = calloc(n + 1, sizeof *next);
	size_t kept_n = 0, *order;

	if (!kept || !first || !next)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (dw_worth_has(worth, &t->node_amounts, i, false))
			kept[kept_n++].row = i;
	if (kept_n && sort_nodes(t, kept, kept_n))
		return -ENOMEM;
	for (size_t i = kept_n; i-- > 0;) {
		size_t row = kept[i].row;
		size_t up = nodes[row].parent == UINT32_MAX ? 0 : (size_t)nodes[row].parent + 1;

		next[row + 1] = first[up];
		first[up] = row + 1;
	}
	order = malloc((kept_n ? kept_n : 1) * sizeof *order);
	if (!order)
		return -ENOMEM;
	*ret_n = walk(&(struct children){first, next}, nodes, order);
	*ret = order;
	return 0;
}

struct wanted {
	const struct dw_totals *totals;
	uint32_t process, function;
	const struct dw_location *at;
};

static uint32_t hash_of(uint32_t process, uint32_t function, const struct dw_location *at)
{
	uint32_t words[] = {process,	function,     at->file,	     at->line,
			    at->column, at->line_end, at->column_end};

	return (uint32_t)dw_hash_bytes(words, sizeof words, 0);
}

static bool is_equal(const void *ctx, uint32_t id)
{
	const struct wanted *w = ctx;
	const struct dw_line_total *l = &w->totals->lines.v[id - 1];

	return l->lane == w->process && l->function == w->function && l->file == w->at->file &&
	       l->line == w->at->line && l->column == w->at->column &&
	       l->line_end == w->at->line_end && l->column_end == w->at->column_end;
}

void dw_line_ranks_add(struct dw_line_ranks *r, const struct dw_totals *totals, size_t row,
		       uint32_t rank)
{
	const struct dw_line_total *l = &totals->lines.v[row];
	struct dw_location at = {.file = l->file,
				 .line = l->line,
				 .column = l->column,
				 .line_end = l->line_end,
				 .column_end = l->column_end};

	if (row < UINT32_MAX && !dw_map_put(&r->ranks, row, rank))
		(void)dw_idset_add(&r->lines, hash_of(l->lane, l->function, &at),
				   (uint32_t)row + 1);
}

uint32_t dw_line_ranks_find(const struct dw_line_ranks *r, const struct dw_totals *totals,
			    uint32_t process, uint32_t function, const struct dw_location *at)
{
	struct wanted w = {totals, process, function, at};
	uint32_t id = dw_idset_find(&r->lines, hash_of(process, function, at), is_equal, &w);

	return id ? dw_map_get(&r->ranks, id - 1) : 0;
}

void dw_line_ranks_release(struct dw_line_ranks *r)
{
	dw_idset_release(&r->lines);
	dw_map_release(&r->ranks);
}
