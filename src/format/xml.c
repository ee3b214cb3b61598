/*
 * XML: <report view="..."><session>facts</session><row>columns</row>...</report>, an element per
 * column named by its key. Characters that XML 1.0 has no way to write become U+FFFD.
 */
#include "format/formats.h"
#include "format/text.h"

#include <inttypes.h>

static bool is_xml(uint32_t c)
{
	return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c != 0xfffe && c != 0xffff);
}

static void put_text(struct dw_out *out, const char *s)
{
	for (;;) {
		size_t plain = dw_text_plain_run(s, "&<>\"");
		char bytes[5];
		uint32_t c;

		dw_out_write(out, s, plain);
		s += plain;
		if (!*s)
			return;
		c = dw_text_next(&s);

		if (!is_xml(c))
			c = DWELL_REPLACEMENT;
		if (c == '&')
			dw_out_puts(out, "&amp;");
		else if (c == '<')
			dw_out_puts(out, "&lt;");
		else if (c == '>')
			dw_out_puts(out, "&gt;");
		else if (c == '"')
			dw_out_puts(out, "&quot;");
		else if (dw_text_is_control(c))
			dw_out_printf(out, "&#%" PRIu32 ";", c);
		else
			dw_out_write(out, bytes, dw_text_encode(c, bytes));
	}
}

/* A fact's key comes from a file: it goes into an attribute, where any text is well-formed. */
static void put_fact(const struct dw_format_fact *fact, struct dw_out *out)
{
	dw_out_puts(out, "    <fact name=\"");
	put_text(out, fact->key);
	dw_out_puts(out, "\">");
	if (fact->text)
		put_text(out, fact->text);
	else
		dw_out_printf(out, "%" PRId64, fact->integer);
	dw_out_puts(out, "</fact>\n");
}

static void put_tag(struct dw_out *out, const char *open, const char *key)
{
	dw_out_puts(out, open);
	dw_out_puts(out, key);
	dw_out_puts(out, ">");
}

/* What all rows share. */
struct state {
	struct dw_format_keys keys;
	struct dw_buf scratch[2];
};

static void put_row(struct dw_out *out, const struct dw_format_job *job, size_t i,
		    struct state *state)
{
	struct dw_row row;

	dw_view_row(job->view, i, &state->scratch[0], &row);
	dw_out_puts(out, "  <row>");
	for (const enum dw_column *c = job->columns; *c; c++) {
		const char *key = state->keys.key[*c];
		struct dw_cell cell;

		dw_view_cell(job->view, &row, *c, &state->scratch[1], &cell);
		put_tag(out, "<", key);
		dw_format_cell(out, &cell, put_text);
		put_tag(out, "</", key);
	}
	dw_out_puts(out, "</row>\n");
}

static void write_xml(const struct dw_format_job *job, struct dw_out *out)
{
	struct state state = {0};

	dw_format_keys_init(&state.keys, job->columns);
	dw_out_printf(out,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<report view=\"%s\">\n"
		      "  <session>\n",
		      job->view->ops->name);
	dw_format_facts(job, put_fact, out);
	dw_out_puts(out, "  </session>\n");
	for (size_t i = 0; i < dw_format_rows(job) && !out->failed; i++)
		put_row(out, job, i, &state);
	dw_out_puts(out, "</report>\n");
	dw_buf_release(&state.scratch[0]);
	dw_buf_release(&state.scratch[1]);
}

const struct dw_format_ops dw_format_xml = {.name = "xml", .write = write_xml};
