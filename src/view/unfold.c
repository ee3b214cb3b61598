/* Rows of trees that unfold; see unfold.h. */
#include "view/unfold.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum flag { OPEN = 1, SORTED = 2 };

/* The children of @item (n = the roots), in an order that is right once it was sorted. */
static uint32_t *family_of(const struct dw_unfold *u, size_t item, size_t *n)
{
	*n = u->families.start[item + 1] - u->families.start[item];
	return u->families.children + u->families.start[item];
}

/* The same, sorted. NULL = no memory. */
static uint32_t *sorted_family(struct dw_unfold *u, size_t item, size_t *n)
{
	uint32_t *family = family_of(u, item, n);

	if (*n > 1 && !(u->flags[item] & SORTED) && dw_order_items(u->view, family, *n))
		return NULL;
	u->flags[item] |= SORTED;
	return family;
}

/* Write what is shown below @item (n = all) to @out, which has room. *@ret = how much. */
static int list_below(struct dw_unfold *u, size_t item, uint32_t *out, size_t *ret)
{
	DW_VEC(uint32_t) waiting = {0};
	size_t n, written = 0;
	uint32_t *family = sorted_family(u, item, &n);
	int rc = family && !dw_vec_reserve(&waiting, n) ? 0 : -ENOMEM;

	while (!rc && n)
		waiting.v[waiting.n++] = family[--n];
	while (!rc && waiting.n) {
		uint32_t at = out[written++] = waiting.v[--waiting.n];

		if (!(u->flags[at] & OPEN))
			continue;
		family = sorted_family(u, at, &n);
		rc = family && !dw_vec_reserve(&waiting, n) ? 0 : -ENOMEM;
		while (!rc && n)
			waiting.v[waiting.n++] = family[--n];
	}
	dw_vec_release(&waiting);
	*ret = written;
	return rc;
}

int dw_unfold_init(struct dw_unfold *u, struct dw_view *v)
{
	const uint32_t *parent = v->parent;

	*u = (struct dw_unfold){.view = v,
				.n = v->n,
				.level = malloc((v->n + 1) * sizeof *u->level),
				.flags = calloc(v->n + 1, 1)};
	if (!u->level || !u->flags || dw_families_gather(&u->families, parent, v->n))
		return -ENOMEM;
	for (size_t i = 0; i < u->n; i++)
		u->level[i] = parent[i] < i ? u->level[parent[i]] + 1 : 0;
	return list_below(u, u->n, v->items, &v->n);
}

bool dw_unfold_has_children(const struct dw_unfold *u, size_t i)
{
	size_t n;

	family_of(u, u->view->items[i], &n);
	return n;
}

bool dw_unfold_item_is_open(const struct dw_unfold *u, uint32_t item)
{
	return u->flags[item] & OPEN;
}

bool dw_unfold_is_open(const struct dw_unfold *u, size_t i)
{
	return dw_unfold_item_is_open(u, u->view->items[i]);
}

int dw_unfold_open(struct dw_unfold *u, size_t i)
{
	struct dw_view *v = u->view;
	uint32_t item = v->items[i];
	dw_auto_free uint32_t *rows = malloc((u->n - v->n + 1) * sizeof *rows);
	size_t n;

	if (u->flags[item] & OPEN || !dw_unfold_has_children(u, i))
		return 0;
	if (!rows || list_below(u, item, rows, &n))
		return -ENOMEM;
	u->flags[item] |= OPEN;
	memmove(v->items + i + 1 + n, v->items + i + 1, (v->n - i - 1) * sizeof *v->items);
	memcpy(v->items + i + 1, rows, n * sizeof *rows);
	v->n += n;
	return 0;
}

void dw_unfold_close(struct dw_unfold *u, size_t i)
{
	struct dw_view *v = u->view;
	uint32_t level = u->level[v->items[i]];
	size_t end = i + 1;

	if (!dw_unfold_is_open(u, i))
		return;
	while (end < v->n && u->level[v->items[end]] > level)
		end++;
	memmove(v->items + i + 1, v->items + end, (v->n - end) * sizeof *v->items);
	v->n -= end - i - 1;
	u->flags[v->items[i]] &= (uint8_t)~OPEN;
}

/* The row of @item, which is in sight, at @from or below. */
static size_t row_of(const struct dw_unfold *u, uint32_t item, size_t from)
{
	while (from + 1 < u->view->n && u->view->items[from] != item)
		from++;
	return from;
}

size_t dw_unfold_parent(const struct dw_unfold *u, size_t i)
{
	uint32_t parent = u->view->parent[u->view->items[i]];

	return parent == UINT32_MAX ? i : row_of(u, parent, 0);
}

uint64_t dw_unfold_weight(const struct dw_unfold *u, uint32_t item)
{
	struct dw_row row = {0};
	struct dw_buf scratch = DW_BUF_INIT;

	u->view->ops->row(u->view, item, &scratch, &row);
	dw_buf_release(&scratch);
	return dw_measured_get(&row.measured, dw_totals_work(u->view->request.totals), false);
}

const uint32_t *dw_unfold_children(struct dw_unfold *u, uint32_t item, size_t *n)
{
	return sorted_family(u, item == UINT32_MAX ? u->n : item, n);
}

uint32_t dw_unfold_heaviest(const struct dw_unfold *u, uint32_t item)
{
	uint32_t heaviest = UINT32_MAX;
	uint64_t most = 0;
	size_t n;
	const uint32_t *family = family_of(u, item == UINT32_MAX ? u->n : item, &n);

	for (size_t k = 0; k < n; k++) {
		uint64_t weight = dw_unfold_weight(u, family[k]);

		if (weight > most) {
			most = weight;
			heaviest = family[k];
		}
	}
	return item != UINT32_MAX && most * 2 < dw_unfold_weight(u, item) ? UINT32_MAX : heaviest;
}

int dw_unfold_hot_path(struct dw_unfold *u, size_t i, size_t *ret)
{
	int rc = 0;

	for (*ret = i; !rc; *ret = i) {
		uint32_t heaviest = dw_unfold_heaviest(u, u->view->items[i]);

		if (heaviest == UINT32_MAX)
			return 0;
		rc = dw_unfold_open(u, i);
		i = rc ? i : row_of(u, heaviest, i + 1);
	}
	return rc;
}

int dw_unfold_reveal(struct dw_unfold *u, uint32_t item, size_t *ret)
{
	DW_VEC(uint32_t) above = {0};
	size_t row = 0;
	int rc = 0;

	for (uint32_t at = item; at != UINT32_MAX && !rc; at = u->view->parent[at])
		rc = dw_vec_push(&above, at);
	while (above.n && !rc) {
		row = row_of(u, above.v[--above.n], row);
		rc = above.n ? dw_unfold_open(u, row) : 0;
	}
	dw_vec_release(&above);
	*ret = row;
	return rc;
}

int dw_unfold_sort(struct dw_unfold *u)
{
	for (size_t i = 0; i <= u->n; i++)
		u->flags[i] &= (uint8_t)~SORTED;
	return list_below(u, u->n, u->view->items, &u->view->n);
}

void dw_unfold_release(struct dw_unfold *u)
{
	dw_families_release(&u->families);
	free(u->level);
	free(u->flags);
	*u = (struct dw_unfold){0};
}
