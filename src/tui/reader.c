/* The reader's loop; see reader.h. */
#include "tui/reader.h"

#include "base/clock.h"
#include "base/out.h"
#include "format/text.h"
#include "tui/reader-internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* How long a session may be loaded before anything is shown. */
enum { LOADING_MS = 150, TICK_NS = 1000000000 };

/* There is one screen: warnings find their way to it by this. */
static struct dw_reader *shown;
static pthread_t drawing; /* the thread that may write to it */

static void say_text(struct dw_reader *r, const char *text)
{
	dw_buf_clear(&r->message);
	dw_buf_puts(&r->message, text);
}

static void take_warning(enum dw_log_level level, const char *domain, const char *message)
{
	(void)domain;
	/* Of what is computed beside, the result says what there is to be said. */
	if (level == DWELL_LOG_WARN && shown && pthread_equal(pthread_self(), drawing))
		say_text(shown, message);
}

void dw_reader_say(struct dw_reader *r, const char *fmt, ...)
{
	struct dw_buf text = DW_BUF_INIT;
	va_list args;

	va_start(args, fmt);
	dw_buf_vprintf(&text, fmt, args);
	va_end(args);
	say_text(r, dw_buf_str(&text));
	dw_buf_release(&text);
}

void dw_reader_fail(struct dw_reader *r, struct dw_error *err)
{
	dw_reader_say(r, "%s", dw_error_message(err));
	dw_error_clear(err);
}

/* Take back the last character. */
static void shorten(struct dw_buf *text)
{
	while (text->len && (text->data[text->len - 1] & 0xc0) == 0x80)
		text->len--;
	text->len -= text->len > 0;
	if (text->data)
		text->data[text->len] = 0;
}

bool dw_reader_ask(struct dw_reader *r, const char *label, const char *text)
{
	struct dw_prompt *p = &r->prompt;
	char bytes[8];
	int key;

	dw_buf_clear(&p->text);
	dw_buf_puts(&p->text, text);
	p->label = label;
	for (;;) {
		dw_reader_draw(r);
		key = dw_screen_key(&r->screen);
		if (key == DWELL_KEY_ENTER || key == DWELL_KEY_ESCAPE || key == DWELL_KEY_ENDED)
			break;
		if (key == DWELL_KEY_BACKSPACE)
			shorten(&p->text);
		else if (key == 'U' - '@')
			dw_buf_clear(&p->text);
		else if (key >= ' ' && key < DWELL_KEY_FIRST_OTHER &&
			 !dw_text_is_control((uint32_t)key))
			dw_buf_put(&p->text, bytes, dw_text_encode((uint32_t)key, bytes));
	}
	p->label = NULL;
	r->has_ended |= key == DWELL_KEY_ENDED;
	return key == DWELL_KEY_ENTER;
}

void dw_reader_show_over(struct dw_reader *r, struct dw_out *out)
{
	r->over_top = 0;
	if (dw_lines_set(&r->over, out, SIZE_MAX))
		dw_reader_say(r, "no memory");
}

/* Keys while text is over everything: it is read through, any other key ends it. */
static void press_over(struct dw_reader *r, int key)
{
	size_t n = r->over.rows.n, last = n > r->page ? n - r->page : 0;

	if ((key == DWELL_KEY_DOWN || key == 'j') && r->over_top < last)
		r->over_top++;
	else if (key == DWELL_KEY_PAGE_DOWN || key == ' ')
		r->over_top = r->over_top + r->page < last ? r->over_top + r->page : last;
	else if ((key == DWELL_KEY_UP || key == 'k') && r->over_top)
		r->over_top--;
	else if (key == DWELL_KEY_PAGE_UP)
		r->over_top -= r->over_top < r->page ? r->over_top : r->page;
	else if (key != DWELL_KEY_DRAW && key != DWELL_KEY_DOWN && key != DWELL_KEY_UP)
		dw_lines_release(&r->over);
}

/* Take what is new of a recording that goes on, and say how it ended. */
static void follow(struct dw_reader *r)
{
	const struct dw_follow *f = &r->reading.follow;
	enum dw_recording_state before = f->state;
	struct dw_error err = DW_ERROR_INIT;

	if (dw_reading_follow(&r->reading, &err))
		dw_reader_fail(r, &err);
	else if (f->state != before && f->state == DWELL_RECORDING_ENDED)
		dw_reader_say(r, "the recording has ended: this is all of it");
	else if (f->state != before && f->state == DWELL_RECORDING_LEFT)
		dw_reader_say(r, "nobody goes on with this recording: 'dwell recover' finishes "
				 "what was written");
}

/* When to draw again though nothing happens, 0 = never: the first line tells how long a recording
 * has been running. */
static uint64_t wake_ns(const struct dw_reading *reading)
{
	uint64_t due = dw_reading_due_ns(reading), tick;

	if (reading->follow.state != DWELL_RECORDING_RUNS)
		return due;
	tick = dw_clock_ns(CLOCK_MONOTONIC) + TICK_NS;
	return due && due < tick ? due : tick;
}

/* Make what will be drawn, or have it made. */
static void prepare(struct dw_reader *r)
{
	struct dw_error err = DW_ERROR_INIT;
	int rc;

	follow(r);
	rc = dw_reading_prepare(&r->reading, &err);
	r->is_computing = rc == DWELL_READING_COMPUTES;
	if (!rc)
		dw_reading_go_ahead(&r->reading);
	else if (!r->is_computing)
		dw_reader_fail(r, &err);
	r->screen.wake_ns = wake_ns(&r->reading);
}

