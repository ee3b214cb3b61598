/*
 * Sorting rows; see rows.h.
 *
 * Each item's key is read once: a number, turned round where large comes first. Only columns of
 * text compare cells while sorting. Trees are written out with a stack of their own, because call
 * trees get 16,000 levels deep.
 */
#include "view/rows.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	union {
		uint64_t key; /* small first */
		char *text;   /* owned; in a column of text */
	};
	uint64_t inclusive;
	uint64_t exclusive;
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

/* Numbers of a column as integers that sort alike; empty is smaller than 0. */
static uint64_t numeric_key(const struct dw_cell *cell)
{
	uint64_t bits;

	if (cell->kind == DWELL_CELL_EMPTY)
		return 0;
	if (cell->kind == DWELL_CELL_CHANGE)
		return cell->number + ((uint64_t)1 << 63);
	if (cell->kind != DWELL_CELL_PERCENT)
		return cell->number + 1;
	/* Positive doubles are in the order of their bits. */
	memcpy(&bits, &cell->percent, sizeof bits);
	return bits + 1;
}

bool dw_column_is_amount(enum dw_column column)
{
	enum dw_cell_kind kind = dw_column_info(column)->kind;

	return kind == DWELL_CELL_COUNT || kind == DWELL_CELL_CHANGE ||
	       kind == DWELL_CELL_PERCENT || kind == DWELL_CELL_DURATION_NS ||
	       kind == DWELL_CELL_CALL_NS;
}

/* Amounts fall by nature, ids, lines, addresses and times rise. */
static bool is_falling(const struct dw_view *v, enum dw_column column)
{
	return dw_column_is_amount(column) != v->request.reverse;
}

/* Whether @column shows the inclusive one of a row's values, of calls or allocations. */
static bool is_inclusive(enum dw_column column)
{
	return column == dw_columns_lead(DWELL_MEASURE_ELAPSED, false) ||
	       column == dw_columns_lead(DWELL_MEASURE_BYTES, false);
}

/* How to sort, and room for it, kept from one list to the next. */
struct sorter {
	const struct dw_view *view;
	const uint32_t *items;
	enum dw_column column;
	/* Rows that are sorted by their values alone need not be put together: shares are in the
	 * order of what they are shares of. */
	bool by_values;
	struct entry *entries;
	size_t cap;
	struct dw_buf scratch[2];
};

static struct sorter sorter_of(const struct dw_view *v, const uint32_t *items)
{
	enum dw_column column = dw_view_sorted_by(v);
	bool by_values = v->ops->values && (dw_column_is_value(column) || is_inclusive(column));

	return (struct sorter){.view = v, .items = items, .column = column, .by_values = by_values};
}

static void sorter_release(struct sorter *s)
{
	free(s->entries);
	dw_buf_release(&s->scratch[0]);
	dw_buf_release(&s->scratch[1]);
}

static int fill_entry(struct sorter *s, struct entry *e)
{
	const struct dw_view *v = s->view;
	const struct dw_column_info *column = dw_column_info(s->column);
	const struct dw_values *values;
	struct dw_row row = {0};
	struct dw_cell cell;

	if (v->request.by_first_call && v->ops->first) {
		e->key = v->ops->first(v, e->item);
		return 0;
	}
	if (s->by_values) {
		values = v->ops->values(v, e->item);
		e->key = column->exclusive ? values->exclusive : values->inclusive;
	} else {
		v->ops->row(v, e->item, &s->scratch[0], &row);
		dw_view_cell(v, &row, s->column, &s->scratch[1], &cell);
		values = &row.values;
		e->key = numeric_key(&cell);
	}
	e->inclusive = values->inclusive;
	e->exclusive = values->exclusive;
	if (column->kind == DWELL_CELL_TEXT) {
		e->text = strdup(cell.kind ? cell.text : "");
		return e->text ? 0 : -ENOMEM;
	}
	if (is_falling(v, s->column))
		e->key = UINT64_MAX - e->key;
	return 0;
}

