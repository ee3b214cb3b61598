/* Sentences in lines; see wrap.h. */
#include "format/wrap.h"

#include "base/cleanup.h"
#include "format/text.h"

#include <stdbool.h>
#include <string.h>

/* The columns of the first @n bytes of @text. */
static size_t columns_of(const char *text, size_t n)
{
	dw_auto(dw_buf) part = DW_BUF_INIT;

	dw_buf_put(&part, text, n);
	return dw_text_columns(dw_buf_str(&part));
}

/* How many of the @n bytes at @text have room in @columns: up to a blank, one word at least. */
static size_t fitting_bytes(const char *text, size_t n, size_t columns)
{
	size_t fits = strcspn(text, " "), at = fits;

	if (columns_of(text, n) <= columns)
		return n;
	for (; at < n && columns_of(text, at) <= columns; at += 1 + strcspn(text + at + 1, " "))
		fits = at;
	return fits < n ? fits : n;
}

/* The line of @n bytes at @text. */
static void put_line(struct dw_out *out, const char *text, size_t n, size_t used, size_t indent,
		     size_t width)
{
	const char *end = text + n, *next;

	while (true) {
		n = (size_t)(end - text);
		if (width)
			n = fitting_bytes(text, n, width > used ? width - used : 0);
		next = text + n + strspn(text + n, " ");
		while (next < end && n && text[n - 1] == ' ')
			n--;
		dw_out_write(out, text, n);
		dw_out_puts(out, "\n");
		text = next;
		if (text >= end)
			return;
		dw_out_fill(out, ' ', indent);
		used = indent;
	}
}

void dw_text_put_wrapped(struct dw_out *out, const char *text, size_t used, size_t indent,
			 size_t width)
{
	while (true) {
		size_t n = strcspn(text, "\n");

		put_line(out, text, n, used, indent, width);
		text += n;
		text += *text == '\n';
		if (!*text)
			return;
		used = strspn(text, " ");
		dw_out_fill(out, ' ', used);
		text += used;
	}
}
