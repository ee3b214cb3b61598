/* What keys do, but for those that choose a part of the session (choose.c); see actions.h. */
#include "tui/actions.h"

#include "base/cleanup.h"
#include "format/text.h"
#include "tui/grid.h"
#include "tui/move.h"
#include "tui/reader-internal.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

static struct dw_place *here(const struct dw_reader *r)
{
	return dw_reading_here(&r->reading);
}

static void check(struct dw_reader *r, int rc)
{
	if (rc)
		dw_reader_say(r, "%s", dw_err_string(rc));
}

void dw_press_down(struct dw_reader *r, int key)
{
	(void)key;
	dw_place_move(here(r), DWELL_MOVE_ROW, false, r->page);
}

void dw_press_up(struct dw_reader *r, int key)
{
	(void)key;
	dw_place_move(here(r), DWELL_MOVE_ROW, true, r->page);
}

void dw_press_page_down(struct dw_reader *r, int key)
{
	(void)key;
	dw_place_move(here(r), DWELL_MOVE_PAGE, false, r->page);
}

void dw_press_page_up(struct dw_reader *r, int key)
{
	(void)key;
	dw_place_move(here(r), DWELL_MOVE_PAGE, true, r->page);
}

void dw_press_home(struct dw_reader *r, int key)
{
	(void)key;
	dw_place_move(here(r), DWELL_MOVE_ALL, true, r->page);
}

void dw_press_end(struct dw_reader *r, int key)
{
	(void)key;
	dw_place_move(here(r), DWELL_MOVE_ALL, false, r->page);
}

void dw_press_right(struct dw_reader *r, int key)
{
	(void)key;
	here(r)->scrolled++; /* drawing knows how far that goes */
}

void dw_press_left(struct dw_reader *r, int key)
{
	(void)key;
	here(r)->scrolled -= here(r)->scrolled > 0;
}

void dw_press_search(struct dw_reader *r, int key)
{
	(void)key;
	if (!dw_reader_ask(r, "/", "") || !r->prompt.text.len)
		return;
	dw_buf_clear(&r->wanted);
	dw_buf_puts(&r->wanted, dw_buf_str(&r->prompt.text));
	dw_reader_find(r, false, true);
}

void dw_press_next(struct dw_reader *r, int key)
{
	(void)key;
	dw_reader_find(r, false, false);
}

void dw_press_previous(struct dw_reader *r, int key)
{
	(void)key;
	dw_reader_find(r, true, false);
}

/* Where we are among the tabs; a detail counts as the tab that was seen last. */
static size_t current_tab(const struct dw_reader *r)
{
	const struct dw_reading *reading = &r->reading;

	for (size_t k = reading->history.n; k-- > 0;)
		for (size_t i = 0; i < reading->tabs.n; i++)
			if (reading->tabs.v[i] == reading->history.v[k].place)
				return i;
	return 0;
}

void dw_press_next_tab(struct dw_reader *r, int key)
{
	(void)key;
	check(r, dw_reading_go_to_tab(&r->reading, (current_tab(r) + 1) % r->reading.tabs.n));
}

void dw_press_previous_tab(struct dw_reader *r, int key)
{
	size_t n = r->reading.tabs.n;

	(void)key;
	check(r, dw_reading_go_to_tab(&r->reading, (current_tab(r) + n - 1) % n));
}

void dw_press_digit(struct dw_reader *r, int key)
{
	size_t i = key == '0' ? 9 : (size_t)(key - '1');

	if (i >= r->reading.tabs.n)
		return dw_reader_say(r, "there are %zu views", r->reading.tabs.n);
	check(r, dw_reading_go_to_tab(&r->reading, i));
}

/* The function that the row at the cursor is about, or else the place; 0 = none, which is said. */
static uint32_t function_here(struct dw_reader *r)
{
	struct dw_row row;

	if (dw_place_row(here(r), &r->scratch, &row) &&
	    dw_functions_get(&r->reading.profile.functions, row.function))
		return row.function;
	if (!here(r)->function)
		dw_reader_say(r, "this row is about no function");
	return here(r)->function;
}

