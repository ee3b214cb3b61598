/* What tables and sentences of comparisons say of a row; see diff.h. */
#include "format/diff.h"

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

static void put_grouped(struct dw_buf *b, uint64_t n)
{
	if (n >= 1000) {
		put_grouped(b, n / 1000);
		dw_buf_printf(b, ",%03" PRIu64, n % 1000);
	} else {
		dw_buf_printf(b, "%" PRIu64, n);
	}
}

/* Three digits in the unit that suits them. */
static void put_time(struct dw_buf *b, double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	size_t unit = 0;

	for (; ns >= 999.5 && unit < 3; unit++)
		ns /= 1000;
	dw_buf_printf(b, "%.*f %s",
		      ns >= 99.95 || !unit ? 0
		      : ns >= 9.995	   ? 1
					   : 2,
		      ns, units[unit]);
}

void dw_diff_put_amount(struct dw_buf *b, const struct dw_comparison *c, size_t column, double n,
			bool sign)
{
	enum dw_cell_kind kind = dw_column_info(c->columns[column].column)->kind;
	uint64_t amount = (uint64_t)(fabs(n) + .5);

	if (n < 0)
		dw_buf_puts(b, "-");
	else if (sign)
		dw_buf_puts(b, "+");
	if (kind == DWELL_CELL_DURATION_NS || kind == DWELL_CELL_CALL_NS)
		put_time(b, fabs(n));
	else if (fabs(n - nearbyint(n)) > .01)
		dw_buf_printf(b, "%.1f", fabs(n));
	else
		put_grouped(b, amount);
}

static void put_word(struct dw_buf *b, size_t begin, const char *word)
{
	if (b->len > begin)
		dw_buf_puts(b, ", ");
	dw_buf_puts(b, word);
}

/* What calls of a row are called. */
static const char *calls_word(const struct dw_comparison *c)
{
	if (c->view == &dw_view_file_io)
		return "I/O";
	return c->method == DWELL_METHOD_MEMORY ? "objects" : "calls";
}

static void put_cost(struct dw_buf *b, const struct dw_comparison *c, size_t begin,
		     const struct dw_compared_row *row)
{
	bool more = row->happened & DWELL_SLOWER;
	bool is_called = dw_comparison_has_calls(c);

	if (c->columns[DWELL_MAIN].is_count || c->is_estimated)
		put_word(b, begin, more ? "more bytes" : "fewer bytes");
	else if (is_called && row->happened & (DWELL_MORE_CALLS | DWELL_FEWER_CALLS))
		put_word(b, begin, more ? "slower each" : "faster each");
	else
		put_word(b, begin, more ? "slower" : "faster");
	if (row->trust == DWELL_NOT_TESTED)
		dw_buf_puts(b, "?");
}

void dw_diff_put_happened(struct dw_buf *b, const struct dw_comparison *c, size_t at)
{
	const struct dw_compared_row *row = &c->rows.v[at];
	size_t begin = b->len;

	if (row->happened & DWELL_HAS_APPEARED)
		put_word(b, begin,
			 row->happened & DWELL_NO_LONGER_INLINED ? "no longer inlined" : "new");
	if (row->happened & DWELL_HAS_GONE)
		put_word(b, begin, row->happened & DWELL_IS_INLINED ? "inlined" : "gone");
	if (row->happened & (DWELL_MORE_CALLS | DWELL_FEWER_CALLS)) {
		put_word(b, begin, row->happened & DWELL_MORE_CALLS ? "more" : "fewer");
		if (row->happened & DWELL_AS_CALLERS)
			dw_buf_puts(b, ", as callers");
		else if (!(row->happened & (DWELL_SLOWER | DWELL_FASTER)))
			dw_buf_printf(b, " %s", calls_word(c));
	}
	if (row->happened & (DWELL_SLOWER | DWELL_FASTER))
		put_cost(b, c, begin, row);
	if (row->happened & DWELL_CALLS_VARY) {
		put_word(b, begin, calls_word(c));
		dw_buf_puts(b, " vary");
	}
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
		[DWELL_LIKE_EXACT] = "exact",
		[DWELL_LIKE_LOOSE] = "loose",
		[DWELL_LIKE_MOVED] = "moved",
		[DWELL_LIKE_RENAMED] = "renamed",
	};

	return words[likeness];
}
