/*
 * The timeline on the screen, and choosing a range on it: a bar for each column, what is left out
 * faint, and below it two marks that keys move, as long as somebody chooses.
 */
#include "base/out.h"
#include "format/format.h"
#include "tui/actions.h"
#include "tui/reader-internal.h"

#include <stdlib.h>

enum {
	TIMELINE_FROM = 15, /* lines of a screen that has room for it, */
	CHOOSING_FROM = 4,  /* and while a range is chosen */
	LEAP = 10,	    /* columns that a page is */
};

static const char *const bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const plain_bars[] = {" ", ".", ":", "-", "=", "+", "*", "%", "#"};

static bool has_timeline(const struct dw_reader *r)
{
	return r->reading.timeline.knots.n != 0;
}

/* The columns of the range that is shown, or being chosen. */
static void columns_of_range(const struct dw_reader *r, size_t at[2])
{
	const struct dw_reading *reading = &r->reading;
	size_t n = r->screen.columns;

	if (r->marks.is_shown) {
		at[0] = r->marks.at[0];
		at[1] = r->marks.at[1];
		return;
	}
	at[0] = dw_timeline_column(&reading->timeline, reading->selection->from_ns, n);
	at[1] = reading->selection->to_ns
			? dw_timeline_column(&reading->timeline, reading->selection->to_ns, n)
			: n;
	if (at[0] >= n)
		at[0] = n - 1;
	if (at[1] <= at[0])
		at[1] = at[0] + 1;
}

/* Columns from @from to before @to. */
static void put_bars(struct dw_reader *r, size_t y, const uint8_t *levels, size_t from, size_t to,
		     enum dw_style style)
{
	struct dw_buf text = DW_BUF_INIT;

	for (size_t i = from; i < to; i++)
		dw_buf_puts(&text, (r->screen.has_utf8 ? bars : plain_bars)[levels[i]]);
	dw_screen_put(&r->screen, y, from, to - from, style, dw_buf_str(&text));
	dw_buf_release(&text);
}

/* Where the range begins and ends; the one that keys move stands out. */
static void put_marks(struct dw_reader *r, size_t y)
{
	static const char *const texts[2] = {"[", "]"};
	size_t y_columns[2] = {r->marks.at[0], r->marks.at[1] - 1};

	if (y_columns[0] == y_columns[1]) {
		dw_screen_put(&r->screen, y, y_columns[0], 1, DWELL_STYLE_CHOSEN, "|");
		return;
	}
	for (unsigned i = 0; i < 2; i++)
		dw_screen_put(&r->screen, y, y_columns[i], 1,
			      i == r->marks.moving ? DWELL_STYLE_CHOSEN : DWELL_STYLE_BOLD,
			      texts[i]);
}

size_t dw_reader_draw_timeline(struct dw_reader *r, size_t y)
{
	size_t n = r->screen.columns, at[2];
	bool is_part = dw_reading_is_ranged(&r->reading) || r->marks.is_shown;
	uint8_t *levels;

	if (!has_timeline(r) ||
	    r->screen.rows < (r->marks.is_shown ? (size_t)CHOOSING_FROM : (size_t)TIMELINE_FROM))
		return 0;
	levels = malloc(n);
	if (!levels)
		return 0;
	dw_timeline_levels(&r->reading.timeline, n, levels);
	columns_of_range(r, at);
	put_bars(r, y, levels, 0, at[0], DWELL_STYLE_FAINT);
	put_bars(r, y, levels, at[0], at[1], is_part ? DWELL_STYLE_CHIP : DWELL_STYLE_PLAIN);
	put_bars(r, y, levels, at[1], n, DWELL_STYLE_FAINT);
	free(levels);
	if (r->marks.is_shown)
		put_marks(r, y + 1);
	return r->marks.is_shown ? 2 : 1;
}

/* The times of the marks; no end = the end of the recording. */
static void times_of_marks(const struct dw_reader *r, uint64_t *from_ns, uint64_t *to_ns)
{
	size_t n = r->screen.columns;

	*from_ns = dw_timeline_at(&r->reading.timeline, r->marks.at[0], n);
	*to_ns = r->marks.at[1] < n ? dw_timeline_at(&r->reading.timeline, r->marks.at[1], n) : 0;
}