void dw_press_enter(struct dw_reader *r, int key)
{
	struct dw_row row;
	uint32_t function;

	if (dw_place_row(here(r), &r->scratch, &row) && !row.function)
		return dw_press_filter_row(r, key);
	function = function_here(r);
	if (function)
		check(r, dw_reading_go(&r->reading, &dw_view_callers, function, 0));
}

void dw_press_annotate(struct dw_reader *r, int key)
{
	const struct dw_place *p = here(r);
	uint32_t function = p->function;

	(void)key;
	if (p->ops == &dw_view_source_annotated) {
		check(r, dw_reading_go(&r->reading, &dw_view_annotated, function, 0));
		return;
	}
	if (p->ops == &dw_view_annotated) {
		check(r, dw_reading_go(&r->reading, &dw_view_source_annotated, function, 0));
		return;
	}
	function = function_here(r);
	if (function)
		check(r, dw_reading_go(&r->reading, &dw_view_source_annotated, function, 0));
}

void dw_press_zoom(struct dw_reader *r, int key)
{
	uint32_t function = function_here(r);

	(void)key;
	if (function)
		check(r, dw_reading_go(&r->reading, &dw_view_calltree, 0, function));
}

void dw_press_back(struct dw_reader *r, int key)
{
	struct dw_error err = DW_ERROR_INIT;
	int rc = dw_reading_back(&r->reading, &err);

	(void)key;
	if (rc == DWELL_ERR_NOT_FOUND)
		dw_reader_say(r, "this is where you began");
	else if (rc)
		dw_reader_fail(r, &err);
}

/* The tree at hand, NULL with a word about that. */
static struct dw_unfold *tree_here(struct dw_reader *r)
{
	struct dw_place *p = here(r);

	if (p->is_open && dw_place_is_tree(p) && p->cursor < p->view.n)
		return &p->tree;
	dw_reader_say(r, "there is nothing to unfold here");
	return NULL;
}

void dw_press_unfold(struct dw_reader *r, int key)
{
	struct dw_unfold *u = tree_here(r);

	(void)key;
	if (u)
		check(r, dw_unfold_open(u, here(r)->cursor));
}

void dw_press_fold(struct dw_reader *r, int key)
{
	struct dw_unfold *u = tree_here(r);
	struct dw_place *p = here(r);

	(void)key;
	if (!u)
		return;
	if (!dw_unfold_is_open(u, p->cursor))
		p->cursor = dw_unfold_parent(u, p->cursor);
	dw_unfold_close(u, p->cursor);
}

void dw_press_toggle(struct dw_reader *r, int key)
{
	struct dw_unfold *u = tree_here(r);

	(void)key;
	if (u && dw_unfold_is_open(u, here(r)->cursor))
		dw_unfold_close(u, here(r)->cursor);
	else if (u)
		check(r, dw_unfold_open(u, here(r)->cursor));
}

void dw_press_hot_path(struct dw_reader *r, int key)
{
	struct dw_unfold *u = tree_here(r);

	(void)key;
	if (u)
		check(r, dw_unfold_hot_path(u, here(r)->cursor, &here(r)->cursor));
}

/* Order the place where we are, if it has rows. */
static void sort(struct dw_reader *r, enum dw_column column, bool reverse)
{
	struct dw_place_sources sources = dw_reading_sources(&r->reading);
	int rc = dw_place_sort(here(r), column, reverse, &sources);

	/* What is computed first is shown when it is there. */
	check(r, rc == -EAGAIN ? 0 : rc);
}

static bool has_order(struct dw_reader *r)
{
	if (here(r)->is_open && !here(r)->ops->has_notes)
		return true;
	dw_reader_say(r, "%s",
		      here(r)->is_open
			      ? "the summary has an order of its own: Tab goes on to tables"
			      : "it is still being computed");
	return false;
}

/* By the column that stands @step beside the one that decides now. */
static void step_order(struct dw_reader *r, bool back)
{
	enum dw_column columns[DWELL_COLUMNS_N];
	size_t n = 0, at = SIZE_MAX;

	if (!has_order(r))
		return;
	dw_grid_columns(here(r), columns);
	for (; columns[n]; n++)
		if (columns[n] == dw_place_sorted_by(here(r)))
			at = n;
	/* Beside one that is not among them are the first and the last. */
	if (at == SIZE_MAX)
		at = back ? 0 : n - 1;
	if (n)
		sort(r, columns[(at + (back ? n - 1 : 1)) % n], false);
}

