/*
 * Tables for people: numbers on the left, right-aligned and whole; names behind them, shortened in
 * the middle when the terminal is too narrow. Percentages have two decimals, times are
 * milliseconds; digits are not grouped, so that awk and eyes agree.
 *
 * Two passes over the rows: the first finds the widths.
 */
#include "base/out.h"
#include "format/format.h"
#include "format/text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define UPPER_BOUND  "<=" /* before a number */
#define ONLY_COUNTED "*"  /* behind one */

enum {
	GAP = 2,	  /* columns between two cells */
	NAME_PADDED = 60, /* columns that a name is padded to at most when nothing is cut */
	NAME_MIN = 10,	  /* a name is not made narrower than this */
	NAME_WANTED = 24, /* columns of numbers give way to names that get less */
	INDENT_MAX = 40,  /* columns; deeper rows say their level instead */
	HOT_PCT = 10,	  /* from here on a percentage is coloured */
};

struct layout {
	size_t width[DWELL_COLUMNS_N];
	bool cut;	  /* names are made to fit */
	bool has_bounds;  /* a row is too short to be told */
	bool has_counted; /* a row has calls that were not measured */
	size_t blanks;	  /* between what stands in the row so far and what comes next, if anything
			     does */
	struct dw_buf scratch[2];
	struct dw_buf text; /* the cell at hand, as shown */
};

/* Whether nobody knows when threads of any process were switched: then application times have
 * blocked time. */
static bool is_upper_bound(const struct dw_format_job *job)
{
	return dw_call_is_upper_bound(job->view->request.profile, 0);
}

/* Likewise for the process of @row alone. */
static bool is_marked(const struct dw_format_job *job, const struct dw_row *row,
		      enum dw_column column)
{
	return (column == DWELL_COLUMN_AI || column == DWELL_COLUMN_AE) && row->process &&
	       !is_upper_bound(job) &&
	       dw_call_is_upper_bound(job->view->request.profile, row->process);
}

/* The same of some processes. */
static bool has_unseen(const struct dw_format_job *job)
{
	return dw_facts_get_text(&job->view->request.profile->facts, "switches_unseen_in");
}

/* Whether rows are those of several processes, none of which is marked. */
static bool is_merged(const struct dw_format_job *job)
{
	const struct dw_totals *t = job->view->request.totals;

	return job->view->ops->splits && t->processes_seen > 1 &&
	       (t->by == DWELL_BY_NONE || t->by == DWELL_BY_COMMAND);
}

/* What each sample is, when that is known; else @otherwise. */
static const char *unit(const struct dw_format_job *job, const char *otherwise)
{
	const struct dw_facts *facts = &job->view->request.profile->facts;
	const char *event = dw_facts_get_text(facts, "event");

	return event && dw_facts_get(facts, "period", 0) == 1 ? event : otherwise;
}

/* Headers of tables are shorter than titles where nothing gets lost. */
static const char *header(const struct dw_format_job *job, enum dw_column column)
{
	const struct dw_column_info *info = dw_column_info(column);
	const char *own = info->header ? info->header : info->title;
	bool is_total = info->measure && info->aspect == DWELL_ASPECT_TOTAL;

	if (column == DWELL_COLUMN_INSTRUCTION_ADDRESS && !job->width)
		return info->title;
	if (info->measure == DWELL_MEASURE_SAMPLES && is_total)
		return unit(job, own);
	if (info->measure == DWELL_MEASURE_APPLICATION && is_total && is_upper_bound(job))
		return info->exclusive ? "App Excl (upper bound)" : "App Incl (upper bound)";
	if (info->measure == DWELL_MEASURE_BLOCKED &&
	    !dw_totals_has_waits(job->view->request.totals))
		return is_total ? "Blocked" : info->title;
	return own;
}

static bool is_text(enum dw_column column)
{
	return dw_column_info(column)->kind == DWELL_CELL_TEXT || column == DWELL_COLUMN_TYPE;
}

/* Blanks before a name in a tree, at most half of a column that is cut; rows deeper than that get
 * their level as a number. */
