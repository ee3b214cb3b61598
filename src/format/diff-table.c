/*
 * Comparisons as tables: for terminals, and in Markdown.
 *
 * Both have the same cells: the main column of both sides and its change in one unit, how often it
 * happened, what that means, and the name, which is made to fit.
 */
#include "base/cleanup.h"
#include "format/diff.h"
#include "format/shorten.h"
#include "format/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
	BASE,
	NEW,
	DELTA,
	PCT,
	CALLS,
	HAPPENED,
	NAME,
	MODULE,
	CELLS,
	GAP = 2,
	NAME_LEAST = 12,
	NAME_PADDED = 60,   /* columns that a name is padded to at most when nothing is cut */
	MODULES_FROM = 110, /* columns of a terminal */
	PCT_FROM = 100,
};

struct table {
	const struct dw_diff_job *job;
	const struct dw_comparison *c;
	enum dw_time_unit unit;
	bool is_time, has[CELLS];
	size_t width[CELLS];
	const char *title[CELLS];
	struct dw_buf cell;
};

static void put_main(struct table *t, double n, bool sign)
{
	uint64_t amount = (uint64_t)(fabs(n) + .5);

	if (sign && amount)
		dw_buf_puts(&t->cell, n < 0 ? "-" : "+");
	if (t->is_time)
		dw_time_unit_put(&t->cell, amount, t->unit, DWELL_DIGITS_USUAL);
	else
		dw_buf_printf(&t->cell, "%" PRIu64, amount);
}

static void put_range(struct table *t, const struct dw_change *n, enum dw_side side)
{
	if (n->least[side] == n->most[side])
		dw_buf_printf(&t->cell, "%.0f", n->least[side]);
	else
		dw_buf_printf(&t->cell, "%.0f..%.0f", n->least[side], n->most[side]);
}

static void put_calls(struct table *t, size_t column, const struct dw_change *n)
{
	if (!column || (n->most[0] == 0 && n->most[1] == 0))
		return;
	put_range(t, n, DWELL_SIDE_BASE);
	if (n->base != n->now || !n->is_exact) {
		dw_buf_puts(&t->cell, " -> ");
		put_range(t, n, DWELL_SIDE_NEW);
	}
	/* Rows may have different counts. */
	if (t->c->counts_n > 1)
		dw_buf_printf(&t->cell, " %s", dw_diff_noun(t->c, column));
}

/* The text of a cell, until the next one. */
static const char *show(struct table *t, uint32_t at, int cell)
{
	const struct dw_compared_row *row = &t->c->rows.v[at];
	struct dw_change change =
		dw_change_get(t->c, at, cell == CALLS && row->count ? row->count : DWELL_MAIN);

	dw_buf_clear(&t->cell);
	if (cell == BASE && row->has[DWELL_SIDE_BASE])
		put_main(t, change.base, false);
	else if (cell == NEW && row->has[DWELL_SIDE_NEW])
		put_main(t, change.now, false);
	else if (cell == DELTA)
		put_main(t, change.now - change.base, true);
	else if (cell == PCT && change.base > 0)
		dw_buf_printf(&t->cell, "%+.1f", 100 * (change.now - change.base) / change.base);
	else if (cell == CALLS)
		put_calls(t, row->count, &change);
	else if (cell == HAPPENED)
		dw_diff_put_happened(&t->cell, t->c, at);
	else if (cell == NAME && t->c->view->tree)
		dw_buf_printf(&t->cell, "%*s", (int)(2 * (row->level < 40 ? row->level : 40)), "");
	if (cell == NAME)
		dw_diff_put_name(&t->cell, t->c, at);
	if (cell == MODULE && *dw_comparison_text(t->c, at))
		dw_buf_puts(&t->cell, dw_comparison_module(t->c, at));
	return dw_buf_str(&t->cell);
}

