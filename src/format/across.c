/*
 * What probes changed, as text; see across.h.
 *
 * Rows are listed that differ by more than sampling allows, and those with at least 1 % of either
 * side: there it is worth knowing that they agree.
 */
#include "format/across.h"

#include "base/cleanup.h"
#include "format/format.h"
#include "format/shorten.h"
#include "format/text.h"
#include "format/wrap.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TOLD = 4, INDENT = 2, NAME_COLUMNS = 60, NAME_LEAST = 20, FIXED_COLUMNS = 64 };

#define LISTED_PCT 1.

static const char outside[] = "[outside of functions]";

static const char *name_of(const struct dw_across *a, const struct dw_across_row *row)
{
	uint32_t id = a->by_module ? row->module : row->text;

	return id ? dw_strings_get(&a->strings, id) : outside;
}

static const char *module_of(const struct dw_across *a, const struct dw_across_row *row)
{
	return dw_strings_get(&a->strings, row->module);
}

static bool is_listed(const struct dw_across_job *job, const struct dw_across_row *row)
{
	return job->all || dw_across_is_beyond(row) ||
	       fmax(row->share_pct[0], row->share_pct[1]) >= LISTED_PCT;
}

/* The next row to list from @i on, NULL = there is none. *@listed counts them. */
static const struct dw_across_row *next(const struct dw_across_job *job, size_t *i, size_t *listed)
{
	while (*i < job->across->rows.n) {
		const struct dw_across_row *row = &job->across->rows.v[(*i)++];

		if (is_listed(job, row))
			return job->rows && *listed == job->rows ? NULL : (++*listed, row);
	}
	return NULL;
}

static void put_line(struct dw_out *out, const struct dw_out *line, const char *before,
		     size_t width)
{
	dw_out_puts(out, before);
	dw_text_put_wrapped(out, dw_buf_str(&line->buf), 0, INDENT, width);
}

static void tell_sides(const struct dw_across_job *job, const char *before, struct dw_out *out)
{
	const struct dw_across *a = job->across;
	struct dw_out line;

	dw_out_init_buffer(&line);
	dw_out_puts(&line, "Plain, ");
	dw_text_put(&line, job->paths[DWELL_PLAIN]);
	dw_out_puts(&line, ": ");
	dw_format_time(&line, (int64_t)a->all_ns[DWELL_PLAIN]);
	dw_out_puts(&line, " of processor time, ");
	dw_format_grouped(&line, a->samples);
	dw_out_puts(&line, " samples. Measured, ");
	dw_text_put(&line, job->paths[DWELL_MEASURED]);
	dw_out_puts(&line, ": ");
	dw_format_time(&line, (int64_t)a->all_ns[DWELL_MEASURED]);
	dw_out_printf(
		&line, " of application time%s, probes not counted (%+.1f %%).\n",
		a->with_kernel ? " and system calls" : "",
		100 * ((double)a->all_ns[DWELL_MEASURED] / (double)a->all_ns[DWELL_PLAIN] - 1));
	put_line(out, &line, before, job->width);
	dw_out_close(&line);
}

/* "f +8.1 points (12.0 % -> 20.1 %)" */
static void put_row(const struct dw_across *a, const struct dw_across_row *row, struct dw_out *line)
{
	dw_auto(dw_buf) text = DW_BUF_INIT;

	dw_buf_puts(&text, name_of(a, row));
	if (dw_text_columns(dw_buf_str(&text)) > NAME_COLUMNS)
		dw_function_name_put_fitted(line, dw_buf_str(&text), NAME_COLUMNS);
	else
		dw_text_put(line, dw_buf_str(&text));
	dw_out_printf(line, " %+.1f points (%.1f %% -> %.1f %%)", row->points, row->share_pct[0],
		      row->share_pct[1]);
}

