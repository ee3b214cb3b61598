/* The reader's loop; see reader.h. */
#include "tui/reader.h"

#include "base/out.h"
#include "format/text.h"
#include "tui/reader-internal.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

/* There is one screen: warnings find their way to it by this. */
static struct dw_reader *shown;

static void say_text(struct dw_reader *r, const char *text)
{
	dw_buf_clear(&r->message);
	dw_buf_puts(&r->message, text);
}

static void take_warning(enum dw_log_level level, const char *domain, const char *message)
{
	(void)domain;
	if (level == DWELL_LOG_WARN && shown)
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

/* Make what will be drawn. What takes long is announced. */
static void prepare(struct dw_reader *r)
{
	struct dw_error err = DW_ERROR_INIT;
	struct dw_place *here = dw_reading_here(&r->reading);
	struct dw_place_sources sources = dw_reading_sources(&r->reading);

	if (dw_place_is_costly(here, &sources) && !r->message.len) {
		dw_reader_say(r, "computing %s ...", here->ops->name);
		dw_reader_draw(r);
		dw_buf_clear(&r->message);
	}
	if (dw_reading_prepare(&r->reading, &err))
		dw_reader_fail(r, &err);
	if (here->function)
		r->last_function = here->function;
}

static void loop(struct dw_reader *r)
{
	while (!r->has_ended) {
		int key;

		prepare(r);
		dw_reader_draw(r);
		key = dw_screen_key(&r->screen);
		if (key != DWELL_KEY_DRAW)
			dw_buf_clear(&r->message);
		if (key == DWELL_KEY_ENDED)
			r->has_ended = true;
		else if (r->over.rows.n)
			press_over(r, key);
		else if (key != DWELL_KEY_DRAW)
			dw_reader_press(r, key);
	}
}

int dw_reader_run(const struct dw_reading_start *start, int *ret_signal, struct dw_error *err)
{
	struct dw_reader r = {0};
	int rc = dw_reading_open(&r.reading, start, err);

	if (!rc)
		rc = dw_screen_open(&r.screen, err);
	if (!rc) {
		shown = &r;
		dw_log_set(take_warning);
		loop(&r);
		dw_screen_close(&r.screen);
		dw_log_set(NULL);
		shown = NULL;
	}
	*ret_signal = r.screen.signal;
	dw_reading_release(&r.reading);
	dw_lines_release(&r.over);
	dw_buf_release(&r.prompt.text);
	dw_buf_release(&r.message);
	dw_buf_release(&r.wanted);
	dw_buf_release(&r.scratch);
	return rc;
}
