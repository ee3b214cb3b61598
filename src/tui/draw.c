/* Drawing the reader: what is recorded, tabs, chips, the place, and the last line. */
#include "base/out.h"
#include "format/format.h"
#include "format/text.h"
#include "tui/grid.h"
#include "tui/reader-internal.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
	TITLE_FROM = 6, /* lines of a screen that has room for what was recorded, */
	TABS_FROM = 4,	/* for tabs, */
	CHIPS_FROM = 5,
	HEADER_FROM = 3,
	STATUS_FROM = 2,
};

static void put_text(struct dw_reader *r, size_t y, size_t *x, enum dw_style style,
		     const char *text)
{
	*x += dw_screen_put(&r->screen, y, *x, r->screen.columns, style, text);
}

/* Begin one more of the things that the first line tells. */
static void put_comma(struct dw_out *out)
{
	dw_out_puts(out, out->buf.len ? ", " : "");
}

/* Whether the recording goes on, if somebody follows it, and up to when it is shown. */
static void put_times(const struct dw_reader *r, struct dw_out *out)
{
	const struct dw_follow *f = &r->reading.follow;
	int64_t duration = dw_facts_get(&r->reading.profile.facts, "duration_ns", 0);
	uint64_t runs_ns = dw_reading_runs_ns(&r->reading);
	bool runs = f->worker.is_started && f->state == DWELL_RECORDING_RUNS;

	if (f->has_failed)
		dw_out_puts(out, "not to be read any more");
	else if (runs)
		dw_out_puts(out, "running");
	else if (f->worker.is_started)
		dw_out_puts(out, f->state == DWELL_RECORDING_LEFT ? "left unfinished" : "ended");
	if (runs_ns && !f->has_failed)
		dw_out_printf(out, " for %.1f s", (double)runs_ns / 1e9);
	if (duration <= 0)
		return;
	put_comma(out);
	dw_out_puts(out, !runs ? "" : f->is_frozen ? "stopped at " : "up to ");
	dw_format_time(out, duration);
}

/* How much was recorded, and how it is shown. */
static void put_size(const struct dw_reader *r, struct dw_out *out)
{
	const struct dw_profile *p = &r->reading.profile;
	const struct dw_place *here = dw_reading_here(&r->reading);

	put_times(r, out);
	if (here->is_open && dw_profile_method(p) == DWELL_METHOD_SAMPLING) {
		put_comma(out);
		dw_out_printf(out, "%" PRIu64 " samples",
			      here->view.request.totals->all[DWELL_MEASURE_SAMPLES]);
	}
	if (here->is_open && here->view.request.folded) {
		put_comma(out);
		dw_out_puts(out, "system's code folded");
	} else if (r->reading.shows_all_code && here->ops->is_of_my_code) {
		put_comma(out);
		dw_out_puts(out, "all code");
	}
}

static void draw_title(struct dw_reader *r, size_t y)
{
	const char *command = dw_facts_get_text(&r->reading.profile.facts, "command");
	struct dw_out size, name;
	size_t columns = r->screen.columns, behind;

	dw_out_init_buffer(&size);
	dw_out_init_buffer(&name);
	put_size(r, &size);
	behind = dw_text_columns(dw_buf_str(&size.buf));
	dw_text_put_fitted(&name, command && *command ? command : r->reading.start->path,
			   columns > behind + 2 ? columns - behind - 2 : columns);
	dw_screen_put(&r->screen, y, 0, columns, DWELL_STYLE_BOLD, dw_buf_str(&name.buf));
	if (columns > behind + 2)
		dw_screen_put(&r->screen, y, columns - behind, behind, DWELL_STYLE_PLAIN,
			      dw_buf_str(&size.buf));
	dw_out_close(&size);
	dw_out_close(&name);
}

/* What stands in the line of tabs: those, and where we are if that is none of them. */
static size_t tab_count(const struct dw_reader *r, size_t *current)
{
	const struct dw_reading *reading = &r->reading;
	const char *name = dw_reading_here(reading)->ops->name;

	for (*current = 0; *current < reading->tabs.n; (*current)++)
		if (!strcmp(reading->tabs.v[*current]->ops->name, name))
			return reading->tabs.n;
	return reading->tabs.n + 1;
}

static const char *tab_name(const struct dw_reader *r, size_t i)
{
	const struct dw_reading *reading = &r->reading;

	return i < reading->tabs.n ? reading->tabs.v[i]->ops->name
				   : dw_reading_here(reading)->ops->name;
}

/* Columns of tabs @first .. @last, with their digits and gaps or without. */
static size_t tabs_width(const struct dw_reader *r, size_t first, size_t last, bool wide)
{
	size_t n = 0;

	for (size_t i = first; i <= last; i++)
		n += strlen(tab_name(r, i)) + (wide ? 4 : 0) + (i < last ? 1 : 0);
	return n;
}