static void tell_most(const struct dw_across_job *job, const char *before, struct dw_out *out)
{
	const struct dw_across *a = job->across;
	size_t beyond = 0;
	struct dw_out line;

	dw_out_init_buffer(&line);
	dw_vec_each(row, &a->rows) {
		if (!dw_across_is_beyond(row) || ++beyond > TOLD)
			continue;
		dw_out_puts(&line, beyond == 1 ? "The probes changed most: " : ", ");
		put_row(a, row, &line);
	}
	if (beyond)
		dw_out_puts(&line, ".");
	else
		dw_out_puts(&line, "No share differs by more than sampling alone makes.");
	if (beyond > TOLD)
		dw_out_printf(&line, " %zu more differ by more than sampling alone makes.",
			      beyond - TOLD);
	if (a->switched_off)
		dw_out_printf(&line,
			      " %" PRId64 " function%s switched off (--overhead): their time "
			      "from then on is their callers'.",
			      a->switched_off, a->switched_off == 1 ? " was" : "s were");
	dw_out_puts(&line, "\n");
	put_line(out, &line, before, job->width);
	dw_out_close(&line);
}

static void put_time(struct dw_out *out, uint64_t ns, int columns)
{
	struct dw_out text;
	size_t n;

	dw_out_init_buffer(&text);
	dw_format_time(&text, (int64_t)ns);
	n = dw_text_columns(dw_buf_str(&text.buf));
	dw_out_fill(out, ' ', (size_t)columns > n ? (size_t)columns - n : 0);
	dw_out_puts(out, dw_buf_str(&text.buf));
	dw_out_close(&text);
}

static void write_table(const struct dw_across_job *job, struct dw_out *out)
{
	const struct dw_across *a = job->across;
	size_t i = 0, listed = 0, width = job->width;
	const struct dw_across_row *row;

	tell_sides(job, "", out);
	tell_most(job, "", out);
	dw_out_printf(out, "\n%8s  %10s  %7s  %7s  %9s  %9s  %s\n", "Plain %", "Measured %",
		      "Points", "Allowed", "Plain", "Measured", a->by_module ? "Module" : "Name");
	width = width > FIXED_COLUMNS + NAME_LEAST ? width - FIXED_COLUMNS : NAME_LEAST;
	while ((row = next(job, &i, &listed))) {
		dw_out_printf(out, "%8.2f  %10.2f  %+7.2f  %7.2f  ", row->share_pct[0],
			      row->share_pct[1], row->points, row->allowed);
		put_time(out, row->ns[DWELL_PLAIN], 9);
		dw_out_puts(out, "  ");
		put_time(out, row->ns[DWELL_MEASURED], 9);
		dw_out_puts(out, "  ");
		dw_function_name_put_fitted(out, name_of(a, row), job->width ? width : SIZE_MAX);
		dw_out_puts(out, "\n");
	}
}

/* Names have no meaning in Markdown. */
static void put_markdown(struct dw_out *out, const char *text)
{
	struct dw_out plain;

	dw_out_init_buffer(&plain);
	dw_text_put(&plain, text);
	for (const char *s = dw_buf_str(&plain.buf); *s; s++)
		dw_out_printf(out, strchr("\\`*_{}[]<>|#~", *s) ? "\\%c" : "%c", *s);
	dw_out_close(&plain);
}

static void write_markdown(const struct dw_across_job *job, struct dw_out *out)
{
	struct dw_across_job words = *job;
	const struct dw_across_row *row;
	size_t i = 0, listed = 0;
	struct dw_out text;

	words.width = 0;
	dw_out_init_buffer(&text);
	tell_sides(&words, "", &text);
	tell_most(&words, "", &text);
	for (const char *line = dw_buf_str(&text.buf), *end; *line; line = end + 1) {
		dw_auto_free char *one = NULL;

		end = strchr(line, '\n');
		one = strndup(line, (size_t)(end - line));
		dw_out_puts(out, "- ");
		put_markdown(out, one ? one : "");
		dw_out_puts(out, "\n");
	}
	dw_out_close(&text);
	dw_out_printf(out,
		      "\n| Plain %% | Measured %% | Points | Allowed | Plain | Measured | %s |\n"
		      "|--:|--:|--:|--:|--:|--:|---|\n",
		      job->across->by_module ? "Module" : "Name");
	while ((row = next(job, &i, &listed))) {
		dw_out_printf(out, "| %.2f | %.2f | %+.2f | %.2f | ", row->share_pct[0],
			      row->share_pct[1], row->points, row->allowed);
		put_time(out, row->ns[DWELL_PLAIN], 0);
		dw_out_puts(out, " | ");
		put_time(out, row->ns[DWELL_MEASURED], 0);
		dw_out_puts(out, " | ");
		put_markdown(out, name_of(job->across, row));
		dw_out_puts(out, " |\n");
	}
}

