/*
 * Comparisons for machines: CSV with the medians of both sides, JSON also with what each run has;
 * see docs/report-json.md.
 */
#include "format/diff.h"
#include "format/format.h"

#include <inttypes.h>
#include <math.h>

static void put_double(struct dw_out *out, double n, const char *otherwise)
{
	char digits[DWELL_DOUBLE_MAX_BYTES];

	if (!isfinite(n))
		return dw_out_puts(out, otherwise);
	dw_format_double(n, digits);
	dw_out_puts(out, digits);
}

static const char *main_unit(const struct dw_comparison *c)
{
	enum dw_cell_kind kind = dw_column_info(c->columns[DWELL_MAIN].column)->kind;

	return kind == DWELL_CELL_DURATION_NS || kind == DWELL_CELL_CALL_NS ? "ns" : "count";
}

static const char *const happened_words[] = {
	"new",	  "gone",   "more_calls", "fewer_calls", "slower",
	"faster", "varies", "as_callers", "inlined",	 "no_longer_inlined"};

/* The words of @happened, each behind @before and ahead of @after. */
static void put_happened(struct dw_out *out, unsigned happened, const char *quote,
			 const char *between)
{
	bool any = false;

	for (size_t i = 0; i < sizeof happened_words / sizeof *happened_words; i++)
		if (happened >> i & 1) {
			dw_out_printf(out, "%s%s%s%s", any ? between : "", quote, happened_words[i],
				      quote);
			any = true;
		}
}

static const char *trust_word(const struct dw_verdict *verdict)
{
	return verdict->trust == DWELL_COUNTED	? "counted"
	       : verdict->trust == DWELL_TESTED ? "tested"
						: "not tested";
}

static void put_p(struct dw_out *out, const struct dw_verdict *verdict, const char *otherwise)
{
	put_double(out, verdict->trust == DWELL_TESTED ? verdict->p : INFINITY, otherwise);
}

static const char *text(const struct dw_comparison *c, uint32_t id)
{
	return dw_strings_get(&c->names.strings, id);
}

static const char *matched(const struct dw_comparison *c, uint32_t at)
{
	const struct dw_compared_name *name = &c->names.v.v[c->rows.v[at].name];

	return dw_diff_likeness(name->other ? name->likeness : DWELL_LIKE_EXACT);
}

void dw_diff_write_csv(const struct dw_diff_job *job, struct dw_out *out)
{
	const struct dw_comparison *c = job->comparison;

	dw_out_puts(out, "Name,Module Name,Level,Line,What,Trust,p,Matched,Base Name");
	for (size_t k = 0; k < c->columns_n; k++) {
		const char *title = dw_column_info(c->columns[k].column)->title;

		dw_out_printf(out, ",%s Base,%s New,%s Change", title, title, title);
	}
	dw_out_puts(out, "\r\n");
	for (size_t i = 0; i < dw_diff_rows(job); i++) {
		uint32_t at = c->order.v[i];
		const struct dw_compared_row *row = &c->rows.v[at];
		const struct dw_compared_name *other = dw_comparison_other(c, at);

		dw_format_csv_field(out, dw_comparison_text(c, at));
		dw_out_puts(out, ",");
		dw_format_csv_field(out, dw_comparison_module(c, at));
		dw_out_printf(out, ",%" PRIu32 ",%" PRIu32 ",", row->level, row->line);
		put_happened(out, row->happened, "", " ");
		dw_out_printf(out, ",%s,", trust_word(&row->cost));
		put_p(out, &row->cost, "");
		dw_out_printf(out, ",%s,", matched(c, at));
		dw_format_csv_field(out, other ? text(c, other->text) : "");
		for (size_t k = 0; k < c->columns_n; k++) {
			struct dw_change change = dw_change_get(c, at, k);

			dw_out_puts(out, ",");
			put_double(out, change.base, "");
			dw_out_puts(out, ",");
			put_double(out, change.now, "");
			dw_out_puts(out, ",");
			put_double(out, change.now - change.base, "");
		}
		dw_out_puts(out, "\r\n");
	}
}

static void put_member(struct dw_out *out, const char *key, const char *value)
{
	dw_out_printf(out, "\"%s\": ", key);
	dw_format_json_string(out, value);
}

static void put_runs(struct dw_out *out, const struct dw_comparison *c, uint32_t at, size_t column,
		     enum dw_side side)
{
	const char *before = "[";

	dw_vec_each(run, &c->runs) {
		if (run->side != side)
			continue;
		dw_out_printf(out, "%s%" PRIu64, before, dw_comparison_value(c, run, at, column));
		before = ", ";
	}
	dw_out_puts(out, "]");
}

