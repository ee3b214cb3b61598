/*
 * Tables for people: numbers on the left, right-aligned and whole; names behind them, shortened
 * when the terminal is too narrow. Percentages have two decimals, times the unit that fits their
 * column; digits are not grouped, so that awk and eyes agree.
 *
 * Two passes over the rows: the first finds the widths and the units.
 */
#include "base/out.h"
#include "format/details.h"
#include "format/format.h"
#include "format/table-cell.h"
#include "format/text.h"
#include "format/wrap.h"

#include <inttypes.h>
#include <string.h>

enum {
	GAP = 2,		   /* columns between two cells */
	LEFT_OUT_WORTH_PART = 100, /* of the work that is shown, for a line about what is not */
	NAME_PADDED = 60, /* columns that a name is padded to at most when nothing is cut */
	NAME_MIN = 10,	  /* a name is not made narrower than this, */
	NAME_FAIR = 16,	  /* nor than this as long as there are numbers that may go */
	NAME_WANTED = 24, /* columns of numbers give way to names that get less, */
	TREE_WANTED = 36, /* and to those of a tree, which are indented */
};

struct layout {
	size_t width[DWELL_COLUMNS_N];
	bool cut;		       /* names are made to fit */
	bool is_zero[DWELL_COLUMNS_N]; /* numbers: there is nothing else */
	bool has_bounds;	       /* a row is too short to be told */
	size_t blanks; /* between what stands in the row so far and what comes next, if anything
			  does */
	struct dw_buf scratch;
	struct dw_table_words words; /* of the cell at hand */
};

/* Whether rows are those of several processes, none of which is marked. */
static bool is_merged(const struct dw_format_job *job)
{
	const struct dw_totals *t = job->view->request.totals;

	return job->view->ops->splits && t->processes_seen > 1 &&
	       (t->by == DWELL_BY_NONE || t->by == DWELL_BY_COMMAND);
}

/* What @column shows of @row, until the next cell. */
static const char *show_cell(const struct dw_format_job *job, const struct dw_row *row,
			     enum dw_column column, struct layout *l)
{
	return dw_table_show(job, row, column, l->cut ? l->width[column] : SIZE_MAX, &l->words);
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
		if (dw_table_is_text(*c) ? !is_measured(job, c, l) : !dw_column_is_value(*c))
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

	dw_view_row(job->view, i, &l->scratch, &row);
	for (enum dw_column c; *open; open++) {
		c = **open;
		if (dw_table_is_text(c)) {
			wider |= widen(l, c, dw_text_columns(show_cell(job, &row, c, l)));
			continue;
		}
		dw_view_cell(job->view, &row, c, &l->words.scratch, &cell);
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
		struct dw_values v = dw_view_values(job->view, i, &l->scratch);

		if (v.inclusive > row.values.inclusive)
			row.values.inclusive = v.inclusive;
		if (v.exclusive > row.values.exclusive)
			row.values.exclusive = v.exclusive;
	}
	for (const enum dw_column *c = job->columns; *c; c++)
		if (dw_column_is_value(*c))
			dw_view_cell(job->view, &row, *c, &l->words.scratch, &largest[*c]);
}

static void measure(const struct dw_format_job *job, struct layout *l)
{
	struct dw_cell largest[DWELL_COLUMNS_N] = {0};
	const enum dw_column *open[DWELL_COLUMNS_N];

	for (const enum dw_column *c = job->columns; *c; c++)
		l->width[*c] = strlen(dw_table_header(job, *c));
	measure_values(job, l, largest);
	list_open(job, l, open);
	for (size_t i = 0; i < dw_format_rows(job) && *open; i++)
		if (measure_row(job, i, open, l, largest))
			list_open(job, l, open);
	l->has_bounds = largest[DWELL_COLUMN_AT_MOST].kind;
	for (const enum dw_column *c = job->columns; *c; c++) {
		l->is_zero[*c] =
			!dw_table_is_text(*c) && !largest[*c].number && largest[*c].percent <= 0;
		dw_buf_clear(&l->words.text);
		dw_table_fit_unit(job, *c, &largest[*c], &l->words);
		dw_table_put_number(job, *c, &largest[*c], &l->words);
		if (*c == DWELL_COLUMN_CALLS && l->words.has_counted)
			dw_buf_puts(&l->words.text, DWELL_ONLY_COUNTED);
		if (*c == DWELL_COLUMN_AI || *c == DWELL_COLUMN_AE)
			dw_buf_puts(&l->words.text,
				    dw_table_has_unseen(job) ? DWELL_UPPER_BOUND : "");
		widen(l, *c, l->words.text.len);
	}
}