static void draw_tabs(struct dw_reader *r, size_t y)
{
	size_t current, n = tab_count(r, &current), first = 0, x = 0, width = r->screen.columns;
	bool wide = tabs_width(r, 0, n - 1, true) <= width;

	while (first < current && tabs_width(r, first, current, wide) + 4 > width)
		first++;
	if (first)
		put_text(r, y, &x, DWELL_STYLE_PLAIN, "< ");
	for (size_t i = first; i < n; i++) {
		char text[64] = "";

		if (wide && i < 10 && i < r->reading.tabs.n)
			snprintf(text, sizeof text, " %zu %s ", (i + 1) % 10, tab_name(r, i));
		else
			snprintf(text, sizeof text, wide ? " %s " : "%s", tab_name(r, i));
		if (i > first && x + strlen(text) + (i + 1 < n ? 3 : 1) > width) {
			put_text(r, y, &x, DWELL_STYLE_PLAIN, " >");
			return;
		}
		x += i > first;
		put_text(r, y, &x, i == current ? DWELL_STYLE_CHOSEN : DWELL_STYLE_PLAIN, text);
	}
}

static void put_chip(struct dw_reader *r, size_t y, size_t *x, const char *what, const char *name)
{
	struct dw_out out;

	dw_out_init_buffer(&out);
	dw_out_printf(&out, "[%s ", what);
	dw_text_put_fitted(&out, name, 40);
	dw_out_puts(&out, "]");
	put_text(r, y, x, DWELL_STYLE_CHIP, dw_buf_str(&out.buf));
	dw_out_close(&out);
	(*x)++;
}

static const char *function_name(const struct dw_reader *r, uint32_t function)
{
	const struct dw_profile *p = &r->reading.profile;
	const struct dw_function *f = dw_functions_get(&p->functions, function);

	return f ? dw_strings_get(&p->strings, f->name) : "";
}

static const char *source_name(const struct dw_reader *r, uint32_t function)
{
	const struct dw_profile *p = &r->reading.profile;
	const struct dw_function *f = dw_functions_get(&p->functions, function);

	return f ? dw_strings_get(&p->strings, f->file) : "";
}

static void put_range_chip(struct dw_reader *r, size_t y, size_t *x)
{
	const struct dw_reading *reading = &r->reading;
	struct dw_out out;

	dw_out_init_buffer(&out);
	dw_format_time(&out, (int64_t)reading->selection->from_ns);
	dw_out_puts(&out, " to ");
	if (reading->selection->to_ns)
		dw_format_time(&out, (int64_t)reading->selection->to_ns);
	else
		dw_out_puts(&out, "the end");
	put_chip(r, y, x, "time", dw_buf_str(&out.buf));
	dw_out_close(&out);
}

static bool has_chips(const struct dw_reader *r)
{
	const struct dw_place *here = dw_reading_here(&r->reading);

	return here->function || here->root || dw_reading_is_filtered(&r->reading);
}

/* What is left out, and what the place is about. */
static void draw_chips(struct dw_reader *r, size_t y)
{
	static const char *const names[DWELL_FILTER_KINDS] = {"process", "thread", "module",
							      "type"};
	const struct dw_reading *reading = &r->reading;
	const struct dw_place *here = dw_reading_here(reading);
	size_t x = 0;

	if (here->function)
		put_chip(r, y, &x, here->ops == &dw_view_callers ? "around" : "of",
			 function_name(r, here->function));
	if (here->ops == &dw_view_source_annotated && *source_name(r, here->function))
		put_chip(r, y, &x, "in", source_name(r, here->function));
	if (here->root)
		put_chip(r, y, &x, "below", function_name(r, here->root));
	for (size_t kind = 0; kind < DWELL_FILTER_KINDS; kind++)
		dw_vec_each(word, &reading->selection->lists[kind].words)
			put_chip(r, y, &x, names[kind], *word);
	if (reading->selection->from_ns || reading->selection->to_ns)
		put_range_chip(r, y, &x);
}

/* Lines of text, marked ones chosen. */
static void draw_lines(struct dw_reader *r, const struct dw_lines *l, size_t top, size_t cursor,
		       const struct dw_area *area)
{
	for (size_t i = 0; i < area->height && top + i < l->rows.n; i++) {
		bool is_chosen = top + i == cursor;
		enum dw_style style = is_chosen ? DWELL_STYLE_CHOSEN : DWELL_STYLE_PLAIN;

		if (is_chosen)
			dw_screen_fill(&r->screen, area->y + i, 0, r->screen.columns, style);
		dw_screen_put(&r->screen, area->y + i, l->rows.v[top + i].indent, r->screen.columns,
			      style, dw_lines_get(l, top + i));
	}
}