static void put_column(struct dw_out *out, const struct dw_comparison *c, uint32_t at,
		       size_t column)
{
	struct dw_change change = dw_change_get(c, at, column);
	struct dw_shift shift = {NAN, NAN, NAN};
	char key[DWELL_KEY_MAX_BYTES];

	dw_change_shift(c, at, column, &shift);
	dw_column_key(c->columns[column].column, key);
	dw_out_printf(out, ", \"%s\": {\"base\": ", key);
	put_runs(out, c, at, column, DWELL_SIDE_BASE);
	dw_out_puts(out, ", \"new\": ");
	put_runs(out, c, at, column, DWELL_SIDE_NEW);
	dw_out_puts(out, ", \"shift\": ");
	put_double(out, shift.median, "null");
	dw_out_puts(out, ", \"low\": ");
	put_double(out, shift.low, "null");
	dw_out_puts(out, ", \"high\": ");
	put_double(out, shift.high, "null");
	dw_out_printf(out, ", \"exact\": %s}", change.is_exact ? "true" : "false");
}

static void put_row(struct dw_out *out, const struct dw_comparison *c, uint32_t at)
{
	const struct dw_compared_row *row = &c->rows.v[at];
	const struct dw_compared_name *other = dw_comparison_other(c, at);
	struct dw_change time = dw_change_get(c, at, DWELL_MAIN), calls;
	struct dw_buf path = DW_BUF_INIT;
	struct dw_story story;

	if (dw_comparison_has_calls(c))
		calls = dw_change_get(c, at, DWELL_CALLS);
	story = dw_story_of(&time, dw_comparison_has_calls(c) ? &calls : NULL);
	dw_comparison_path(c, at, &path);
	dw_out_puts(out, "{");
	put_member(out, "name", dw_comparison_text(c, at));
	dw_out_puts(out, ", ");
	put_member(out, "module_name", dw_comparison_module(c, at));
	dw_out_printf(out, ", \"level\": %" PRIu32 ", \"line\": %" PRIu32 ", ", row->level,
		      row->line);
	put_member(out, "part", text(c, row->what));
	dw_out_puts(out, ", \"what\": [");
	put_happened(out, row->happened, "\"", ", ");
	dw_out_puts(out, "], ");
	put_member(out, "trust", trust_word(&row->cost));
	dw_out_puts(out, ", \"p\": ");
	put_p(out, &row->cost, "null");
	if (row->count) {
		dw_out_puts(out, ", ");
		put_member(out, "calls_trust", trust_word(&row->calls));
		dw_out_puts(out, ", \"calls_p\": ");
		put_p(out, &row->calls, "null");
	}
	dw_out_puts(out, ", ");
	put_member(out, "matched", matched(c, at));
	dw_out_puts(out, ", ");
	put_member(out, "base_name", other ? text(c, other->text) : dw_comparison_text(c, at));
	dw_out_puts(out, ", ");
	put_member(out, "base_module_name",
		   other ? text(c, other->module_shown) : dw_comparison_module(c, at));
	dw_out_puts(out, ", ");
	put_member(out, "callers", dw_buf_str(&path));
	dw_out_puts(out, ", \"by_calls\": ");
	put_double(out, story.by_calls, "null");
	dw_out_puts(out, ", \"by_cost\": ");
	put_double(out, story.by_cost, "null");
	for (size_t k = 0; k < c->columns_n; k++)
		put_column(out, c, at, k);
	dw_out_puts(out, "}");
	dw_buf_release(&path);
}

static void put_sessions(struct dw_out *out, const struct dw_comparison *c)
{
	const char *before = "";

	dw_out_puts(out, "\n  \"sessions\": [");
	dw_vec_each(run, &c->runs) {
		dw_out_printf(out, "%s\n    {\"side\": \"%s\", ", before,
			      run->side ? "new" : "base");
		put_member(out, "path", run->path);
		dw_out_printf(out,
			      ", \"all\": %" PRIu64 ", \"duration_ns\": %" PRIu64
			      ", \"processes\": %" PRIu32 ", \"threads\": %" PRIu32 "}",
			      run->all[DWELL_MAIN], run->duration_ns, run->processes, run->threads);
		before = ",";
	}
	dw_out_puts(out, "\n  ],");
}

void dw_diff_write_json(const struct dw_diff_job *job, struct dw_out *out)
{
	const struct dw_comparison *c = job->comparison;
	char key[DWELL_KEY_MAX_BYTES];

	dw_column_key(c->columns[DWELL_MAIN].column, key);
	dw_out_puts(out, "{\n  \"comparison\": {");
	put_member(out, "view", c->view->name);
	dw_out_puts(out, ", ");
	put_member(out, "by", key);
	dw_out_puts(out, ", ");
	put_member(out, "unit", main_unit(c));
	dw_out_printf(out,
		      ", \"tests\": %zu, \"runs_wanted\": %zu, \"relevant_percent\": ", c->tests,
		      c->runs_wanted);
	put_double(out, c->relevant_pct, "0");
	dw_out_puts(out, "},");
	put_sessions(out, c);
	dw_out_puts(out, "\n  \"rows\": [");
	for (size_t i = 0; i < dw_diff_rows(job); i++) {
		dw_out_puts(out, i ? ",\n    " : "\n    ");
		put_row(out, c, c->order.v[i]);
	}
	dw_out_puts(out, "\n  ]\n}\n");
}