static void give_up(struct dw_reader *r)
{
	if (!dw_reading_give_up(&r->reading))
		dw_reader_say(r, "there is nothing else to see yet");
}

/* Keys while rows are computed: what is to be done with them waits, and what is pressed behind it.
 */
static void press_early(struct dw_reader *r, int key)
{
	if (key == DWELL_KEY_ESCAPE) {
		dw_screen_drop_held(&r->screen);
		give_up(r);
	} else if (r->screen.held_n || dw_key_is_of_rows(key)) {
		dw_screen_hold(&r->screen, key);
	} else {
		dw_reader_press(r, key);
	}
}

static void loop(struct dw_reader *r)
{
	while (!r->has_ended) {
		bool has_rows;
		int key;

		prepare(r);
		dw_reader_draw(r);
		has_rows = !r->is_computing;
		key = has_rows || r->over.rows.n ? dw_screen_key(&r->screen)
						 : dw_screen_fresh_key(&r->screen);
		if (key != DWELL_KEY_DRAW)
			dw_buf_clear(&r->message);
		if (key == DWELL_KEY_ENDED)
			r->has_ended = true;
		else if (r->over.rows.n)
			press_over(r, key);
		else if (key != DWELL_KEY_DRAW && has_rows)
			dw_reader_press(r, key);
		else if (key != DWELL_KEY_DRAW)
			press_early(r, key);
	}
}

static int open_screen(struct dw_reader *r, struct dw_error *err)
{
	int rc = dw_screen_open(&r->screen, err);

	if (rc)
		return rc;
	shown = r;
	drawing = pthread_self();
	r->screen.wake_fds[0] = r->reading.worker.fd;
	dw_log_set(take_warning);
	return 0;
}

static void close_screen(struct dw_reader *r)
{
	dw_screen_close(&r->screen);
	dw_log_set(NULL);
	shown = NULL;
}

static void draw_loading(struct dw_reader *r)
{
	struct dw_out out;

	dw_out_init_buffer(&out);
	dw_out_puts(&out, "loading ");
	dw_text_put_fitted(&out, r->reading.start->path, r->screen.columns);
	dw_out_puts(&out, " ...");
	dw_screen_clear(&r->screen);
	dw_screen_put(&r->screen, r->screen.rows - 1, 0, r->screen.columns, DWELL_STYLE_PLAIN,
		      dw_buf_str(&out.buf));
	dw_screen_show(&r->screen, SIZE_MAX);
	dw_out_close(&out);
}

/* Wait until the session is there; other keys than q are for then. */
static int wait_for_session(struct dw_reader *r, struct dw_error *err)
{
	int rc;

	while ((rc = dw_reading_open(&r->reading, 0, err)) == DWELL_READING_COMPUTES) {
		int key;

		draw_loading(r);
		key = dw_screen_fresh_key(&r->screen);
		r->has_ended = key == DWELL_KEY_ENDED || (key == 'q' && !r->screen.held_n);
		if (r->has_ended)
			return 0;
		if (key != DWELL_KEY_DRAW)
			dw_screen_hold(&r->screen, key);
	}
	return rc;
}

/* Errors of what loads quickly never see the screen. */
static int open_session(struct dw_reader *r, const struct dw_reading_start *start,
			struct dw_error *err)
{
	int rc = dw_reading_load(&r->reading, start, err), loaded;

	loaded = rc ? rc : dw_reading_open(&r->reading, LOADING_MS, err);
	if (loaded && loaded != DWELL_READING_COMPUTES)
		return loaded;
	rc = open_screen(r, err);
	if (rc && loaded) {
		dw_reading_open(&r->reading, -1, NULL); /* it can be released then */
		return rc;
	}
	if (!rc && loaded)
		rc = wait_for_session(r, err);
	if (rc)
		close_screen(r);
	else if (r->reading.follow.worker.is_started)
		r->screen.wake_fds[1] = r->reading.follow.worker.fd;
	return rc;
}

static void tell_chosen(const struct dw_reader *r, const struct dw_reading_start *start)
{
	struct dw_filter_words words;

	if (!start->leave || !r->reading.selection)
		return;
	words = dw_selection_words(r->reading.selection);
	start->leave(start->leave_ctx, &words);
}

/* What is computed still needs all of it, and the process ends now. */
static void release(struct dw_reader *r)
{
	if (!dw_reading_release(&r->reading))
		return;
	dw_lines_release(&r->over);
	dw_buf_release(&r->prompt.text);
	dw_buf_release(&r->message);
	dw_buf_release(&r->wanted);
	dw_buf_release(&r->scratch);
	free(r);
}

int dw_reader_run(const struct dw_reading_start *start, int *ret_signal, struct dw_error *err)
{
	struct dw_reader *r = calloc(1, sizeof *r);
	int rc;

	*ret_signal = 0;
	if (!r)
		return dw_error_set(err, -ENOMEM, "no memory");
	rc = open_session(r, start, err);
	if (!rc) {
		loop(r);
		close_screen(r);
		tell_chosen(r, start);
	}
	*ret_signal = r->screen.signal;
	release(r);
	return rc;
}
