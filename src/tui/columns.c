/*
 * Choosing the columns of a view: a list of all that it has, over everything, in which they are
 * switched on and off. Tables show them in the order of the list: those that the view shows by
 * default as it does, other numbers behind those that are numbers, other texts behind texts.
 */
#include "format/table-cell.h"
#include "tui/actions.h"
#include "tui/grid.h"
#include "tui/reader-internal.h"

#include <stdio.h>
#include <string.h>

enum {
	MARK = 4,	  /* columns of what says whether it is on */
	HEADER_FROM = 46, /* where headers of tables stand, that are not the titles */
	TITLE_FROM = 4,	  /* lines of a screen that has room for a title */
};

struct chooser {
	struct dw_reader *reader;
	struct dw_place *place;
	enum dw_column columns[DWELL_COLUMNS_N]; /* all, in the order of tables */
	enum dw_column own[DWELL_COLUMNS_N];	 /* what the view shows by itself */
	bool is_on[DWELL_COLUMNS_N];
	size_t n, cursor, top, height;
};

static bool has(const enum dw_column *list, enum dw_column column)
{
	while (*list && *list != column)
		list++;
	return *list;
}

/* Put @column behind the last one of its kind among the @n of @list. */
static void insert(enum dw_column *list, size_t n, enum dw_column column)
{
	size_t at = n;

	while (at && dw_table_is_text(list[at - 1]) != dw_table_is_text(column))
		at--;
	at = at ? at : n;
	memmove(list + at + 1, list + at, (n + 1 - at) * sizeof *list);
	list[at] = column;
}

static void switch_to(struct chooser *c, const enum dw_column *on)
{
	for (size_t i = 0; i < c->n; i++)
		c->is_on[i] = has(on, c->columns[i]);
}

static void begin(struct chooser *c)
{
	enum dw_column all[DWELL_COLUMNS_N], shown[DWELL_COLUMNS_N];
	struct dw_place own = *c->place;

	own.chosen[0] = DWELL_COLUMN_END;
	dw_grid_columns(c->place, shown);
	dw_grid_columns(&own, c->own);
	dw_view_columns(c->place->ops, &c->reader->reading.profile, DWELL_BY_NONE, false, all);
	if (c->place->ops != &dw_view_source_annotated)
		dw_columns_drop(all, DWELL_COLUMN_SOURCE_TEXT);
	/* What tells processes apart is there whatever is chosen, where the view has no such
	 * column. */
	if (!has(all, DWELL_COLUMN_PROCESS_ID))
		dw_columns_drop(c->own, DWELL_COLUMN_PROCESS_ID);
	memcpy(c->columns, c->own, sizeof c->columns);
	while (c->columns[c->n])
		c->n++;
	for (const enum dw_column *column = all; *column; column++)
		if (!has(c->columns, *column))
			insert(c->columns, c->n++, *column);
	switch_to(c, shown);
}

static void draw_column(struct chooser *c, size_t i, size_t y)
{
	const struct dw_format_job job = {.view = &c->place->view};
	const char *title = dw_column_info(c->columns[i])->title;
	const char *header = dw_table_header(&job, c->columns[i]);
	struct dw_screen *s = &c->reader->screen;
	enum dw_style style = i == c->cursor ? DWELL_STYLE_CHOSEN : DWELL_STYLE_PLAIN;

	if (i == c->cursor)
		dw_screen_fill(s, y, 0, s->columns, style);
	dw_screen_put(s, y, 0, MARK, style, c->is_on[i] ? "[x]" : "[ ]");
	dw_screen_put(s, y, MARK, s->columns, style, title);
	if (strcmp(title, header) != 0)
		dw_screen_put(s, y, HEADER_FROM, s->columns, style, header);
}

