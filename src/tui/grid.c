/*
 * Tables on the screen; see grid.h. Columns get as wide as the widest cell seen so far, so that
 * they do not move while one goes through the rows.
 */
#include "tui/grid.h"

#include "base/out.h"
#include "format/table-cell.h"
#include "format/text.h"

#include <stdint.h>
#include <string.h>

enum {
	GAP = 2,	  /* columns between two cells */
	NAME_WANTED = 24, /* numbers give way to a name that gets less, */
	TREE_WANTED = 36, /* and to one in a tree */
	TEXT_WANTED = 12, /* likewise other texts */
	TEXT_FAIR = 20,	  /* these give way to the name, down to this */
	MARK = 2,	  /* what says that a row can be unfolded */
};

struct grid {
	struct dw_place *place;
	struct dw_format_job job;
	enum dw_column columns[DWELL_COLUMNS_N]; /* in sight */
	size_t width[DWELL_COLUMNS_N];
	enum dw_column name; /* the text that all others give way to */
	struct dw_table_words words;
	struct dw_buf scratch;
	struct dw_out cell;
};

static void chosen_columns(const struct dw_place *p, enum dw_column *ret)
{
	enum dw_column all[DWELL_COLUMNS_N];
	const enum dw_column *c = all;

	dw_view_columns(p->ops, p->view.request.profile, DWELL_BY_NONE, false, all);
	memcpy(ret, p->chosen, sizeof p->chosen);
	while (*c && *c != DWELL_COLUMN_PROCESS_ID)
		c++;
	if (!*c)
		dw_view_tell_processes_apart(&p->view, ret);
}

void dw_grid_columns(const struct dw_place *p, enum dw_column *ret)
{
	if (p->chosen[0])
		return chosen_columns(p, ret);
	dw_view_columns(p->ops, p->view.request.profile, DWELL_BY_NONE, true, ret);
	if (p->ops != &dw_view_source_annotated)
		dw_columns_drop(ret, DWELL_COLUMN_SOURCE_TEXT);
	/* Few rows have it: a report looks at all of them first. */
	dw_columns_drop(ret, DWELL_COLUMN_AT_MOST);
	dw_view_drop_waits(&p->view, ret);
	dw_view_tell_processes_apart(&p->view, ret);
}

/* Names: what a tree indents, text of code, else the first one. */
static enum dw_column find_name(const struct grid *g)
{
	static const enum dw_column names[] = {DWELL_COLUMN_SOURCE_TEXT, DWELL_COLUMN_INSTRUCTION,
					       DWELL_COLUMN_CLASS_NAME, DWELL_COLUMN_FUNCTION_NAME,
					       DWELL_COLUMN_NAME};
	const struct dw_place *p = g->place;

	if (p->ops->tree)
		return p->ops->tree;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		for (const enum dw_column *c = g->columns; *c; c++)
			if (*c == names[i] &&
			    !(*c == DWELL_COLUMN_INSTRUCTION && p->ops != &dw_view_annotated))
				return *c;
	for (const enum dw_column *c = g->columns; *c; c++)
		if (dw_table_is_text(*c) && *c != DWELL_COLUMN_TYPE)
			return *c;
	return DWELL_COLUMN_END;
}

static size_t indentation(const struct grid *g, const struct dw_row *row, enum dw_column column)
{
	return column == g->place->ops->tree ? 2 * (size_t)row->level + MARK : 0;
}

static const char *show(struct grid *g, const struct dw_row *row, enum dw_column column)
{
	struct dw_cell cell;

	if (column != g->place->ops->tree)
		return dw_table_show(&g->job, row, column, SIZE_MAX, &g->words);
	dw_view_cell(&g->place->view, row, column, &g->words.scratch, &cell);
	return cell.text ? cell.text : "";
}

/* Times have units that fit all rows that were in sight so far, so that units do not change with
 * every step. */
static void choose_units(struct grid *g, size_t height)
{
	struct dw_place *p = g->place;
	struct dw_cell cell;
	struct dw_row row;

	for (size_t i = p->top; i < p->view.n && i < p->top + height; i++) {
		dw_view_row(&p->view, i, &g->scratch, &row);
		for (const enum dw_column *c = g->columns; *c; c++) {
			dw_view_cell(&p->view, &row, *c, &g->words.scratch, &cell);
			dw_table_fit_unit(&g->job, *c, &cell, &g->words);
		}
	}
	memcpy(p->unit, g->words.unit, sizeof p->unit);
}