/* The columns of text that @column should get. */
static size_t wanted_width(const struct dw_format_job *job, enum dw_column column,
			   const struct layout *l)
{
	size_t wanted = column == job->view->ops->tree ? TREE_WANTED : NAME_WANTED;

	return dw_table_is_text(column) && l->width[column] > wanted ? wanted : l->width[column];
}

/* How wide rows are when all names are cut as far as is fair. */
static size_t narrowest(const struct layout *l, const enum dw_column *columns)
{
	size_t total = 0;

	for (const enum dw_column *c = columns; *c; c++) {
		bool is_cut = dw_table_is_text(*c) && l->width[*c] > NAME_FAIR;

		total += (is_cut ? NAME_FAIR : l->width[*c]) + (c > columns ? GAP : 0);
	}
	return total;
}

/* The last number that is zero in all rows, else the last one but addresses and what rows are
 * sorted by, else the last name but the first; DWELL_COLUMN_END when there is none. */
static enum dw_column last_number(const struct dw_format_job *job, const struct layout *l,
				  const enum dw_column *columns)
{
	enum dw_column number = DWELL_COLUMN_END, name = DWELL_COLUMN_END;
	enum dw_column zero = DWELL_COLUMN_END;
	size_t names = 0;

	for (const enum dw_column *c = columns; *c; c++)
		if (dw_table_is_text(*c))
			name = names++ ? *c : name;
		else if (dw_column_info(*c)->kind != DWELL_CELL_ADDRESS &&
			 *c != dw_view_sorted_by(job->view)) {
			number = *c;
			zero = l->is_zero[*c] ? *c : zero;
		}
	return zero ? zero : number ? number : name;
}

/* Leave out columns that a narrow terminal has no room for, those first that say least beside the
 * others, until names get the room that they need to be told apart. */
static void leave_out(const struct dw_format_job *job, const struct layout *l,
		      enum dw_column *columns)
{
	const enum dw_column *first = dw_table_left_out(job);
	enum dw_column last;
	size_t total = 0;

	for (const enum dw_column *c = columns; *c; c++)
		total += wanted_width(job, *c, l) + (c > columns ? GAP : 0);
	for (; *first && total > job->width; first++)
		for (const enum dw_column *c = columns; *c; c++)
			if (*c == *first) {
				total -= wanted_width(job, *c, l) + GAP;
				dw_columns_drop(columns, *first);
				break;
			}
	while (narrowest(l, columns) > job->width && (last = last_number(job, l, columns)))
		dw_columns_drop(columns, last);
}

/* The widest column of names, DWELL_COLUMN_END when none can give way. */
static enum dw_column widest_name(const struct dw_format_job *job, const struct layout *l)
{
	enum dw_column widest = DWELL_COLUMN_END;

	for (const enum dw_column *c = job->columns; *c; c++)
		if (dw_table_is_text(*c) && l->width[*c] > NAME_MIN &&
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
		if (!job->width && dw_table_is_text(*c) && l->width[*c] > NAME_PADDED)
			l->width[*c] = NAME_PADDED;
		total += l->width[*c] + (c > job->columns ? GAP : 0);
	}
	while (job->width && total > job->width && (widest = widest_name(job, l))) {
		l->width[widest]--;
		total--;
	}
}