static void put_indent(struct dw_buf *b, const struct dw_row *row, size_t width)
{
	static const char blanks[] = "                                        ";
	size_t most = width / 2 < INDENT_MAX ? width / 2 : INDENT_MAX;

	static_assert(sizeof blanks == INDENT_MAX + 1, "as many blanks");
	if ((size_t)row->level * 2 <= most)
		dw_buf_put(b, blanks, row->level * 2);
	else
		dw_buf_printf(b, "%.*s+%zu ", (int)most, blanks, row->level - most / 2);
}

static void put_number(struct dw_buf *b, const struct dw_cell *c)
{
	char digits[DWELL_DIGITS_MAX_BYTES];
	uint64_t hundredths = (uint64_t)(c->percent * 100 + .5);

	if (c->kind == DWELL_CELL_PERCENT) {
		dw_buf_puts(b, dw_digits_decimal(hundredths / 100, digits));
		/* 1xx: two digits, zeros included. */
		dw_digits_decimal(hundredths % 100 + 100, digits);
		digits[DWELL_DIGITS_MAX_BYTES - 4] = '.';
		dw_buf_puts(b, digits + DWELL_DIGITS_MAX_BYTES - 4);
	} else if (c->kind == DWELL_CELL_TIME_NS || c->kind == DWELL_CELL_DURATION_NS)
		dw_buf_printf(b, "%.3f", (double)c->number / 1e6);
	else if (c->kind == DWELL_CELL_CALL_NS)
		dw_buf_printf(b, "%.6f", (double)c->number / 1e6);
	else if (c->kind == DWELL_CELL_ADDRESS)
		dw_buf_puts(b, dw_digits_hex(c->number, digits));
	else if (c->kind == DWELL_CELL_CHANGE)
		dw_buf_printf(b, "%+" PRId64, (int64_t)c->number);
	else if (c->kind)
		dw_buf_puts(b, dw_digits_decimal(c->number, digits));
}

/* Zeros around the few rows that have values hide them. */
static bool is_blank(const struct dw_row *row, const struct dw_cell *c)
{
	return row->flags & DWELL_ROW_UNSEEN &&
	       (c->kind == DWELL_CELL_COUNT || c->kind == DWELL_CELL_PERCENT ||
		c->kind == DWELL_CELL_DURATION_NS || c->kind == DWELL_CELL_CALL_NS);
}

static const char *calls_mark(const struct dw_format_job *job, const struct dw_row *row,
			      struct layout *l)
{
	const struct dw_facts *facts = &job->view->request.profile->facts;
	bool is_counted = dw_measured_get(&row->measured, DWELL_MEASURE_COUNTED, false);

	l->has_counted |= is_counted;
	if (is_counted)
		return ONLY_COUNTED;
	/* There were more. */
	return row->measured.disabled_at && !dw_facts_get(facts, "switched_off_counts", 0) ? "+"
											   : "";
}

/* What @column shows of @row: a borrowed name, or text put together in l->text. */
static const char *show_cell(const struct dw_format_job *job, const struct dw_row *row,
			     enum dw_column column, struct layout *l)
{
	bool indent = column == job->view->ops->tree;
	struct dw_cell c;

	dw_view_cell(job->view, row, column, &l->scratch[1], &c);
	if (c.text && !indent)
		return c.text;
	dw_buf_clear(&l->text);
	if (indent)
		put_indent(&l->text, row, l->cut ? l->width[column] : SIZE_MAX);
	if (c.kind && is_marked(job, row, column))
		dw_buf_puts(&l->text, UPPER_BOUND);
	if (c.text)
		dw_buf_puts(&l->text, c.text);
	else if (!is_blank(row, &c))
		put_number(&l->text, &c);
	if (column == DWELL_COLUMN_CALLS)
		dw_buf_puts(&l->text, calls_mark(job, row, l));
	return dw_buf_str(&l->text);
}