static void draw(struct chooser *c)
{
	struct dw_screen *s = &c->reader->screen;
	size_t y = 0, rows = s->rows;
	char title[80];

	dw_screen_clear(s);
	if (rows >= TITLE_FROM) {
		snprintf(title, sizeof title, "Columns of %s", c->place->ops->name);
		dw_screen_put(s, y, 0, s->columns, DWELL_STYLE_BOLD, title);
		dw_screen_put(s, y++, HEADER_FROM, s->columns, DWELL_STYLE_BOLD, "called");
	}
	c->height = rows > y + 1 ? rows - y - 1 : 1;
	if (c->cursor < c->top)
		c->top = c->cursor;
	if (c->cursor >= c->top + c->height)
		c->top = c->cursor - c->height + 1;
	for (size_t i = c->top; i < c->n && i < c->top + c->height; i++)
		draw_column(c, i, y++);
	if (rows > 1)
		dw_screen_put(s, rows - 1, 0, s->columns, DWELL_STYLE_PLAIN,
			      c->reader->message.len
				      ? dw_buf_str(&c->reader->message)
				      : "Space on/off  Enter take  Escape back  a all  d default");
	dw_screen_show(s, SIZE_MAX);
}

/* What moves the cursor. False: @key does not. */
static bool move(struct chooser *c, int key)
{
	size_t last = c->n - 1, at = c->cursor;

	if (key == DWELL_KEY_DOWN || key == 'j')
		at++;
	else if (key == DWELL_KEY_UP || key == 'k')
		at -= at > 0;
	else if (key == DWELL_KEY_PAGE_DOWN || key == 'F' - '@')
		at += c->height;
	else if (key == DWELL_KEY_PAGE_UP || key == 'B' - '@')
		at -= at < c->height ? at : c->height;
	else if (key == DWELL_KEY_HOME || key == 'g')
		at = 0;
	else if (key == DWELL_KEY_END || key == 'G')
		at = last;
	else
		return false;
	c->cursor = at < last ? at : last;
	return true;
}

/* Switch the column at the cursor. What a tree unfolds at stays, and so does the last one. */
static void toggle(struct chooser *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += c->is_on[i];
	if (c->is_on[c->cursor] && c->columns[c->cursor] == c->place->ops->tree)
		return dw_reader_say(c->reader, "the tree is in this column");
	if (c->is_on[c->cursor] && n == 1)
		return dw_reader_say(c->reader, "one column stays");
	c->is_on[c->cursor] = !c->is_on[c->cursor];
}

/* Until the list is left. The key by which that was. */
static int press(struct chooser *c)
{
	for (;;) {
		int key;

		draw(c);
		key = dw_screen_key(&c->reader->screen);
		if (key == DWELL_KEY_DRAW)
			continue;
		dw_buf_clear(&c->reader->message);
		if (key == DWELL_KEY_ENTER || key == DWELL_KEY_ESCAPE || key == 'q' ||
		    key == DWELL_KEY_ENDED)
			return key;
		if (key == ' ')
			toggle(c);
		else if (key == 'a')
			switch_to(c, c->columns);
		else if (key == 'd')
			switch_to(c, c->own);
		else if (!move(c, key))
			dw_reader_say(c->reader, "this key does nothing here");
	}
}

/* Show what is on. The view's own choice is none. */
static void take(struct chooser *c)
{
	enum dw_column chosen[DWELL_COLUMNS_N] = {DWELL_COLUMN_END};
	bool is_own = true;
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		is_own &= c->is_on[i] == has(c->own, c->columns[i]);
		if (c->is_on[i])
			chosen[n++] = c->columns[i];
	}
	chosen[is_own ? 0 : n] = DWELL_COLUMN_END;
	dw_reading_choose_columns(&c->reader->reading, chosen);
}

void dw_press_columns(struct dw_reader *r, int key)
{
	struct chooser c = {.reader = r, .place = dw_reading_here(&r->reading)};

	(void)key;
	if (!c.place->is_open || c.place->ops->has_notes)
		return dw_reader_say(r, "%s",
				     c.place->is_open
					     ? "there are no columns here: Tab goes on to tables"
					     : "it is still being computed");
	begin(&c);
	key = press(&c);
	r->has_ended |= key == DWELL_KEY_ENDED;
	if (key == DWELL_KEY_ENTER)
		take(&c);
}
