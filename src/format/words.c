/* Notes in words: a sentence of the summary with its numbers and names in their places. */
#include "base/cleanup.h"
#include "format/format.h"
#include "format/shorten.h"
#include "format/text.h"
#include "view/notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	FUNCTION_COLUMNS = 40, /* of a name in a sentence */
	SHORT_MIN = 1000000,   /* counts that are told shorter */
};

typedef void put_text_fn(struct dw_out *out, const char *text);

void dw_format_grouped(struct dw_out *out, uint64_t n)
{
	char digits[24];
	size_t len = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, n);

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			dw_out_puts(out, ",");
		dw_out_write(out, digits + i, 1);
	}
}

/* "6.0 M", of a million and more. */
static void put_short(struct dw_out *out, uint64_t n)
{
	static const char units[] = "MGT";
	double v = (double)n / 1e6;
	size_t unit = 0;

	for (; v >= 999.95 && units[unit + 1]; unit++)
		v /= 1e3;
	dw_out_printf(out, "%.1f %c", v, units[unit]);
}

/* "1,234 things", @noun (of @len bytes) in the singular, which takes "es" if it ends in "s" or "h".
 */
static void put_count(struct dw_out *out, uint64_t n, const char *noun, size_t len, bool is_short)
{
	char last = noun[len - 1];

	if (is_short && n >= SHORT_MIN)
		put_short(out, n);
	else
		dw_format_grouped(out, n);
	dw_out_puts(out, " ");
	dw_out_write(out, noun, len);
	if (n != 1)
		dw_out_puts(out, last == 's' || last == 'h' ? "es" : "s");
}

void dw_format_time(struct dw_out *out, int64_t ns)
{
	double s = (double)ns / 1e9;

	if (s < 0)
		dw_out_puts(out, "-");
	s = s < 0 ? -s : s;
	if (s < 1e-6)
		dw_out_printf(out, "%.0f ns", s * 1e9);
	else if (s < 1e-3)
		dw_out_printf(out, "%.1f µs", s * 1e6);
	else if (s < 1)
		dw_out_printf(out, "%.1f ms", s * 1e3);
	else if (s < 600)
		dw_out_printf(out, "%.2f s", s);
	else
		dw_out_printf(out, "%.1f min", s / 60);
}

static void put_bytes(struct dw_out *out, uint64_t n)
{
	static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
	double v = (double)n / 1e3;
	size_t unit = 0;

	if (n < 10000) {
		dw_out_printf(out, "%" PRIu64 " B", n);
		return;
	}
	for (; v >= 1e3 && unit + 1 < sizeof units / sizeof *units; unit++)
		v /= 1e3;
	dw_out_printf(out, v < 100 ? "%.1f %s" : "%.0f %s", v, units[unit]);
}

void dw_format_shell_word(struct dw_out *out, const char *s, put_text_fn *put_text)
{
	dw_auto(dw_buf) word = DW_BUF_INIT;

	dw_buf_put_shell_word(&word, s);
	put_text(out, dw_buf_str(&word));
}

/* The names in @list, which commas divide: "a, b", or each behind " --module ". NULL = none. */
static void put_list(struct dw_out *out, const char *list, bool options, put_text_fn *put_text)
{
	while (list && *list) {
		size_t n = strcspn(list, ",");
		dw_auto_free char *name = strndup(list, n);

		list += n + (list[n] == ',');
		dw_out_puts(out, options ? " --module " : "");
		if (options)
			dw_format_shell_word(out, name ? name : "", put_text);
		else
			put_text(out, name ? name : "");
		dw_out_puts(out, *list && !options ? ", " : "");
	}
}

/* Whether nobody would call @name with brackets: code without a name, the code of a file, a block.
 */
static bool is_no_call(const char *name)
{
	static const char *const ends[] = {">", ".php", ".py", ".rb"};
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (n > strlen(ends[i]) && !strcmp(name + n - strlen(ends[i]), ends[i]))
			return true;
	return strpbrk(name, "( ") || strstr(name, "+0x");
}

/* A function in a sentence: "read()", but "prog+0x1200", and of a long name what tells most. */
static void put_function(struct dw_out *out, const char *name, put_text_fn *put_text)
{
	struct dw_out fitted;

	dw_out_init_buffer(&fitted);
	dw_function_name_put_fitted(&fitted, name, FUNCTION_COLUMNS);
	put_text(out, dw_text_columns(name) > FUNCTION_COLUMNS ? dw_buf_str(&fitted.buf) : name);
	dw_out_puts(out, is_no_call(name) ? "" : "()");
	dw_out_close(&fitted);
}

/* Fill the place "INDEX TYPE NOUN" of @len bytes. */
static void put_place(const struct dw_format_job *job, const struct dw_note *note,
		      const char *place, size_t len, put_text_fn *put_text, struct dw_out *out)
{
	unsigned i = (unsigned)(*place - '0');
	const char *name = i < 2 && note->name[i] ? note->name[i] : "";

	switch (place[1]) {
	case 'n':
		return dw_format_grouped(out, note->n[i]);
	case 'd':
		return dw_out_printf(out, "%" PRId64, (int64_t)note->n[i]);
	case 'c':
		return put_count(out, note->n[i], place + 3, len - 3, job->short_counts);
	case 't':
		return dw_format_time(out, (int64_t)note->n[i]);
	case 'b':
		return put_bytes(out, note->n[i]);
	case '%':
		return dw_out_printf(out, "%.*f %%", (int)i, note->share[0]);
	case 's':
		return put_text(out, name);
	case 'f':
		return put_function(out, name, put_text);
	case 'l':
		return put_list(out, name, false, put_text);
	case 'o':
		return put_list(out, name, true, put_text);
	case 'q':
		return dw_format_shell_word(out, name, put_text);
	default:
		return dw_format_shell_word(out, job->path ? job->path : "", put_text);
	}
}

void dw_format_note(const struct dw_format_job *job, const struct dw_note *note,
		    put_text_fn *put_text, struct dw_out *out)
{
	const char *s = dw_sentence_text(note->says), *place;

	while ((place = strchr(s, '{'))) {
		size_t len = strcspn(++place, "}");

		dw_out_write(out, s, (size_t)(place - 1 - s));
		put_place(job, note, place, len, put_text, out);
		s = place + len + 1;
	}
	dw_out_puts(out, s);
}