/* One cell in its place. Blanks wait for what is behind them, so that no row ends in any. */
static void put_cell(struct dw_out *out, enum dw_column column, const char *text,
		     dw_put_fitted_fn *put_fitted, struct layout *l)
{
	size_t width = l->width[column], used, indent = 0;

	if (!dw_table_is_text(column)) {
		used = strlen(text);
		l->blanks += width > used ? width - used : 0;
	} else {
		/* What is cut is the name, not the blanks before it. */
		while (text[indent] == ' ' && !(l->cut && indent >= width))
			indent++;
		l->blanks += indent;
	}
	if (text[indent]) {
		dw_out_fill(out, ' ', l->blanks);
		l->blanks = 0;
	}
	if (dw_table_is_text(column)) {
		used = put_fitted(out, text + indent, l->cut ? width - indent : SIZE_MAX);
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
		put_cell(out, *c, dw_table_header(job, *c), dw_text_put_fitted, l);
	dw_out_puts(out, job->colour ? "\033[0m\n" : "\n");
}

static void write_row(const struct dw_format_job *job, size_t i, struct layout *l,
		      struct dw_out *out)
{
	struct dw_row row;

	dw_view_row(job->view, i, &l->scratch, &row);
	l->blanks = 0;
	for (const enum dw_column *c = job->columns; *c; c++) {
		bool is_hot = job->colour && dw_table_is_hot(job, &row, *c);

		dw_out_puts(out, is_hot ? "\033[31m" : "");
		put_cell(out, *c, show_cell(job, &row, *c, l), dw_table_fitting(job, &row, *c), l);
		dw_out_puts(out, is_hot ? "\033[0m" : "");
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

/* What was too small to be a row, and how much it is in all. */
static void put_hidden(const struct dw_format_job *job, struct dw_out *out)
{
	const struct dw_view *v = job->view;
	const struct dw_totals *t = v->request.totals;
	const uint64_t all = t->all[dw_totals_order(t)];
	const bool is_tree = v->ops->tree && !v->request.collapsed;
	const char *const words[] = {[DWELL_ROW_CURRENT] = is_tree ? "branch" : "row",
				     [DWELL_ROW_CALLER] = "caller",
				     [DWELL_ROW_CALLEE] = "callee"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const struct dw_hidden *h = &v->hidden[i];
		const char *ending = h->n < 2 ? "" : is_tree && !i ? "es" : "s";

		if (!h->n)
			continue;
		dw_out_printf(out, "(%zu %s%s below %g %% of the %s left out", h->n, words[i],
			      ending, v->request.pruning.trim_pct, things_of(job));
		if (all && !h->is_unknown)
			dw_out_printf(out, ", %.2f %% %s", 100. * (double)h->weight / (double)all,
				      h->is_exclusive ? "of their own" : "together");
		dw_out_printf(out, ": --trim 0 shows %s)\n", h->n < 2 ? "it" : "them");
	}
}

static bool has_column(const struct dw_format_job *job, enum dw_column column)
{
	const enum dw_column *c = job->columns;

	while (*c && *c != column)
		c++;
	return *c == column;
}

/* Which waits are not in the numbers above, unless they are next to nothing. */
static void put_left_out(const struct dw_totals *t, struct dw_out *out)
{
	uint64_t all = 0;
	bool any = false;

	for (enum dw_wait_kind kind = 0; kind < DWELL_WAIT_KINDS; kind++)
		if (dw_wait_kinds_have(t->waits_left_out, kind))
			all += t->waits[kind].ns;
	if (all <= t->all[DWELL_MEASURE_WORK] / LEFT_OUT_WORTH_PART)
		return;

	for (enum dw_wait_kind kind = 0; kind < DWELL_WAIT_KINDS; kind++) {
		const uint64_t ns = t->waits[kind].ns;

		if (!ns || !dw_wait_kinds_have(t->waits_left_out, kind))
			continue;
		dw_out_printf(out, "%s%s ",
			      any ? ", " : "(waits that are left out: ", dw_wait_kind_name(kind));
		dw_format_time(out, (int64_t)ns);
		any = true;
	}
	if (any)
		dw_out_puts(out, "; --waits=all counts them)\n");
}

/* By what rows of calls stand that is in no column. */
static void put_order(const struct dw_format_job *job, struct dw_out *out)
{
	const struct dw_column_info *by = dw_column_info(dw_view_sorted_by(job->view));

	if (by->measure == DWELL_MEASURE_WORK)
		dw_out_puts(out, "(in the order of elapsed time without waits for something to do, "
				 "children, a processor: --waits=all counts them)\n");
}

/* What a reader must know of the numbers above. */
static void write_footers(const struct dw_format_job *job, const struct layout *l,
			  struct dw_out *out)
{
	const struct dw_totals *t = job->view->request.totals;

	put_hidden(job, out);
	if (job->view->request.folded)
		dw_out_puts(
			out,
			"(code of the system is part of what it was called by: --all-code shows it)\n");
	if (dw_profile_has_calls(job->view->request.profile))
		put_order(job, out);
	else
		put_left_out(t, out);
	if (t->to_ns)
		dw_out_printf(out, "(times from %.3f s to %.3f s: ranges snap to slices)\n",
			      (double)t->from_ns / 1e9, (double)t->to_ns / 1e9);
	if (job->view->ops->limits)
		dw_out_printf(out, "(%s)\n", job->view->ops->limits);
	else if (dw_table_has_unseen(job) && !dw_table_is_upper_bound(job))
		dw_out_puts(out, is_merged(job)
					 ? "(application times of some processes are upper bounds: "
					   "--by process marks them)\n"
					 : "(" DWELL_UPPER_BOUND
					   ": upper bounds, of processes whose "
					   "context switches could not be seen)\n");
	if (l->has_bounds && has_column(job, DWELL_COLUMN_AT_MOST))
		dw_out_puts(out, "(At Most: what calls that take less than the clock can tell "
				 "may have taken of their own)\n");
	if (l->words.has_counted)
		dw_out_puts(out, "(" DWELL_ONLY_COUNTED
				 ": switched off, all or some calls were only counted: "
				 "their time is their callers')\n");
	if (t->pathless_threads)
		dw_out_printf(out,
			      "(%" PRIu32 " thread%s used up the memory for paths: %s calls from "
			      "then on are not among these)\n",
			      t->pathless_threads, t->pathless_threads > 1 ? "s" : "",
			      t->pathless_threads > 1 ? "their" : "its");
	if (t->delimited_intervals)
		dw_out_puts(out, "(application times by the classic rule: an interval ends at "
				 "probes only, and one OS event drops all of it)\n");
}

/* The same in lines that the terminal has room for. */
static void put_footers(const struct dw_format_job *job, const struct layout *l, struct dw_out *out)
{
	struct dw_out all;

	dw_out_init_buffer(&all);
	write_footers(job, l, &all);
	if (all.buf.len)
		dw_text_put_wrapped(out, dw_buf_str(&all.buf), 0, 1, job->width);
	dw_out_close(&all);
}

static void write_table(const struct dw_format_job *asked, struct dw_out *out)
{
	enum dw_column columns[DWELL_COLUMNS_N] = {DWELL_COLUMN_END};
	struct dw_format_job own = *asked, *job = &own;
	struct layout l = {0};

	if (job->view->ops->has_notes)
		return dw_summary_write(job, out, NULL);
	for (size_t i = 0; asked->columns[i]; i++)
		columns[i] = asked->columns[i];
	job->columns = columns;
	measure(job, &l);
	if (!job->chosen && !l.has_bounds)
		dw_columns_drop(columns, DWELL_COLUMN_AT_MOST);
	if (job->width && !job->chosen)
		leave_out(job, &l, columns);
	fit(job, &l);
	l.cut = job->width;
	write_header(job, &l, out);
	for (size_t i = 0; i < dw_format_rows(job) && !out->failed; i++)
		write_row(job, i, &l, out);
	put_footers(job, &l, out);
	if (job->view->ops->tells_all)
		dw_details_write(job, out);
	dw_buf_release(&l.scratch);
	dw_table_words_release(&l.words);
}

const struct dw_format_ops dw_format_table = {
	.name = "table", .human_readable = true, .write = write_table};