void dw_press_sort_left(struct dw_reader *r, int key)
{
	(void)key;
	step_order(r, true);
}

void dw_press_sort_right(struct dw_reader *r, int key)
{
	(void)key;
	step_order(r, false);
}

void dw_press_sort_by(struct dw_reader *r, int key)
{
	enum dw_column columns[DWELL_COLUMNS_N], column;
	const char *word;

	(void)key;
	if (!has_order(r) || !dw_reader_ask(r, "by column: ", ""))
		return;
	word = dw_buf_str(&r->prompt.text);
	dw_view_columns(here(r)->ops, &r->reading.profile, DWELL_BY_NONE, false, columns);
	column = dw_column_find(columns, word, strlen(word));
	if (column)
		sort(r, column, false);
	else
		dw_reader_say(r, "there is no column '%s' here", word);
}

void dw_press_reverse(struct dw_reader *r, int key)
{
	(void)key;
	if (has_order(r))
		sort(r, dw_place_sorted_by(here(r)), !here(r)->reverse);
}

/* The bytes of @text up to where the shell lets its line be broken: behind a blank or a comma that
 * is not quoted. */
static size_t unbroken(const char *text)
{
	bool is_quoted = false;
	size_t n = 0;

	while (text[n]) {
		char c = text[n++];

		is_quoted ^= c == '\'';
		if (!is_quoted && (c == ' ' || c == ','))
			break;
	}
	return n;
}

/* The command, in one line if there is room, else broken where the shell allows it. */
void dw_press_command(struct dw_reader *r, int key)
{
	dw_auto(dw_buf) command = DW_BUF_INIT;
	size_t width = r->screen.columns, used = 0;
	struct dw_out out;

	(void)key;
	if (dw_reading_command(&r->reading, &command))
		return check(r, -ENOMEM);
	if (dw_text_columns(dw_buf_str(&command)) <= width)
		return dw_reader_say(r, "%s", dw_buf_str(&command));
	dw_out_init_buffer(&out);
	for (const char *word = dw_buf_str(&command); *word;) {
		size_t n = unbroken(word);

		if (used && used + n + 1 > width) {
			dw_out_puts(&out, "\\\n");
			used = 0;
		}
		dw_out_write(&out, word, n);
		used += n;
		word += n;
	}
	dw_out_puts(&out, "\n");
	dw_reader_show_over(r, &out);
	dw_out_close(&out);
}

void dw_press_write(struct dw_reader *r, int key)
{
	struct dw_error err = DW_ERROR_INIT;
	dw_auto(dw_buf) name = DW_BUF_INIT;

	(void)key;
	if (!here(r)->is_open)
		return;
	dw_buf_printf(&name, "%s.csv", here(r)->ops->name);
	if (!dw_reader_ask(r, "write to: ", dw_buf_str(&name)) || !r->prompt.text.len)
		return;
	if (dw_reading_save(&r->reading, dw_buf_str(&r->prompt.text), &err))
		dw_reader_fail(r, &err);
	else
		dw_reader_say(r, "wrote '%s'", dw_buf_str(&r->prompt.text));
}

void dw_press_help(struct dw_reader *r, int key)
{
	struct dw_out out;

	(void)key;
	dw_out_init_buffer(&out);
	dw_keys_help(&out);
	dw_reader_show_over(r, &out);
	dw_out_close(&out);
}

void dw_press_freeze(struct dw_reader *r, int key)
{
	struct dw_follow *f = &r->reading.follow;

	(void)key;
	if (f->state != DWELL_RECORDING_RUNS)
		return dw_reader_say(r, "there is no recording that goes on here");
	f->is_frozen = !f->is_frozen;
	dw_reader_say(r, "%s",
		      f->is_frozen ? "stopped: P goes on with what was recorded since"
				   : "showing what is recorded");
}

void dw_press_quit(struct dw_reader *r, int key)
{
	(void)key;
	r->has_ended = true;
}