/* Make room for @n columns of text. Whether that was not there. */
static bool widen(struct layout *l, enum dw_column column, size_t n)
{
	if (n <= l->width[column])
		return false;
	l->width[column] = n;
	return true;
}

/* Whether no name could change how wide a column will be: the last one is not padded, and wider
 * than its limit none gets. */
static bool is_measured(const struct dw_format_job *job, const enum dw_column *c,
			const struct layout *l)
{
	if (job->width)
		return l->width[*c] >= job->width;
	return !c[1] || l->width[*c] >= NAME_PADDED;
}

/* Columns that rows must still be looked at for, into @ret: names that are not as wide yet as they
 * can get, and numbers but for the values. */
static void list_open(const struct dw_format_job *job, const struct layout *l,
		      const enum dw_column **ret)
{
	for (const enum dw_column *c = job->columns; *c; c++)
		if (is_text(*c) ? !is_measured(job, c, l) : !dw_column_is_value(*c))
			*ret++ = c;
	*ret = NULL;
}

/* Names are measured each; of numbers only the largest is, which is the widest. True when a name
 * got wider. */
static bool measure_row(const struct dw_format_job *job, size_t i,
			const enum dw_column *const *open, struct layout *l,
			struct dw_cell *largest)
{
	struct dw_row row;
	struct dw_cell cell;
	bool wider = false;

	dw_view_row(job->view, i, &l->scratch[0], &row);
	for (enum dw_column c; *open; open++) {
		c = **open;
		if (is_text(c)) {
			wider |= widen(l, c, dw_text_columns(show_cell(job, &row, c, l)));
			continue;
		}
		dw_view_cell(job->view, &row, c, &l->scratch[1], &cell);
		if (cell.number > largest[c].number || cell.percent > largest[c].percent ||
		    !largest[c].kind)
			largest[c] = cell;
	}
	return wider;
}

static void measure_values(const struct dw_format_job *job, struct layout *l,
			   struct dw_cell *largest)
{
	struct dw_row row = {0};

	for (size_t i = 0; i < dw_format_rows(job); i++) {
		struct dw_values v = dw_view_values(job->view, i, &l->scratch[0]);

		if (v.inclusive > row.values.inclusive)
			row.values.inclusive = v.inclusive;
		if (v.exclusive > row.values.exclusive)
			row.values.exclusive = v.exclusive;
	}
	for (const enum dw_column *c = job->columns; *c; c++)
		if (dw_column_is_value(*c))
			dw_view_cell(job->view, &row, *c, &l->scratch[1], &largest[*c]);
}

static void measure(const struct dw_format_job *job, struct layout *l)
{
	struct dw_cell largest[DWELL_COLUMNS_N] = {0};
	const enum dw_column *open[DWELL_COLUMNS_N];

	for (const enum dw_column *c = job->columns; *c; c++)
		l->width[*c] = strlen(header(job, *c));
	measure_values(job, l, largest);
	list_open(job, l, open);
	for (size_t i = 0; i < dw_format_rows(job) && *open; i++)
		if (measure_row(job, i, open, l, largest))
			list_open(job, l, open);
	l->has_bounds = largest[DWELL_COLUMN_AT_MOST].kind;
	for (const enum dw_column *c = job->columns; *c; c++) {
		dw_buf_clear(&l->text);
		put_number(&l->text, &largest[*c]);
		if (*c == DWELL_COLUMN_CALLS && l->has_counted)
			dw_buf_puts(&l->text, ONLY_COUNTED);
		if (*c == DWELL_COLUMN_AI || *c == DWELL_COLUMN_AE)
			dw_buf_puts(&l->text, has_unseen(job) ? UPPER_BOUND : "");
		widen(l, *c, l->text.len);
	}
}

/* The columns of text that @column should get. */
static size_t wanted_width(enum dw_column column, const struct layout *l)
{
	return is_text(column) && l->width[column] > NAME_WANTED ? NAME_WANTED : l->width[column];
}

