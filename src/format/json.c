/*
 * JSON as docs/report-json.md has it: {"session": {facts}, "rows": [...]}. All text
 * is valid UTF-8 with controls escaped, so that the document is safe to print as well.
 */
#include "format/records.h"
#include "format/text.h"

#include <inttypes.h>
#include <string.h>

static void put_code_point(struct dw_out *out, uint32_t c)
{
	static const char special[] = "\"\\\n\r\t", letters[] = "\"\\nrt";
	const char *at = c && c < 0x80 ? strchr(special, (int)c) : NULL;
	char bytes[5];

	if (at)
		dw_out_printf(out, "\\%c", letters[at - special]);
	else if (!dw_text_is_control(c) && c != '<')
		dw_out_write(out, bytes, dw_text_encode(c, bytes));
	else if (c > 0xffff)
		dw_out_printf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
			      0xdc00 + ((c - 0x10000) & 0x3ff));
	else
		dw_out_printf(out, "\\u%04x", c);
}

void dw_format_json_string(struct dw_out *out, const char *s)
{
	dw_out_puts(out, "\"");
	while (*s) {
		size_t plain = dw_text_plain_run(s, "\"\\<");

		dw_out_write(out, s, plain);
		s += plain;
		if (*s)
			put_code_point(out, dw_text_next(&s));
	}
	dw_out_puts(out, "\"");
}

void dw_format_json_cell(struct dw_format_records *r, struct dw_out *out,
			 const struct dw_cell *cell)
{
	if (cell->kind == DWELL_CELL_EMPTY)
		return dw_out_puts(out, "null");
	if (cell->kind != DWELL_CELL_ADDRESS)
		return dw_format_cell(r, out, cell, dw_format_json_string);
	dw_out_puts(out, "\"");
	dw_format_address(out, cell->number);
	dw_out_puts(out, "\"");
}

void dw_format_json_member(struct dw_format_records *r, struct dw_out *out, size_t at,
			   const struct dw_cell *cell)
{
	size_t comma = at ? 0 : strlen(", ");

	dw_out_write(out, r->head[at].text + comma, r->head[at].bytes - comma);
	dw_format_json_cell(r, out, cell);
}

static void put_fact(const struct dw_format_fact *fact, struct dw_out *out)
{
	dw_out_puts(out, "\n    ");
	dw_format_json_string(out, fact->key);
	dw_out_puts(out, ": ");
	if (fact->text)
		dw_format_json_string(out, fact->text);
	else
		dw_out_printf(out, "%" PRId64, fact->integer);
	dw_out_puts(out, ",");
}

static void write_json(const struct dw_format_job *job, struct dw_out *out)
{
	struct dw_format_records r;
	size_t n = dw_format_rows(job);

	out->failed = dw_format_records_init(&r, job, dw_format_json_member, ", \"", "\": ");
	dw_out_puts(out, "{\n  \"session\": {");
	dw_format_facts(job, put_fact, out);
	dw_out_printf(out, "\n    \"view\": \"%s\"\n  },\n  \"rows\": [", job->view->ops->name);
	for (size_t i = 0; i < n && !out->failed; i++) {
		dw_out_puts(out, i ? ",\n    {" : "\n    {");
		dw_format_record(&r, out, i);
		dw_out_puts(out, "}");
	}
	dw_out_puts(out, n ? "\n  ]\n}\n" : "]\n}\n");
	dw_format_records_release(&r);
}

const struct dw_format_ops dw_format_json = {.name = "json", .write = write_json};