/* The unit in which the largest value of the main column is told. */
static void choose_unit(struct table *t)
{
	enum dw_cell_kind kind = dw_column_info(t->c->columns[DWELL_MAIN].column)->kind;
	double most = 0;

	t->is_time = kind == DWELL_CELL_DURATION_NS || kind == DWELL_CELL_CALL_NS;
	for (size_t i = 0; i < dw_diff_rows(t->job); i++) {
		struct dw_change change = dw_change_get(t->c, t->c->order.v[i], DWELL_MAIN);

		most = fmax(most, fmax(change.base, change.now));
	}
	/* In narrow tables one digit before the point has to do. */
	if (t->job->width && t->job->width < PCT_FROM)
		most *= 10;
	t->unit = dw_time_unit_for((uint64_t)most);
}

static void layout(struct table *t)
{
	size_t width = t->job->width ? t->job->width : SIZE_MAX, used = 0;
	const char *calls = t->c->counts_n > 1			  ? "Count"
			    : t->c->method == DWELL_METHOD_MEMORY ? "Objects"
								  : "Calls";
	const char *titles[CELLS] = {"Base", "New", "Change", "%", calls, "What", "Name", "Module"};

	choose_unit(t);
	for (int cell = 0; cell < CELLS; cell++)
		t->has[cell] = true;
	t->has[CALLS] = t->c->counts_n > 0;
	t->has[PCT] = width >= PCT_FROM;
	t->has[MODULE] = width >= MODULES_FROM;
	for (int cell = 0; cell < CELLS; cell++) {
		t->title[cell] = titles[cell];
		for (size_t i = 0; i < dw_diff_rows(t->job) && t->has[cell]; i++) {
			size_t n = dw_text_columns(show(t, t->c->order.v[i], cell));

			t->width[cell] = n > t->width[cell] ? n : t->width[cell];
		}
		t->has[cell] &= t->width[cell] > 0;
		if (t->width[cell] < strlen(titles[cell]))
			t->width[cell] = strlen(titles[cell]);
		used += cell < NAME && t->has[cell] ? t->width[cell] + GAP : 0;
	}
	if (!t->job->width) {
		t->width[NAME] = t->width[NAME] < NAME_PADDED ? t->width[NAME] : NAME_PADDED;
		return;
	}
	if (t->has[MODULE] && used + t->width[NAME] + GAP + t->width[MODULE] > width)
		t->has[MODULE] = used + NAME_LEAST * 3 + GAP + t->width[MODULE] <= width;
	used += t->has[MODULE] ? t->width[MODULE] + GAP : 0;
	/* Where it is too narrow for a name, the base gives way: it is the rest. */
	if (used + NAME_LEAST > width) {
		t->has[BASE] = false;
		used -= t->width[BASE] + GAP;
	}
	if (used + t->width[NAME] > width)
		t->width[NAME] = width > used + NAME_LEAST ? width - used : NAME_LEAST;
}

/* Of a name that is too long for @width what tells most. Returns the columns written. */
static size_t put_name(const struct table *t, const char *text, size_t width, struct dw_out *out)
{
	size_t indent = strspn(text, " ");

	if (dw_text_columns(text) <= width || t->c->view == &dw_view_file_io || indent >= width)
		return dw_text_put_fitted(out, text, width);
	dw_out_fill(out, ' ', indent);
	return indent + dw_function_name_put_fitted(out, text + indent, width - indent);
}

static void put_cell(struct table *t, int cell, const char *text, struct dw_out *out)
{
	bool is_last = cell == MODULE || (cell == NAME && !t->has[MODULE]);
	size_t n = dw_text_columns(text), width = t->width[cell];

	if (cell < HAPPENED)
		dw_out_fill(out, ' ', width > n ? width - n : 0);
	n = cell == NAME ? put_name(t, text, t->job->width ? width : SIZE_MAX, out)
			 : dw_text_put_fitted(out, text, SIZE_MAX);
	if (cell >= HAPPENED && !is_last)
		dw_out_fill(out, ' ', width > n ? width - n : 0);
	if (!is_last)
		dw_out_fill(out, ' ', GAP);
}

static const char *colour_of(const struct table *t, uint32_t at)
{
	uint16_t happened = t->c->rows.v[at].happened;

	if (!t->job->colour || !(happened & DWELL_DIFFERENT))
		return "";
	if (happened & (DWELL_SLOWER | DWELL_MORE_CALLS | DWELL_HAS_APPEARED))
		return "\033[31m";
	return "\033[32m";
}