#define LEFT_OUT_FIRST                                                                     \
	DWELL_COLUMN_AI_PCT, DWELL_COLUMN_AE_PCT, DWELL_COLUMN_AI, DWELL_COLUMN_EI_PCT,    \
		DWELL_COLUMN_MODULE_NAME, DWELL_COLUMN_THREAD_NAME, DWELL_COLUMN_SWITCHED, \
		DWELL_COLUMN_CALLEES, DWELL_COLUMN_ALLOCS_INCLUSIVE,                       \
		DWELL_COLUMN_ALLOCS_EXCLUSIVE, DWELL_COLUMN_BYTES_ALIVE, DWELL_COLUMN_PROMOTED

/* Leave out columns that a narrow terminal has no room for, those first that say least beside the
 * others, until names get the room that they need to be told apart. */
static void leave_out(const struct dw_format_job *job, const struct layout *l,
		      enum dw_column *columns)
{
	static const enum dw_column first[] = {LEFT_OUT_FIRST};
	size_t total = 0;

	for (const enum dw_column *c = columns; *c; c++)
		total += wanted_width(*c, l) + (c > columns ? GAP : 0);
	for (size_t i = 0; i < sizeof first / sizeof *first && total > job->width; i++)
		for (const enum dw_column *c = columns; *c; c++)
			if (*c == first[i]) {
				total -= wanted_width(*c, l) + GAP;
				dw_columns_drop(columns, first[i]);
				break;
			}
}

/* The widest column of names, DWELL_COLUMN_END when none can give way. */
static enum dw_column widest_name(const struct dw_format_job *job, const struct layout *l)
{
	enum dw_column widest = DWELL_COLUMN_END;

	for (const enum dw_column *c = job->columns; *c; c++)
		if (is_text(*c) && l->width[*c] > NAME_MIN &&
		    (!widest || l->width[*c] > l->width[widest]))
			widest = *c;
	return widest;
}

/* Take from the widest name until all fits. Without a terminal nothing is cut, but a few very long
 * names do not push all others' neighbours away. */
static void fit(const struct dw_format_job *job, struct layout *l)
{
	size_t total = 0;
	enum dw_column widest;

	for (const enum dw_column *c = job->columns; *c; c++) {
		if (!job->width && is_text(*c) && l->width[*c] > NAME_PADDED)
			l->width[*c] = NAME_PADDED;
		total += l->width[*c] + (c > job->columns ? GAP : 0);
	}
	while (job->width && total > job->width && (widest = widest_name(job, l))) {
		l->width[widest]--;
		total--;
	}
}

/* One cell in its place. Blanks wait for what is behind them, so that no row ends in any. */
static void put_cell(struct dw_out *out, enum dw_column column, const char *text, struct layout *l)
{
	size_t width = l->width[column], used, indent = 0;

	if (!is_text(column)) {
		used = strlen(text);
		l->blanks += width > used ? width - used : 0;
	} else {
		/* What is cut out is the middle of the name, not of the blanks before it. */
		while (text[indent] == ' ' && !(l->cut && indent >= width))
			indent++;
		l->blanks += indent;
	}
	if (text[indent]) {
		dw_out_fill(out, ' ', l->blanks);
		l->blanks = 0;
	}
	if (is_text(column)) {
		used = dw_text_put_fitted(out, text + indent, l->cut ? width - indent : SIZE_MAX);
		used += indent;
		l->blanks += width > used ? width - used : 0;
	} else {
		dw_out_puts(out, text);
	}
	l->blanks += GAP;
}

static void write_header(const struct dw_format_job *job, struct layout *l, struct dw_out *out)
{
	dw_out_puts(out, job->colour ? "\033[1m" : "");
	l->blanks = 0;
	for (const enum dw_column *c = job->columns; *c; c++)
		put_cell(out, *c, header(job, *c), l);
	dw_out_puts(out, job->colour ? "\033[0m\n" : "\n");
}

static const char *colour_of(const struct dw_format_job *job, const struct dw_row *row,
			     enum dw_column column)
{
	const struct dw_totals *t = job->view->request.totals;
	uint64_t all = t->all[t->main], n = row->values.exclusive;