static void say_range(struct dw_reader *r)
{
	uint64_t from_ns, to_ns;
	struct dw_out out;

	times_of_marks(r, &from_ns, &to_ns);
	dw_out_init_buffer(&out);
	dw_format_time(&out, (int64_t)from_ns);
	dw_out_puts(&out, " to ");
	if (to_ns)
		dw_format_time(&out, (int64_t)to_ns);
	else
		dw_out_puts(&out, "the end");
	dw_reader_say(r, "%s   Left/Right move  Tab other mark  Enter take  Escape back",
		      dw_buf_str(&out.buf));
	dw_out_close(&out);
}

/* Move the mark by @step columns, as far as the other one and the ends let it. */
static void move_mark(struct dw_reader *r, size_t step, bool back)
{
	struct dw_range_marks *m = &r->marks;
	size_t least = m->moving ? m->at[0] + 1 : 0;
	size_t most = m->moving ? r->screen.columns : m->at[1] - 1, *at = &m->at[m->moving];

	if (back)
		*at = *at > least + step ? *at - step : least;
	else
		*at = *at + step < most ? *at + step : most;
}

static void press(struct dw_reader *r, int key)
{
	size_t step = key == DWELL_KEY_PAGE_UP || key == DWELL_KEY_PAGE_DOWN ? LEAP : 1;

	switch (key) {
	case DWELL_KEY_LEFT:
	case 'h':
	case DWELL_KEY_PAGE_UP:
		return move_mark(r, step, true);
	case DWELL_KEY_RIGHT:
	case 'l':
	case DWELL_KEY_PAGE_DOWN:
		return move_mark(r, step, false);
	case DWELL_KEY_HOME:
		return move_mark(r, r->screen.columns, true);
	case DWELL_KEY_END:
		return move_mark(r, r->screen.columns, false);
	case DWELL_KEY_TAB:
	case DWELL_KEY_BACK_TAB:
	case ' ':
		r->marks.moving = !r->marks.moving;
		return;
	default:
		return;
	}
}

/* Another size of the screen has other columns: the marks stay at their times. */
static void fit_marks(struct dw_reader *r, size_t columns_before)
{
	size_t n = r->screen.columns;

	if (n == columns_before)
		return;
	for (unsigned i = 0; i < 2; i++)
		r->marks.at[i] = r->marks.at[i] * n / columns_before;
	if (r->marks.at[0] >= n)
		r->marks.at[0] = n - 1;
	if (r->marks.at[1] <= r->marks.at[0])
		r->marks.at[1] = r->marks.at[0] + 1;
}

/* Until the range is taken or left. The key by which that was. */
static int choose(struct dw_reader *r)
{
	for (;;) {
		size_t columns = r->screen.columns;
		int key;

		say_range(r);
		dw_reader_draw(r);
		key = dw_screen_key(&r->screen);
		dw_buf_clear(&r->message);
		fit_marks(r, columns);
		if (key == DWELL_KEY_ENTER || key == DWELL_KEY_ESCAPE || key == 'q' ||
		    key == DWELL_KEY_ENDED)
			return key;
		press(r, key);
	}
}

void dw_press_range(struct dw_reader *r, int key)
{
	struct dw_error err = DW_ERROR_INIT;
	uint64_t from_ns, to_ns;

	(void)key;
	if (!has_timeline(r))
		return dw_reader_say(r, "it is not known what was measured when");
	columns_of_range(r, r->marks.at);
	r->marks.moving = 0;
	r->marks.is_shown = true;
	key = choose(r);
	r->marks.is_shown = false;
	r->has_ended |= key == DWELL_KEY_ENDED;
	times_of_marks(r, &from_ns, &to_ns);
	if (key == DWELL_KEY_ENTER && dw_reading_set_range(&r->reading, from_ns, to_ns, &err))
		dw_reader_fail(r, &err);
}
