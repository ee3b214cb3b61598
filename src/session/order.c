/*
 * Orders; see order.h. A tree's order takes one sort and one walk: when nodes are put before their
 * siblings from the lightest to the heaviest, each list of children ends up sorted.
 */
#include "session/order.h"

#include "base/cleanup.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>

/* Sort @rows, indices into values, by the first number that @by_inclusive tells, then the other,
 * the largest first. @at, @stride: the values, as dw_order_rows() takes them. */
static int sort_by_values(struct dw_sort_row *rows, size_t n, const void *at, size_t stride,
			  bool by_inclusive)
{
	int rc = 0;

	for (int pass = 0; pass < 2 && !rc; pass++) {
		bool inclusive = by_inclusive == (pass == 1);

		for (size_t i = 0; i < n; i++) {
			const struct dw_values *v =
				(const void *)((const char *)at + rows[i].row * stride);

			rows[i].key = ~(inclusive ? v->inclusive : v->exclusive);
		}
		rc = dw_sort_rows(rows, n);
	}
	return rc;
}

int dw_order_rows(const struct dw_values *at, size_t stride, size_t n, bool by_inclusive,
		  size_t **ret)
{
	dw_auto_free struct dw_sort_row *rows = malloc((n + 1) * sizeof *rows);
	dw_auto_free size_t *order = malloc((n + 1) * sizeof *order);

	if (!rows || !order)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		rows[i].row = i;
	if (sort_by_values(rows, n, at, stride, by_inclusive))
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

static bool is_kept(const struct dw_totals *t, const struct dw_node_shares *least, size_t node)
{
	return t->nodes.v[node].values.inclusive >= least->inclusive_min ||
	       (t->node_blocked.n && t->node_blocked.v[node].inclusive >= least->blocked_min);
}

/* Sort @rows, indices of nodes, the heaviest first. */
static int sort_nodes(const struct dw_totals *t, struct dw_sort_row *rows, size_t n)
{
	if (dw_totals_go_by_waits(t) && t->node_blocked.n)
		return sort_by_values(rows, n, t->node_blocked.v, sizeof *t->node_blocked.v, true);
	return sort_by_values(rows, n, &t->nodes.v->values, sizeof *t->nodes.v, true);
}

int dw_order_nodes(const struct dw_totals *t, const struct dw_node_shares *least, size_t **ret,
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
		if (is_kept(t, least, i))
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
