/*
 * Sorting rows; see order.h.
 *
 * Each item's key is read once: a number, turned round where large comes first. Only columns of
 * text compare cells while sorting. Trees are made of lists of siblings and written out with a
 * stack of their own, because call trees get 16,000 levels deep.
 */
#include "view/order.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	union {
		uint64_t key; /* small first */
		char *text;   /* owned; in a column of text */
	};
	uint32_t inclusive;
	uint32_t exclusive;
	uint32_t item;
	uint32_t place;
};

int dw_order_all(struct dw_view *v, size_t n)
{
	v->items = malloc((n ? n : 1) * sizeof *v->items);
	if (!v->items)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		v->items[i] = (uint32_t)i;
	v->n = n;
	return 0;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* What decides when the column does not. */
static int compare_ties(const struct entry *a, const struct entry *b)
{
	int c = compare_numbers(b->inclusive, a->inclusive);

	if (!c)
		c = compare_numbers(b->exclusive, a->exclusive);
	return c ? c : compare_numbers(a->place, b->place);
}

static int compare_keys(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;
	int c = compare_numbers(a->key, b->key);

	return c ? c : compare_ties(a, b);
}

static int compare_texts(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;
	int c = strcmp(a->text, b->text);

	return c ? c : compare_ties(a, b);
}

static int compare_texts_back(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;
	int c = strcmp(b->text, a->text);

	return c ? c : compare_ties(a, b);
}

static enum dw_column sort_column(const struct dw_view *v)
{
	return v->request.sort ? v->request.sort : v->ops->sort;
}

/* Numbers of a column as integers that sort alike; empty is smaller than 0. */
static uint64_t numeric_key(enum dw_column column, const struct dw_row *row,
			    const struct dw_cell *cell)
{
	if (column == DWELL_COLUMN_INCLUSIVE_PCT)
		return row->values.inclusive + 1;
	if (column == DWELL_COLUMN_EXCLUSIVE_PCT)
		return row->values.exclusive + 1;
	return cell->kind == DWELL_CELL_EMPTY ? 0 : cell->number + 1;
}

/* Amounts fall by nature, ids, lines, addresses and times rise. */
static bool is_falling(const struct dw_view *v, enum dw_column column)
{
	enum dw_cell_kind kind = dw_column_kind(column);

	return (kind == DWELL_CELL_COUNT || kind == DWELL_CELL_PERCENT) != v->request.reverse;
}

static int fill_entry(const struct dw_view *v, struct entry *e, struct dw_buf *scratch)
{
	enum dw_column column = sort_column(v);
	struct dw_row row = {0};
	struct dw_cell cell;

	v->ops->row(v, e->item, &scratch[0], &row);
	dw_view_cell(v, &row, column, &scratch[1], &cell);
	e->inclusive = (uint32_t)row.values.inclusive;
	e->exclusive = (uint32_t)row.values.exclusive;
	if (dw_column_kind(column) == DWELL_CELL_TEXT) {
		e->text = strdup(cell.kind ? cell.text : "");
		return e->text ? 0 : -ENOMEM;
	}
	e->key = numeric_key(column, &row, &cell);
	if (is_falling(v, column))
		e->key = UINT64_MAX - e->key;
	return 0;
}

int dw_order_sort(const struct dw_view *v, uint32_t *items, size_t n)
{
	bool texts = dw_column_kind(sort_column(v)) == DWELL_CELL_TEXT;
	struct entry *entries = n > 1 ? calloc(n, sizeof *entries) : NULL;
	struct dw_buf scratch[2] = {DW_BUF_INIT, DW_BUF_INIT};
	int rc = n > 1 && !entries ? -ENOMEM : 0;

	for (size_t i = 0; entries && i < n; i++) {
		entries[i].item = items[i];
		entries[i].place = (uint32_t)i;
		if (!rc)
			rc = fill_entry(v, &entries[i], scratch);
	}
	if (!rc && entries) {
		qsort(entries, n, sizeof *entries,
		      !texts		   ? compare_keys
		      : v->request.reverse ? compare_texts_back
					   : compare_texts);
		for (size_t i = 0; i < n; i++)
			items[i] = entries[i].item;
	}
	for (size_t i = 0; texts && entries && i < n; i++)
		free(entries[i].text);
	free(entries);
	dw_buf_release(&scratch[0]);
	dw_buf_release(&scratch[1]);
	return rc;
}

/* Children by place: all in one array, those of a place at start[place] .. start[place + 1]; roots
 * belong to the place behind the last. */
struct families {
	uint32_t *start;
	uint32_t *children;
};

static int gather(struct families *f, const uint32_t *parent, size_t n)
{
	uint32_t *start = f->start = calloc(n + 3, sizeof *start);

	f->children = malloc((n ? n : 1) * sizeof *f->children);
	if (!start || !f->children)
		return -ENOMEM;
	/* A counting sort by parent, kept one entry ahead of itself while it fills. */
	for (size_t i = 0; i < n; i++)
		start[(parent[i] == UINT32_MAX ? n : parent[i]) + 2]++;
	for (size_t i = 2; i < n + 3; i++)
		start[i] += start[i - 1];
	for (size_t i = 0; i < n; i++)
		f->children[start[(parent[i] == UINT32_MAX ? n : parent[i]) + 1]++] = (uint32_t)i;
	return 0;
}

/* Sort the children of @place; they are places, which are turned into items and back. */
static int sort_family(const struct dw_view *v, struct families *f, size_t place, uint32_t *back)
{
	uint32_t *family = f->children + f->start[place];
	size_t n = f->start[place + 1] - f->start[place];

	if (n < 2)
		return 0;
	for (size_t i = 0; i < n; i++) {
		back[v->items[family[i]]] = family[i];
		family[i] = v->items[family[i]];
	}
	if (dw_order_sort(v, family, n))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		family[i] = back[family[i]];
	return 0;
}

/* Write the tree into @out in display order; @stack has room for all places. */
static void write_tree(const struct dw_view *v, const struct families *f, uint32_t *stack,
		       uint32_t *out)
{
	size_t depth = 0, n = 0;

	for (uint32_t i = f->start[v->n + 1]; i-- > f->start[v->n];)
		stack[depth++] = f->children[i];
	while (depth) {
		uint32_t place = stack[--depth];

		out[n++] = v->items[place];
		for (uint32_t i = f->start[place + 1]; i-- > f->start[place];)
			stack[depth++] = f->children[i];
	}
}

static uint32_t largest_item(const struct dw_view *v)
{
	uint32_t max = 0;

	for (size_t i = 0; i < v->n; i++)
		max = v->items[i] > max ? v->items[i] : max;
	return max;
}

int dw_order_tree(struct dw_view *v, const uint32_t *parent)
{
	struct families f = {0};
	uint32_t *out = malloc((v->n + 1) * sizeof *out);
	uint32_t *work = malloc(((size_t)largest_item(v) + v->n + 1) * sizeof *work);
	int rc = out && work ? gather(&f, parent, v->n) : -ENOMEM;

	for (size_t place = 0; place <= v->n && !rc; place++)
		rc = sort_family(v, &f, place, work);
	if (!rc) {
		write_tree(v, &f, work, out);
		free(v->items);
		v->items = dw_take_ptr(out);
	}
	free(f.start);
	free(f.children);
	free(work);
	free(out);
	return rc;
}