static void put_position(const struct dw_reader *r, struct dw_out *out)
{
	const struct dw_place *p = dw_reading_here(&r->reading);
	enum dw_column sorted = dw_place_sorted_by(p);

	if (r->is_computing && dw_reading_is_loading(&r->reading))
		return dw_out_puts(out, "loading that range ... Escape gives up");
	if (r->is_computing)
		return dw_out_printf(out, "computing %s ... Escape gives up", p->ops->name);
	if (p->ops->has_notes)
		return dw_out_puts(out, "Tab: next view");
	if (!p->is_open || !p->view.n)
		return dw_out_puts(out, "nothing to see here");
	dw_out_printf(out, "%zu of %zu", p->cursor + 1, p->view.n);
	if (sorted)
		dw_out_printf(out, ", by %s%s", dw_column_info(sorted)->title,
			      p->reverse ? ", reversed" : "");
}

/* Which lines of the text over everything are in sight. */
static void put_over(const struct dw_reader *r, struct dw_out *out)
{
	size_t n = r->over.rows.n, last = r->over_top + r->page;

	if (r->over_top || last < n)
		dw_out_printf(out, "%zu to %zu of %zu lines: Space goes on, ", r->over_top + 1,
			      last < n ? last : n, n);
	dw_out_puts(out, "q goes back");
}

/* The last line: what is asked, what was said, or where we are. */
static void draw_status(struct dw_reader *r, size_t y)
{
	static const char hint[] = "enter more  ? help  q quit";
	size_t x = 0, columns = r->screen.columns;
	struct dw_out out;

	if (r->prompt.label) {
		put_text(r, y, &x, DWELL_STYLE_BOLD, r->prompt.label);
		put_text(r, y, &x, DWELL_STYLE_PLAIN, dw_buf_str(&r->prompt.text));
		dw_screen_show(&r->screen, x);
		return;
	}
	dw_out_init_buffer(&out);
	if (r->message.len)
		dw_text_put_fitted(&out, dw_buf_str(&r->message), columns);
	else if (r->over.rows.n)
		put_over(r, &out);
	else
		put_position(r, &out);
	put_text(r, y, &x, r->message.len ? DWELL_STYLE_BOLD : DWELL_STYLE_PLAIN,
		 dw_buf_str(&out.buf));
	if (x + sizeof hint + 1 < columns && !r->over.rows.n)
		dw_screen_put(&r->screen, y, columns - sizeof hint + 1, columns, DWELL_STYLE_PLAIN,
			      hint);
	dw_out_close(&out);
	dw_screen_show(&r->screen, SIZE_MAX);
}

/* Draw what is above the rows. */
static struct dw_area draw_head(struct dw_reader *r)
{
	bool has_header = !dw_reading_here(&r->reading)->ops->has_notes;
	size_t rows = r->screen.rows, y = 0;
	struct dw_area area = {.header = SIZE_MAX};

	if (rows >= TITLE_FROM)
		draw_title(r, y++);
	if (rows >= TABS_FROM)
		draw_tabs(r, y++);
	if (rows >= CHIPS_FROM && has_chips(r))
		draw_chips(r, y++);
	y += dw_reader_draw_timeline(r, y);
	if (rows >= HEADER_FROM && has_header)
		area.header = y++;
	area.y = y;
	area.height = rows - y - (rows >= STATUS_FROM);
	return area;
}

static void draw_place(struct dw_reader *r, const struct dw_area *area)
{
	struct dw_place *p = dw_reading_here(&r->reading);

	if (!p->is_open)
		return;
	if (!p->ops->has_notes)
		return dw_grid_draw(&r->screen, p, area);
	if (dw_place_write_lines(p, r->screen.columns))
		return dw_reader_say(r, "no memory");
	draw_lines(r, &p->lines, p->top, p->lines.marks.rows.n ? p->cursor : SIZE_MAX, area);
}

void dw_reader_draw(struct dw_reader *r)
{
	struct dw_area area = {0};
	size_t rows = r->screen.rows;

	dw_screen_clear(&r->screen);
	if (r->over.rows.n) {
		area.height = rows - (rows >= STATUS_FROM);
		draw_lines(r, &r->over, r->over_top, SIZE_MAX, &area);
	} else {
		area = draw_head(r);
		draw_place(r, &area);
	}
	r->page = area.height ? area.height : 1;
	if (rows >= STATUS_FROM || r->prompt.label)
		draw_status(r, rows - 1);
	else
		dw_screen_show(&r->screen, SIZE_MAX);
}