static void put_double(struct dw_out *out, double n)
{
	char digits[DWELL_DOUBLE_MAX_BYTES];

	dw_format_double(n, digits);
	dw_out_puts(out, digits);
}

static void put_numbers(struct dw_out *out, const struct dw_across_row *row,
			const char *const keys[], const char *before)
{
	const double v[] = {row->share_pct[0], row->share_pct[1], row->points, row->allowed};

	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		dw_out_printf(out, "%s%s", before, keys ? keys[i] : "");
		put_double(out, v[i]);
	}
}

static void write_csv(const struct dw_across_job *job, struct dw_out *out)
{
	const struct dw_across *a = job->across;
	const struct dw_across_row *row;
	size_t i = 0, listed = 0;

	dw_out_puts(out, "Name,Module Name,Plain Time,Measured Time,Plain %,Measured %,Points,"
			 "Points Allowed,Beyond\r\n");
	while ((row = next(job, &i, &listed))) {
		dw_format_csv_field(out, a->by_module ? "" : name_of(a, row));
		dw_out_puts(out, ",");
		dw_format_csv_field(out, module_of(a, row));
		dw_out_printf(out, ",%" PRIu64 ",%" PRIu64, row->ns[0], row->ns[1]);
		put_numbers(out, row, NULL, ",");
		dw_out_printf(out, ",%s\r\n", dw_across_is_beyond(row) ? "yes" : "no");
	}
}

static void write_json(const struct dw_across_job *job, struct dw_out *out)
{
	static const char *const keys[] = {
		"\"plain_percent\": ",
		"\"measured_percent\": ",
		"\"points\": ",
		"\"points_allowed\": ",
	};
	const struct dw_across *a = job->across;
	const struct dw_across_row *row;
	size_t i = 0, listed = 0;

	dw_out_printf(out, "{\n  \"across_methods\": {\"view\": \"%s\", \"plain\": ",
		      a->by_module ? "modules" : "functions");
	dw_format_json_string(out, job->paths[DWELL_PLAIN]);
	dw_out_puts(out, ", \"measured\": ");
	dw_format_json_string(out, job->paths[DWELL_MEASURED]);
	dw_out_printf(out,
		      ", \"samples\": %" PRIu64 ", \"plain_ns\": %" PRIu64
		      ", \"measured_ns\": %" PRIu64
		      ", \"with_system_calls\": %s, \"functions_switched_off\": %" PRId64 "},\n"
		      "  \"rows\": [",
		      a->samples, a->all_ns[0], a->all_ns[1], a->with_kernel ? "true" : "false",
		      a->switched_off);
	while ((row = next(job, &i, &listed))) {
		dw_out_puts(out, listed > 1 ? ",\n    {\"name\": " : "\n    {\"name\": ");
		dw_format_json_string(out, a->by_module ? "" : name_of(a, row));
		dw_out_puts(out, ", \"module_name\": ");
		dw_format_json_string(out, module_of(a, row));
		dw_out_printf(out, ", \"plain_ns\": %" PRIu64 ", \"measured_ns\": %" PRIu64,
			      row->ns[0], row->ns[1]);
		put_numbers(out, row, keys, ", ");
		dw_out_printf(out, ", \"beyond\": %s}",
			      dw_across_is_beyond(row) ? "true" : "false");
	}
	dw_out_puts(out, "\n  ]\n}\n");
}

void dw_across_write(const struct dw_across_job *job, const char *format, struct dw_out *out)
{
	if (!strcmp(format, "csv"))
		write_csv(job, out);
	else if (!strcmp(format, "json"))
		write_json(job, out);
	else if (!strcmp(format, "markdown"))
		write_markdown(job, out);
	else
		write_table(job, out);
}
