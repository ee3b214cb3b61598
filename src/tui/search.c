/*
 * Searching: rows in which a word stands, from the cursor on and around. In a tree what is folded
 * is searched, too: behind the last row in sight the heaviest node that fits is unfolded.
 */
#include "tui/grid.h"
#include "tui/reader-internal.h"

#include "base/cleanup.h"
#include "format/table-cell.h"
#include "view/search.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct search {
	const struct dw_place *place;
	struct dw_search_word word;
	enum dw_column columns[DWELL_COLUMNS_N]; /* of text */
	struct dw_buf scratch[2];
};

static bool fits_item(struct search *s, uint32_t item)
{
	struct dw_row row = {0};
	struct dw_cell cell;

	s->place->ops->row(&s->place->view, item, &s->scratch[0], &row);
	for (const enum dw_column *c = s->columns; *c; c++) {
		dw_view_cell(&s->place->view, &row, *c, &s->scratch[1], &cell);
		if (dw_search_fits(&s->word, cell.text))
			return true;
	}
	return false;
}

static bool fits_row(struct search *s, size_t i)
{
	if (s->place->ops->has_notes)
		return dw_search_fits(&s->word, dw_lines_get(&s->place->lines, i));
	return fits_item(s, s->place->view.items[i]);
}

static void begin(struct search *s, const struct dw_place *p, const char *word)
{
	enum dw_column all[DWELL_COLUMNS_N], *to = s->columns;

	*s = (struct search){.place = p, .word = dw_search_word(word)};
	if (p->ops->has_notes)
		return;
	dw_grid_columns(p, all);
	for (const enum dw_column *c = all; *c; c++)
		if (dw_table_is_text(*c))
			*to++ = *c;
	*to = DWELL_COLUMN_END;
}

static void end(struct search *s)
{
	dw_buf_release(&s->scratch[0]);
	dw_buf_release(&s->scratch[1]);
}

/* Whether @item is a row. */
static bool is_in_sight(const struct dw_place *p, uint32_t item)
{
	const uint32_t *parent = p->view.parent;

	for (uint32_t at = parent[item]; at != UINT32_MAX; at = parent[at])
		if (!dw_unfold_item_is_open(&p->tree, at))
			return false;
	return true;
}

/* Whether @item of a call tree is a function that fits; each of them is looked at once. @memo: by
 * function, 1 = no, 2 = yes. */
static bool fits_node(const struct search *s, uint8_t *memo, uint32_t item)
{
	const struct dw_profile *p = s->place->view.request.profile;
	uint32_t function = s->place->view.request.totals->nodes.v[item].function;
	const struct dw_function *f = dw_functions_get(&p->functions, function);

	if (f && !memo[function])
		memo[function] = 1 + dw_search_fits(&s->word, dw_strings_get(&p->strings, f->name));
	return f && memo[function] == 2;
}

/* The heaviest item that fits and is folded away, UINT32_MAX = none. */
static uint32_t find_folded(struct search *s)
{
	const struct dw_place *p = s->place;
	uint32_t n = dw_functions_count(&p->view.request.profile->functions);
	dw_auto_free uint8_t *memo = calloc((size_t)n + 1, 1);
	bool has_nodes = p->ops->parts & DWELL_TOTALS_NODES;
	uint32_t best = UINT32_MAX;
	uint64_t most = 0, weight;

	for (uint32_t i = 0; memo && i < p->tree.n; i++) {
		if (has_nodes ? !fits_node(s, memo, i) : !fits_item(s, i))
			continue;
		weight = is_in_sight(p, i) ? 0 : dw_unfold_weight(&p->tree, i);
		if (weight > most) {
			best = i;
			most = weight;
		}
	}
	return best;
}

/* Among rows behind the cursor, or before it, and around. SIZE_MAX = in none. */
static size_t find_row(struct search *s, size_t n, bool back, bool here, bool around)
{
	size_t at = s->place->cursor, behind = back ? at : n - 1 - at;

	for (size_t k = here ? 0 : 1; k < n + !here; k++) {
		size_t i = back ? (at + n - k % n) % n : (at + k) % n;

		if (k > behind && !around)
			return SIZE_MAX;
		if (fits_row(s, i))
			return i;
	}
	return SIZE_MAX;
}

static size_t find(struct search *s, struct dw_place *p, bool back, bool here)
{
	bool is_tree = dw_place_is_tree(p) && !back;
	size_t n = p->ops->has_notes ? p->lines.rows.n : p->view.n;
	size_t i = n ? find_row(s, n, back, here, !is_tree) : SIZE_MAX;
	uint32_t node;

	if (i != SIZE_MAX || !is_tree || !n)
		return i;
	node = find_folded(s);
	if (node != UINT32_MAX && !dw_unfold_reveal(&p->tree, node, &i))
		return i;
	return find_row(s, n, false, here, true);
}

void dw_reader_find(struct dw_reader *r, bool back, bool here)
{
	struct dw_place *p = dw_reading_here(&r->reading);
	struct search s;
	size_t i;

	if (!r->wanted.len)
		return dw_reader_say(r, "nothing was searched yet: / does that");
	if (!p->is_open)
		return;
	begin(&s, p, dw_buf_str(&r->wanted));
	i = find(&s, p, back, here);
	end(&s);
	if (i == SIZE_MAX)
		return dw_reader_say(r, "'%s' is in no row", dw_buf_str(&r->wanted));
	p->cursor = i;
	if (p->ops->has_notes)
		dw_place_follow_cursor(p, r->page);
}