	if (!job->colour || n * 100 < all * HOT_PCT ||
	    (column != DWELL_COLUMN_EXCLUSIVE_PCT && column != DWELL_COLUMN_EE_PCT &&
	     column != DWELL_COLUMN_BYTES_EXCLUSIVE_PCT && column != DWELL_COLUMN_BYTES_PCT))
		return "";
	return "\033[31m";
}

static void write_row(const struct dw_format_job *job, size_t i, struct layout *l,
		      struct dw_out *out)
{
	struct dw_row row;

	dw_view_row(job->view, i, &l->scratch[0], &row);
	l->blanks = 0;
	for (const enum dw_column *c = job->columns; *c; c++) {
		const char *colour = colour_of(job, &row, *c);

		dw_out_puts(out, colour);
		put_cell(out, *c, show_cell(job, &row, *c, l), l);
		dw_out_puts(out, *colour ? "\033[0m" : "");
	}
	dw_out_puts(out, "\n");
}

static const char *things_of(const struct dw_format_job *job)
{
	static const char *const words[] = {
		[DWELL_METHOD_SAMPLING] = "samples",
		[DWELL_METHOD_INSTRUMENTATION] = "time",
		[DWELL_METHOD_MEMORY] = "bytes",
	};

	return words[dw_profile_method(job->view->request.profile)];
}

/* What a reader must know of the numbers above. */
static void write_footers(const struct dw_format_job *job, const struct layout *l,
			  struct dw_out *out)
{
	const struct dw_totals *t = job->view->request.totals;

	if (job->view->hidden)
		dw_out_printf(
			out, "(%zu branches below %g %% of the %s left out: --trim 0 shows them)\n",
			job->view->hidden, job->view->request.pruning.trim_pct, things_of(job));
	if (t->to_ns)
		dw_out_printf(out, "(times from %.3f s to %.3f s: ranges snap to slices)\n",
			      (double)t->from_ns / 1e9, (double)t->to_ns / 1e9);
	if (has_unseen(job) && !is_upper_bound(job))
		dw_out_puts(out, is_merged(job)
					 ? "(application times of some processes are upper bounds: "
					   "--by process marks them)\n"
					 : "(" UPPER_BOUND ": upper bounds, of processes whose "
					   "context switches could not be seen)\n");
	if (l->has_bounds)
		dw_out_puts(out, "(At Most: what calls that take less than the clock can tell "
				 "may have taken of their own)\n");
	if (l->has_counted)
		dw_out_puts(out,
			    "(" ONLY_COUNTED ": switched off, all or some calls were only counted: "
			    "their time is their callers')\n");
	if (t->delimited_intervals)
		dw_out_puts(out, "(application times by the classic rule: an interval ends at "
				 "probes only, and one OS event drops all of it)\n");
}

static void write_table(const struct dw_format_job *asked, struct dw_out *out)
{
	enum dw_column columns[DWELL_COLUMNS_N] = {DWELL_COLUMN_END};
	struct dw_format_job own = *asked, *job = &own;
	struct layout l = {0};

	if (job->view->ops->has_notes)
		return dw_summary_write(job, out);
	for (size_t i = 0; asked->columns[i]; i++)
		columns[i] = asked->columns[i];
	job->columns = columns;
	measure(job, &l);
	if (!job->chosen && !l.has_bounds)
		dw_columns_drop(columns, DWELL_COLUMN_AT_MOST);
	if (job->width && !job->chosen &&
	    dw_profile_method(job->view->request.profile) != DWELL_METHOD_SAMPLING)
		leave_out(job, &l, columns);
	fit(job, &l);
	l.cut = job->width;
	write_header(job, &l, out);
	for (size_t i = 0; i < dw_format_rows(job) && !out->failed; i++)
		write_row(job, i, &l, out);
	write_footers(job, &l, out);
	dw_buf_release(&l.scratch[0]);
	dw_buf_release(&l.scratch[1]);
	dw_buf_release(&l.text);
}

const struct dw_format_ops dw_format_table = {
	.name = "table", .human_readable = true, .write = write_table};