/* Learn how wide cells of the rows in sight are. */
static void measure(struct grid *g, size_t height)
{
	struct dw_place *p = g->place;
	struct dw_row row;

	for (const enum dw_column *c = g->columns; *c; c++) {
		size_t n = dw_text_columns(dw_table_header(&g->job, *c));

		p->width[*c] = p->width[*c] > n ? p->width[*c] : n;
	}
	choose_units(g, height);
	for (size_t i = p->top; i < p->view.n && i < p->top + height; i++) {
		dw_view_row(&p->view, i, &g->scratch, &row);
		for (const enum dw_column *c = g->columns; *c; c++) {
			size_t n = dw_text_columns(show(g, &row, *c)) + indentation(g, &row, *c);

			p->width[*c] = p->width[*c] > n ? p->width[*c] : n;
		}
	}
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* What @column cannot do without. */
static size_t wanted(const struct grid *g, enum dw_column column)
{
	size_t n = g->place->width[column];

	if (!dw_table_is_text(column))
		return n;
	if (column != g->name)
		return smaller(n, TEXT_WANTED);
	n = smaller(n, column == g->place->ops->tree ? TREE_WANTED : NAME_WANTED);
	return smaller(n, g->job.width / 2);
}

static size_t total_of(const struct grid *g, size_t (*of)(const struct grid *, enum dw_column))
{
	size_t n = 0;

	for (const enum dw_column *c = g->columns; *c; c++)
		n += of(g, *c) + (c > g->columns ? GAP : 0);
	return n;
}

/* Whether @column is an amount whose share stands there, too. */
static bool has_share(const struct grid *g, enum dw_column column)
{
	const struct dw_column_info *info = dw_column_info(column);

	for (const enum dw_column *c = g->columns; *c && info->measure; c++) {
		const struct dw_column_info *other = dw_column_info(*c);

		if (info->aspect == DWELL_ASPECT_TOTAL && other->aspect == DWELL_ASPECT_PERCENT &&
		    other->measure == info->measure && other->exclusive == info->exclusive)
			return true;
	}
	return false;
}

enum worth { LISTED, SHARED, AMOUNT, ID, TEXT, SORTED, NAME };

/* How much @column says beside the others. @by_list: those of the list of tables least. */
static enum worth worth_of(const struct grid *g, enum dw_column column, enum dw_column sorted,
			   bool by_list)
{
	if (column == g->name)
		return NAME;
	if (column == sorted)
		return SORTED;
	for (const enum dw_column *out = dw_table_left_out(&g->job); *out && by_list; out++)
		if (*out == column)
			return LISTED;
	if (dw_table_is_text(column))
		return TEXT;
	if (by_list && has_share(g, column))
		return SHARED;
	return dw_column_info(column)->kind == DWELL_CELL_NUMBER ? ID : AMOUNT;
}

static size_t list_place(const struct grid *g, enum dw_column column)
{
	const enum dw_column *list = dw_table_left_out(&g->job);
	size_t i = 0;

	while (list[i] && list[i] != column)
		i++;
	return i;
}

/* The column that says least: by the list the first one, else the last one of its worth. */
static enum dw_column least(const struct grid *g, enum dw_column sorted, bool by_list)
{
	enum dw_column found = DWELL_COLUMN_END;
	enum worth lowest = NAME;

	for (const enum dw_column *c = g->columns; *c; c++) {
		enum worth worth = worth_of(g, *c, sorted, by_list);
		bool is_later = worth != LISTED || list_place(g, *c) < list_place(g, found);

		if (worth == NAME || worth > lowest || (worth == lowest && !is_later))
			continue;
		lowest = worth;
		found = *c;
	}
	return found;
}

/* Leave out numbers that were moved out of sight on the left. */
static void scroll(struct grid *g)
{
	size_t numbers = 0;

	for (const enum dw_column *c = g->columns; *c; c++)
		numbers += !dw_table_is_text(*c);
	if (g->place->scrolled >= numbers)
		g->place->scrolled = numbers ? numbers - 1 : 0;
	for (size_t i = 0; i < g->place->scrolled; i++)
		for (const enum dw_column *c = g->columns; *c; c++)
			if (!dw_table_is_text(*c)) {
				dw_columns_drop(g->columns, *c);
				break;
			}
}

static size_t width_of(const struct grid *g, enum dw_column column)
{
	return g->width[column];
}

/* The widest text but the name (or with it) that is wider than @least and than what it wants. */
static enum dw_column widest_text(const struct grid *g, bool with_name, size_t least_width)
{
	enum dw_column widest = DWELL_COLUMN_END;

	for (const enum dw_column *c = g->columns; *c; c++)
		if (dw_table_is_text(*c) && (with_name || *c != g->name) &&
		    g->width[*c] > least_width && g->width[*c] > wanted(g, *c) &&
		    (!widest || g->width[*c] > g->width[widest]))
			widest = *c;
	return widest;
}

/* Choose columns and their widths so that rows fit in @width. */
static void fit(struct grid *g, size_t width)
{
	const struct dw_place *p = g->place;
	enum dw_column sorted = dw_place_sorted_by(p), out;
	size_t total;

	scroll(g);
	/* What somebody chose says something: then numbers on the right go first. */
	while (total_of(g, wanted) > width &&
	       (out = least(g, sorted, !p->scrolled && !p->chosen[0])))
		dw_columns_drop(g->columns, out);
	for (const enum dw_column *c = g->columns; *c; c++)
		g->width[*c] = dw_table_is_text(*c) ? smaller(p->width[*c], width) : p->width[*c];
	for (total = total_of(g, width_of); total > width; total--) {
		out = widest_text(g, false, TEXT_FAIR);
		out = out ? out : widest_text(g, true, 0);
		if (!out)
			break;
		g->width[out]--;
	}
	if (g->columns[0] && !g->columns[1])
		g->width[g->columns[0]] = width;
}

/* Put a cell's text into g->cell, as wide as its column. */
static void put_text(struct grid *g, enum dw_column column, const char *text,
		     dw_put_fitted_fn *put_fitted)
{
	size_t width = g->width[column], used = g->cell.buf.len, n;

	if (dw_table_is_text(column)) {
		used += put_fitted(&g->cell, text, width > used ? width - used : 0);
		dw_out_fill(&g->cell, ' ', width > used ? width - used : 0);
		return;
	}
	n = dw_text_columns(text);
	dw_out_fill(&g->cell, ' ', width > n ? width - n : 0);
	dw_out_puts(&g->cell, text);
}

/* What is before a name in a tree: at most half of its column; rows deeper than that say how deep
 * they are. */
static void put_mark(struct grid *g, size_t i, const struct dw_row *row)
{
	const struct dw_place *p = g->place;
	size_t most = g->width[p->ops->tree] / 2, indent = 2 * (size_t)row->level;

	if (indent <= most)
		dw_out_fill(&g->cell, ' ', indent);
	else
		dw_out_printf(&g->cell, "%*zu ", (int)(most ? most - 1 : 0), (size_t)row->level);
	dw_out_puts(&g->cell, !dw_unfold_has_children(&p->tree, i) ? "  "
			      : dw_unfold_is_open(&p->tree, i)	   ? "- "
								   : "+ ");
}

static void draw_row(struct dw_screen *s, struct grid *g, size_t y, size_t i)
{
	struct dw_row row;
	bool is_chosen = i == g->place->cursor;
	size_t x = 0;

	dw_view_row(&g->place->view, i, &g->scratch, &row);
	if (is_chosen)
		dw_screen_fill(s, y, 0, s->columns, DWELL_STYLE_CHOSEN);
	for (const enum dw_column *c = g->columns; *c; c++) {
		enum dw_style style = is_chosen				   ? DWELL_STYLE_CHOSEN
				      : dw_table_is_hot(&g->job, &row, *c) ? DWELL_STYLE_HOT
									   : DWELL_STYLE_PLAIN;

		dw_buf_clear(&g->cell.buf);
		if (*c == g->place->ops->tree)
			put_mark(g, i, &row);
		put_text(g, *c, show(g, &row, *c), dw_table_fitting(&g->job, &row, *c));
		dw_screen_put(s, y, x, g->width[*c], style, dw_buf_str(&g->cell.buf));
		x += g->width[*c] + GAP;
	}
}

static void draw_header(struct dw_screen *s, struct grid *g, size_t y)
{
	enum dw_column sorted = dw_place_sorted_by(g->place);
	size_t x = 0;

	for (const enum dw_column *c = g->columns; *c; c++) {
		dw_buf_clear(&g->cell.buf);
		put_text(g, *c, dw_table_header(&g->job, *c), dw_text_put_fitted);
		dw_screen_put(s, y, x, g->width[*c],
			      *c == sorted ? DWELL_STYLE_SORTED : DWELL_STYLE_HEADER,
			      dw_buf_str(&g->cell.buf));
		x += g->width[*c] + GAP;
	}
}

void dw_place_follow_cursor(struct dw_place *p, size_t height)
{
	if (p->cursor < p->top)
		p->top = p->cursor;
	if (height && p->cursor >= p->top + height)
		p->top = p->cursor - height + 1;
}

void dw_grid_draw(struct dw_screen *s, struct dw_place *p, const struct dw_area *area)
{
	struct grid g = {.place = p, .job = {.view = &p->view, .width = s->columns}};

	if (p->seen_rows != area->height || p->seen_columns != s->columns)
		memset(p->width, 0, sizeof p->width);
	p->seen_rows = area->height;
	p->seen_columns = s->columns;
	dw_out_init_buffer(&g.cell);
	dw_place_follow_cursor(p, area->height);
	memcpy(g.words.unit, p->unit, sizeof p->unit);
	dw_grid_columns(p, g.columns);
	g.name = find_name(&g);
	measure(&g, area->height);
	fit(&g, s->columns);
	if (area->header != SIZE_MAX)
		draw_header(s, &g, area->header);
	for (size_t i = 0; i < area->height && p->top + i < p->view.n; i++)
		draw_row(s, &g, area->y + i, p->top + i);
	dw_out_close(&g.cell);
	dw_buf_release(&g.scratch);
	dw_table_words_release(&g.words);
}
