/*
 * CSV as in RFC 4180: CRLF, quotes doubled, a line of titles first. Numbers are whole: doubles in
 * full, times in nanoseconds. An empty cell is an empty field.
 */
#include "format/records.h"
#include "format/text.h"

#include <string.h>

void dw_format_csv_field(struct dw_out *out, const char *s)
{
	size_t simple = dw_text_plain_run(s, "\",");
	bool quote;
	char bytes[5];

	if (!s[simple])
		return dw_out_write(out, s, simple);
	quote = s[strcspn(s, "\",\r\n")] != 0;
	if (quote)
		dw_out_puts(out, "\"");
	for (;;) {
		size_t plain = dw_text_plain_run(s, "\"");
		uint32_t c;

		dw_out_write(out, s, plain);
		s += plain;
		if (!*s)
			break;
		c = dw_text_next(&s);
		if (c == '"')
			dw_out_puts(out, "\"");
		dw_out_write(out, bytes, dw_text_encode(c, bytes));
	}
	if (quote)
		dw_out_puts(out, "\"");
}

static void put_field(struct dw_format_records *r, struct dw_out *out, size_t at,
		      const struct dw_cell *cell)
{
	if (at)
		dw_out_puts(out, ",");
	dw_format_cell(r, out, cell, dw_format_csv_field);
}

static void write_csv(const struct dw_format_job *job, struct dw_out *out)
{
	struct dw_format_records r;

	out->failed = dw_format_records_init(&r, job, put_field, "", "");
	for (const enum dw_column *c = job->columns; *c; c++)
		dw_out_printf(out, "%s%s", c > job->columns ? "," : "", dw_column_info(*c)->title);
	dw_out_puts(out, "\r\n");
	for (size_t i = 0; i < dw_format_rows(job) && !out->failed; i++) {
		dw_format_record(&r, out, i);
		dw_out_puts(out, "\r\n");
	}
	dw_format_records_release(&r);
}

const struct dw_format_ops dw_format_csv = {.name = "csv", .write = write_csv};
