/*
 * Orders; see order.h. A tree's order takes one sort and one walk: when nodes are put before their
 * siblings from the lightest to the heaviest, each list of children ends up sorted.
 */
#include "session/order.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>

struct ranked {
	struct dw_values values;
	size_t row;
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_exclusive(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;
	int c = compare_u64(b->values.exclusive, a->values.exclusive);

	if (!c)
		c = compare_u64(b->values.inclusive, a->values.inclusive);
	return c ? c : compare_u64(a->row, b->row);
}

static int compare_inclusive(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;
	int c = compare_u64(b->values.inclusive, a->values.inclusive);

	if (!c)
		c = compare_u64(b->values.exclusive, a->values.exclusive);
	return c ? c : compare_u64(a->row, b->row);
}

int dw_order_rows(const struct dw_values *at, size_t stride, size_t n, bool by_inclusive,
		  size_t **ret)
{
	dw_auto_free struct ranked *rows = malloc((n ? n : 1) * sizeof *rows);
	size_t *order = rows ? malloc((n ? n : 1) * sizeof *order) : NULL;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		rows[i] = (struct ranked){*at, i};
		at = (const struct dw_values *)((const char *)at + stride);
	}
	if (n)
		qsort(rows, n, sizeof *rows, by_inclusive ? compare_inclusive : compare_exclusive);
	for (size_t i = 0; i < n; i++)
		order[i] = rows[i].row;
	*ret = order;
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

int dw_order_nodes(const struct dw_node_total *nodes, size_t n, uint64_t inclusive_min,
		   size_t **ret, size_t *ret_n)
{
	dw_auto_free struct ranked *kept = malloc((n ? n : 1) * sizeof *kept);
	dw_auto_free size_t *first = calloc(n + 1, sizeof *first);
	dw_auto_free size_t *next = calloc(n + 1, sizeof *next);
	size_t kept_n = 0, *order;

	if (!kept || !first || !next)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (nodes[i].values.inclusive >= inclusive_min)
			kept[kept_n++] = (struct ranked){nodes[i].values, i};
	if (kept_n)
		qsort(kept, kept_n, sizeof *kept, compare_inclusive);
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
