/* What tables and sentences of comparisons say of a row; see diff.h. */
#include "format/diff.h"
#include "format/format.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const struct dw_diff_format dw_diff_formats[] = {
	{"table", true, dw_diff_write_table},
	{"csv", false, dw_diff_write_csv},
	{"json", false, dw_diff_write_json},
	{"markdown", true, dw_diff_write_markdown},
	{NULL, false, NULL},
};

const struct dw_diff_format *dw_diff_format_find(const char *name)
{
	const struct dw_diff_format *f = dw_diff_formats;

	while (f->name && strcmp(f->name, name))
		f++;
	return f->name ? f : NULL;
}

size_t dw_diff_rows(const struct dw_diff_job *job)
{
	size_t n = job->comparison->order.n;

	return job->rows && job->rows < n ? job->rows : n;
}

bool dw_diff_is_time(const struct dw_comparison *c, size_t column)
{
	enum dw_cell_kind kind = dw_column_info(c->columns[column].column)->kind;

	return kind == DWELL_CELL_DURATION_NS || kind == DWELL_CELL_CALL_NS;
}

void dw_diff_put_amount(struct dw_buf *b, const struct dw_comparison *c, size_t column, double n,
			bool sign)
{
	struct dw_out out;

	dw_out_init_buffer(&out);
	dw_out_puts(&out, n < 0 ? "-" : sign ? "+" : "");
	if (dw_diff_is_time(c, column))
		dw_format_time(&out, llround(fabs(n)));
	else if (fabs(n - nearbyint(n)) > .01)
		dw_out_printf(&out, "%.1f", fabs(n));
	else
		dw_format_grouped(&out, (uint64_t)llround(fabs(n)));
	dw_buf_puts(b, dw_buf_str(&out.buf));
	dw_out_close(&out);
}

const char *dw_diff_noun(const struct dw_comparison *c, size_t column)
{
	const struct dw_column_info *info = dw_column_info(c->columns[column].column);

	switch (c->columns[column].column) {
	case DWELL_COLUMN_READS:
		return "reads";
	case DWELL_COLUMN_WRITES:
		return "writes";
	case DWELL_COLUMN_BYTES_READ:
		return "bytes read";
	case DWELL_COLUMN_BYTES_WRITTEN:
		return "bytes written";
	default:
		break;
	}
	switch (info->measure) {
	case DWELL_MEASURE_CALLS:
		return "calls";
	case DWELL_MEASURE_OBJECTS:
		return "objects";
	case DWELL_MEASURE_BYTES:
		return "bytes";
	case DWELL_MEASURE_SAMPLES:
		return "samples";
	default:
		return info->title;
	}
}

static bool is_maybe(const struct dw_verdict *verdict)
{
	return verdict->trust == DWELL_NOT_TESTED;
}

/* What became of a row that one side alone has. */
static void put_presence(struct dw_buf *b, const struct dw_comparison *c, unsigned happened)
{
	if (happened & DWELL_HAS_APPEARED)
		dw_buf_puts(b, happened & DWELL_NO_LONGER_INLINED ? "no longer inlined"
			       : c->counts_n			  ? "new"
								  : "only in new");
	else if (happened & DWELL_HAS_GONE)
		dw_buf_puts(b, happened & DWELL_IS_INLINED ? "now inlined"
			       : c->counts_n		   ? "gone"
							   : "only in base");
}

static void put_cost(struct dw_buf *b, const struct dw_comparison *c,
		     const struct dw_compared_row *row)
{
	bool more = row->happened & DWELL_SLOWER, each = dw_comparison_has_calls(c);
	bool counts_told = row->happened & (DWELL_MORE_CALLS | DWELL_FEWER_CALLS);
	const char *maybe = is_maybe(&row->cost) ? "maybe " : "";

	if (dw_diff_is_time(c, DWELL_MAIN))
		dw_buf_printf(b, "%s%s%s", each && counts_told ? "each " : "", maybe,
			      more ? "slower" : "faster");
	else if (each)
		dw_buf_printf(b, "%s%s %s", maybe, more ? "larger" : "smaller",
			      counts_told ? "ones" : "objects");
	else
		dw_buf_printf(b, "%s%s %s", maybe, more ? "more" : "fewer",
			      dw_diff_noun(c, DWELL_MAIN));
}

void dw_diff_put_happened(struct dw_buf *b, const struct dw_comparison *c, size_t at)
{
	const struct dw_compared_row *row = &c->rows.v[at];
	size_t begin = b->len;

	put_presence(b, c, row->happened);
	if (row->happened & (DWELL_MORE_CALLS | DWELL_FEWER_CALLS))
		dw_buf_printf(b, "%s%s %s%s", is_maybe(&row->calls) ? "maybe " : "",
			      row->happened & DWELL_MORE_CALLS ? "more" : "fewer",
			      dw_diff_noun(c, row->count),
			      row->happened & DWELL_AS_CALLERS ? ", by its callers" : "");
	if (row->happened & (DWELL_SLOWER | DWELL_FASTER)) {
		dw_buf_puts(b, b->len > begin ? "; " : "");
		put_cost(b, c, row);
	}
	if (row->happened & DWELL_CALLS_VARY)
		dw_buf_printf(b, "%s%s differ by run", b->len > begin ? "; " : "",
			      dw_diff_noun(c, row->varying));
}

static const char *text(const struct dw_comparison *c, uint32_t id)
{
	return dw_strings_get(&c->names.strings, id);
}

void dw_diff_put_name(struct dw_buf *b, const struct dw_comparison *c, size_t at)
{
	const struct dw_compared_row *row = &c->rows.v[at];
	const struct dw_compared_name *other = dw_comparison_other(c, at), *own;
	const char *name = dw_comparison_text(c, at);

	own = &c->names.v.v[row->name];
	if (*name)
		dw_buf_puts(b, name);
	else
		dw_buf_puts(b, dw_comparison_module(c, at));
	if (row->line)
		dw_buf_printf(b, ":%" PRIu32, row->line);
	else if (row->what)
		dw_buf_printf(b, " (%s)", text(c, row->what));
	if (!other)
		return;
	if (own->likeness == DWELL_LIKE_MOVED)
		dw_buf_printf(b, " (was in %s)", text(c, other->module_shown));
	else
		dw_buf_printf(b, " (was %s)", text(c, other->text));
}

const char *dw_diff_likeness(enum dw_likeness likeness)
{
	static const char *const words[] = {
		[DWELL_LIKE_EXACT] = "exact",	 [DWELL_LIKE_LOOSE] = "loose",
		[DWELL_LIKE_MOVED] = "moved",	 [DWELL_LIKE_RENAMED] = "renamed",
		[DWELL_LIKE_CODE] = "same code",
	};

	return words[likeness];
}