void dw_diff_write_table(const struct dw_diff_job *job, struct dw_out *out)
{
	struct table t = {.job = job, .c = job->comparison};

	dw_diff_write_words(job, "", out);
	if (!t.c->order.n)
		return;
	layout(&t);
	dw_out_puts(out, job->colour ? "\n\033[1m" : "\n");
	for (int cell = 0; cell < CELLS; cell++)
		if (t.has[cell])
			put_cell(&t, cell, t.title[cell], out);
	dw_out_puts(out, job->colour ? "\033[0m\n" : "\n");
	for (size_t i = 0; i < dw_diff_rows(job); i++) {
		uint32_t at = t.c->order.v[i];

		for (int cell = 0; cell < CELLS; cell++) {
			if (!t.has[cell])
				continue;
			dw_out_puts(out, cell == HAPPENED ? colour_of(&t, at) : "");
			put_cell(&t, cell, show(&t, at, cell), out);
			dw_out_puts(out, cell == HAPPENED && *colour_of(&t, at) ? "\033[0m" : "");
		}
		dw_out_puts(out, "\n");
	}
	if (dw_diff_rows(job) < t.c->order.n)
		dw_out_printf(out, "(%zu more rows)\n", t.c->order.n - dw_diff_rows(job));
	dw_buf_release(&t.cell);
}

/* Markdown: what has a meaning there is escaped, and the indentation of trees is kept. */
static void put_markdown(struct dw_out *out, const char *text)
{
	for (; *text == ' '; text++)
		dw_out_puts(out, "&nbsp;");
	for (const char *s = text; *s; s++)
		dw_out_printf(out, strchr("\\`*_{}[]<>|#~", *s) ? "\\%c" : "%c", *s);
}

/* A cell of it has no line ends. */
static void put_markdown_cell(struct table *t, uint32_t at, int cell, struct dw_out *out)
{
	const char *text = show(t, at, cell);
	struct dw_out plain;

	dw_out_init_buffer(&plain);
	if (cell == NAME)
		put_name(t, text, strspn(text, " ") + NAME_PADDED, &plain);
	else
		dw_text_put(&plain, text);
	dw_out_puts(out, " ");
	put_markdown(out, dw_buf_str(&plain.buf));
	dw_out_puts(out, " |");
	dw_out_close(&plain);
}

void dw_diff_write_markdown(const struct dw_diff_job *job, struct dw_out *out)
{
	struct table t = {.job = job, .c = job->comparison};
	struct dw_diff_job words = {.comparison = job->comparison};
	struct dw_out text;
	const char *line, *end;

	dw_out_init_buffer(&text);
	dw_diff_write_words(&words, "", &text);
	for (line = dw_buf_str(&text.buf); *line; line = end + 1) {
		dw_auto_free char *one = NULL;

		end = strchr(line, '\n');
		one = strndup(line, (size_t)(end - line));
		dw_out_puts(out, "- ");
		put_markdown(out, one ? one : "");
		dw_out_puts(out, "\n");
	}
	dw_out_close(&text);
	if (!t.c->order.n)
		return;
	layout(&t);
	dw_out_puts(out, "\n|");
	for (int cell = 0; cell < CELLS; cell++)
		if (t.has[cell])
			dw_out_printf(out, " %s |", t.title[cell]);
	dw_out_puts(out, "\n|");
	for (int cell = 0; cell < CELLS; cell++)
		if (t.has[cell])
			dw_out_puts(out, cell < HAPPENED ? "--:|" : "---|");
	dw_out_puts(out, "\n");
	for (size_t i = 0; i < dw_diff_rows(job); i++) {
		dw_out_puts(out, "|");
		for (int cell = 0; cell < CELLS; cell++)
			if (t.has[cell])
				put_markdown_cell(&t, t.c->order.v[i], cell, out);
		dw_out_puts(out, "\n");
	}
	dw_buf_release(&t.cell);
}
