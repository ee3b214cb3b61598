/*
 * The rows of a tree in display order, found the slow way: for tests of what makes the first of
 * them only.
 */
#pragma once

#include "model/totals.h"

#include <stdbool.h>
#include <string.h>

/* The main measure of @node of @t, an index. Borrowed. */
static inline struct dw_values *rows_node_values(const struct dw_totals *t, size_t node)
{
	return dw_amounts_common(&t->node_amounts, node, t->main);
}

/* Whether node @a of @t stands above its sibling @b. */
static inline bool rows_before(const struct dw_totals *t, uint32_t a, uint32_t b)
{
	const struct dw_values *x = rows_node_values(t, a), *y = rows_node_values(t, b);

	if (x->inclusive != y->inclusive)
		return x->inclusive > y->inclusive;
	return x->exclusive != y->exclusive ? x->exclusive > y->exclusive : a < b;
}

/* The child of @parent that stands below its sibling @after (UINT32_MAX = the first); UINT32_MAX =
 * none. */
static inline uint32_t rows_next(const struct dw_totals *t, uint32_t parent, uint32_t after)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < t->nodes.n; i++)
		if (t->nodes.v[i].parent == parent &&
		    (after == UINT32_MAX || rows_before(t, after, i)) &&
		    (best == UINT32_MAX || rows_before(t, i, best)))
			best = i;
	return best;
}

/* Append the nodes below @parent to the @n in @ret, as long as there are less than @max. */
static inline void rows_list(const struct dw_totals *t, uint32_t parent, size_t max, uint32_t *ret,
			     size_t *n)
{
	uint32_t i = rows_next(t, parent, UINT32_MAX);

	for (; i != UINT32_MAX && *n < max; i = rows_next(t, parent, i)) {
		ret[(*n)++] = i;
		rows_list(t, i, max, ret, n);
	}
}

/* Whether @all and @some have the same first @max (up to 64) rows. */
static inline bool rows_agree(const struct dw_totals *all, const struct dw_totals *some, size_t max)
{
	uint32_t want[64], got[64];
	size_t want_n = 0, got_n = 0;

	rows_list(all, UINT32_MAX, max, want, &want_n);
	rows_list(some, UINT32_MAX, max, got, &got_n);
	for (size_t i = 0; i < want_n && i < got_n; i++) {
		const struct dw_node_total *a = &all->nodes.v[want[i]];
		const struct dw_node_total *b = &some->nodes.v[got[i]];

		if (a->lane != b->lane || a->function != b->function || a->level != b->level ||
		    memcmp(rows_node_values(all, want[i]), rows_node_values(some, got[i]),
			   sizeof(struct dw_values)))
			return false;
	}
	return want_n == got_n;
}