/* Sort @n places of the items. */
static int sort_places(struct sorter *s, uint32_t *places, size_t n)
{
	const struct dw_view *v = s->view;
	bool texts = dw_column_info(s->column)->kind == DWELL_CELL_TEXT;
	size_t filled = 0;
	int rc = s->cap < n ? dw_vec_grow((void **)&s->entries, &s->cap, n, sizeof *s->entries) : 0;

	for (; filled < n && !rc; filled++) {
		s->entries[filled] =
			(struct entry){.item = s->items[places[filled]], .place = places[filled]};
		rc = fill_entry(s, &s->entries[filled]);
	}
	if (!rc && n)
		qsort(s->entries, n, sizeof *s->entries,
		      !texts		   ? compare_keys
		      : v->request.reverse ? compare_texts_back
					   : compare_texts);
	for (size_t i = 0; i < n && !rc; i++)
		places[i] = s->entries[i].place;
	for (size_t i = 0; texts && i < filled; i++)
		free(s->entries[i].text);
	return rc;
}

int dw_order_items(const struct dw_view *v, uint32_t *items, size_t n)
{
	__attribute__((cleanup(sorter_release))) struct sorter s = sorter_of(v, items);
	dw_auto_free uint32_t *places = malloc((n + 1) * sizeof *places);
	int rc = places ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !rc; i++)
		places[i] = (uint32_t)i;
	if (!rc)
		rc = sort_places(&s, places, n);
	for (size_t i = 0; i < n && !rc; i++)
		items[i] = s.entries[i].item;
	return rc;
}

int dw_order_sort(struct dw_view *v, size_t first, size_t n)
{
	return dw_order_items(v, v->items + first, n);
}

int dw_order_list(struct dw_view *v, size_t n)
{
	int rc = dw_order_all(v, n);

	return rc ? rc : dw_order_sort(v, 0, n);
}

int dw_families_gather(struct dw_families *f, const uint32_t *parent, size_t n)
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

void dw_families_release(struct dw_families *f)
{
	free(f->start);
	free(f->children);
	*f = (struct dw_families){0};
}

/* Places whose row is still to be written, the next one last. */
struct waiting {
	DW_VEC(uint32_t) places;
};

/* The children of @place are to be written next, in order. */
static int push_family(struct waiting *w, struct sorter *s, const struct dw_families *f,
		       size_t place)
{
	uint32_t *family = f->children + f->start[place];
	size_t n = f->start[place + 1] - f->start[place];

	if ((n > 1 && sort_places(s, family, n)) || dw_vec_reserve(&w->places, n))
		return -ENOMEM;
	while (n)
		w->places.v[w->places.n++] = family[--n];
	return 0;
}

/* Write items in display order to @out, at most @max. Only families that get there are sorted.
 * Sets *@written. */
static int write_tree(const struct dw_view *v, const struct dw_families *f, size_t max,
		      uint32_t *out, size_t *written)
{
	__attribute__((cleanup(sorter_release))) struct sorter s = sorter_of(v, v->items);
	struct waiting w = {0};
	size_t n = 0;
	int rc = push_family(&w, &s, f, v->n);

	while (w.places.n && n < max && !rc) {
		uint32_t place = w.places.v[--w.places.n];

		out[n++] = v->items[place];
		rc = push_family(&w, &s, f, place);
	}
	dw_vec_release(&w.places);
	*written = n;
	return rc;
}

int dw_order_tree(struct dw_view *v, uint32_t *parent)
{
	size_t max = v->request.rows && v->request.rows < v->n ? v->request.rows : v->n;
	struct dw_families f = {0};
	int rc;

	if (v->request.unfolding) {
		v->parent = parent;
		return 0;
	}
	rc = dw_families_gather(&f, parent, v->n);

	/* Rows take the place of parents, which are known to the families now. */
	if (!rc)
		rc = write_tree(v, &f, max, parent, &max);
	if (!rc) {
		free(v->items);
		v->items = dw_take_ptr(parent);
		v->n = max;
	}
	dw_families_release(&f);
	free(parent);
	return rc;
}
