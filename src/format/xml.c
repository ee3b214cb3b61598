/*
 * XML: <report view="..."><session>facts</session><row>columns</row>...</report>, an element per
 * column named by its key. Characters that XML 1.0 has no way to write become U+FFFD.
 */
#include "format/records.h"
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

static void put_cell(struct dw_format_records *r, struct dw_out *out, size_t at,
		     const struct dw_cell *cell)
{
	const struct dw_format_head *tag = &r->head[at];

	dw_out_write(out, tag->text, tag->bytes);
	dw_format_cell(r, out, cell, put_text);
	dw_out_puts(out, "</");
	dw_out_write(out, tag->text + 1, tag->bytes - 1);
}

static void write_xml(const struct dw_format_job *job, struct dw_out *out)
{
	struct dw_format_records r;

	out->failed = dw_format_records_init(&r, job, put_cell, "<", ">");
	dw_out_printf(out,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<report view=\"%s\">\n"
		      "  <session>\n",
		      job->view->ops->name);
	dw_format_facts(job, put_fact, out);
	dw_out_puts(out, "  </session>\n");
	for (size_t i = 0; i < dw_format_rows(job) && !out->failed; i++) {
		dw_out_puts(out, "  <row>");
		dw_format_record(&r, out, i);
		dw_out_puts(out, "</row>\n");
	}
	dw_out_puts(out, "</report>\n");
	dw_format_records_release(&r);
}

const struct dw_format_ops dw_format_xml = {.name = "xml", .write = write_xml};
