/* Cells of tables in words; see table-cell.h. */
#include "format/table-cell.h"

#include "format/shorten.h"
#include "format/text.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
	INDENT_MAX = 40, /* columns; deeper rows say their level instead */
	HOT_PCT = 10,	 /* from here on a percentage is coloured */
};

bool dw_table_is_upper_bound(const struct dw_format_job *job)
{
	return dw_call_is_upper_bound(job->view->request.profile, 0);
}

/* Likewise for the process of @row alone. */
static bool is_marked(const struct dw_format_job *job, const struct dw_row *row,
		      enum dw_column column)
{
	return (column == DWELL_COLUMN_AI || column == DWELL_COLUMN_AE) && row->process &&
	       !dw_table_is_upper_bound(job) &&
	       dw_call_is_upper_bound(job->view->request.profile, row->process);
}

bool dw_table_has_unseen(const struct dw_format_job *job)
{
	return dw_facts_get_text(&job->view->request.profile->facts, "switches_unseen_in");
}

/* What each sample is, when that is known; else @otherwise. */
static const char *unit(const struct dw_format_job *job, const char *otherwise)
{
	const struct dw_facts *facts = &job->view->request.profile->facts;
	const char *event = dw_facts_get_text(facts, "event");

	return event && dw_facts_get(facts, "period", 0) == 1 ? event : otherwise;
}

const char *dw_table_header(const struct dw_format_job *job, enum dw_column column)
{
	const struct dw_column_info *info = dw_column_info(column);
	const char *own = info->header ? info->header : info->title;
	bool is_total = info->measure && info->aspect == DWELL_ASPECT_TOTAL;

	if (column == DWELL_COLUMN_INSTRUCTION_ADDRESS && !job->width)
		return info->title;
	if (info->measure == DWELL_MEASURE_SAMPLES && is_total)
		return unit(job, own);
	if (info->measure == DWELL_MEASURE_APPLICATION && is_total && dw_table_is_upper_bound(job))
		return info->exclusive ? "App Excl (upper bound)" : "App Incl (upper bound)";
	if (info->measure == DWELL_MEASURE_BLOCKED &&
	    !dw_totals_has_waits(job->view->request.totals))
		return is_total ? "Blocked" : info->title;
	return own;
}

bool dw_table_is_text(enum dw_column column)
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

static bool is_time(enum dw_cell_kind kind)
{
	return kind == DWELL_CELL_TIME_NS || kind == DWELL_CELL_DURATION_NS ||
	       kind == DWELL_CELL_CALL_NS;
}

enum dw_time_digits dw_table_digits(enum dw_column column, double sample_ns)
{
	const struct dw_column_info *info = dw_column_info(column);

	if (info->aspect == DWELL_ASPECT_TIME && sample_ns >= 1e6)
		return DWELL_DIGITS_FEW;
	if (info->kind == DWELL_CELL_CALL_NS)
		return DWELL_DIGITS_CALL;
	return info->kind == DWELL_CELL_TIME_NS ? DWELL_DIGITS_POINT : DWELL_DIGITS_USUAL;
}

void dw_table_fit_unit(const struct dw_format_job *job, enum dw_column column,
		       const struct dw_cell *c, struct dw_table_words *w)
{
	enum dw_time_unit unit = is_time(c->kind) ? dw_time_unit_for(c->number) : 0;

	if (dw_table_digits(column, job->view->sample_ns) == DWELL_DIGITS_FEW &&
	    unit < DWELL_UNIT_MS)
		unit = DWELL_UNIT_MS;
	if (unit > w->unit[column])
		w->unit[column] = unit;
}

void dw_table_put_number(const struct dw_format_job *job, enum dw_column column,
			 const struct dw_cell *c, struct dw_table_words *w)
{
	char digits[DWELL_DIGITS_MAX_BYTES];
	struct dw_buf *b = &w->text;
	uint64_t hundredths = (uint64_t)(c->percent * 100 + .5);

	if (c->kind == DWELL_CELL_PERCENT) {
		dw_buf_puts(b, dw_digits_decimal(hundredths / 100, digits));
		/* 1xx: two digits, zeros included. */
		dw_digits_decimal(hundredths % 100 + 100, digits);
		digits[DWELL_DIGITS_MAX_BYTES - 4] = '.';
		dw_buf_puts(b, digits + DWELL_DIGITS_MAX_BYTES - 4);
	} else if (is_time(c->kind))
		dw_time_unit_put(b, c->number, w->unit[column],
				 dw_table_digits(column, job->view->sample_ns));
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
		(is_time(c->kind) && c->kind != DWELL_CELL_TIME_NS));
}

static const char *calls_mark(const struct dw_format_job *job, const struct dw_row *row,
			      struct dw_table_words *w)
{
	const struct dw_facts *facts = &job->view->request.profile->facts;
	bool is_counted = dw_measured_get(&row->measured, DWELL_MEASURE_COUNTED, false);

	w->has_counted |= is_counted;
	if (is_counted)
		return DWELL_ONLY_COUNTED;
	/* There were more. */
	return row->measured.disabled_at && !dw_facts_get(facts, "switched_off_counts", 0) ? "+"
											   : "";
}

const char *dw_table_show(const struct dw_format_job *job, const struct dw_row *row,
			  enum dw_column column, size_t width, struct dw_table_words *w)
{
	bool indent = column == job->view->ops->tree;
	struct dw_cell c;

	dw_view_cell(job->view, row, column, &w->scratch, &c);
	if (c.text && !indent)
		return c.text;
	dw_buf_clear(&w->text);
	if (indent)
		put_indent(&w->text, row, width);
	if (c.kind && is_marked(job, row, column))
		dw_buf_puts(&w->text, DWELL_UPPER_BOUND);
	if (c.text)
		dw_buf_puts(&w->text, c.text);
	else if (!is_blank(row, &c))
		dw_table_put_number(job, column, &c, w);
	if (column == DWELL_COLUMN_CALLS)
		dw_buf_puts(&w->text, calls_mark(job, row, w));
	return dw_buf_str(&w->text);
}

bool dw_table_is_hot(const struct dw_format_job *job, const struct dw_row *row,
		     enum dw_column column)
{
	const struct dw_totals *t = job->view->request.totals;
	enum dw_measure measure =
		column == DWELL_COLUMN_WORK_EXCLUSIVE_PCT ? DWELL_MEASURE_WORK : t->main;
	uint64_t own = dw_measured_get(&row->measured, measure, true);

	return own * 100 >= t->all[measure] * HOT_PCT &&
	       (column == DWELL_COLUMN_EXCLUSIVE_PCT || column == DWELL_COLUMN_WORK_EXCLUSIVE_PCT ||
		column == DWELL_COLUMN_EE_PCT || column == DWELL_COLUMN_BYTES_EXCLUSIVE_PCT ||
		column == DWELL_COLUMN_BYTES_PCT);
}

/* A function's name, or several. In a row too deep to be indented "+N " stands before it. */
static size_t put_function(struct dw_out *out, const char *text, size_t width)
{
	size_t level = *text == '+' ? strspn(text + 1, "0123456789") + 2 : 0;

	if (level <= 2 || text[level - 1] != ' ' || level >= width)
		return dw_function_name_put_fitted(out, text, width);
	dw_out_write(out, text, level);
	return level + dw_function_name_put_fitted(out, text + level, width - level);
}

dw_put_fitted_fn *dw_table_fitting(const struct dw_format_job *job, const struct dw_row *row,
				   enum dw_column column)
{
	const struct dw_functions *all = &job->view->request.profile->functions;
	bool is_own = column == DWELL_COLUMN_FUNCTION_NAME ||
		      (column == DWELL_COLUMN_NAME && row->name == DWELL_NAME_FUNCTION);

	if (column == DWELL_COLUMN_SOURCE_FILE || column == DWELL_COLUMN_MODULE_PATH)
		return dw_path_put_fitted;
	if (column == DWELL_COLUMN_ROOT || column == DWELL_COLUMN_CALL_PATH ||
	    column == DWELL_COLUMN_DEEPEST_CALL || (is_own && dw_functions_get(all, row->function)))
		return put_function;
	return dw_text_put_fitted;
}

#define LEFT_OUT_FIRST                                                                          \
	DWELL_COLUMN_AI_PCT, DWELL_COLUMN_AE_PCT, DWELL_COLUMN_AI, DWELL_COLUMN_EI_PCT,         \
		DWELL_COLUMN_MODULE_NAME, DWELL_COLUMN_THREAD_NAME, DWELL_COLUMN_CALL_PATH,     \
		DWELL_COLUMN_GC_TYPE, DWELL_COLUMN_CALLEES, DWELL_COLUMN_ALLOCS_INCLUSIVE,      \
		DWELL_COLUMN_ALLOCS_EXCLUSIVE, DWELL_COLUMN_BYTES_ALIVE, DWELL_COLUMN_PROMOTED, \
		DWELL_COLUMN_AT_MOST, DWELL_COLUMN_EE_PCT

const enum dw_column *dw_table_left_out(const struct dw_format_job *job)
{
	static const enum dw_column others[] = {LEFT_OUT_FIRST, DWELL_COLUMN_END};
	/* Of samples: their numbers, where there are times instead, and shares of waits. */
	static const enum dw_column of_samples[] = {DWELL_COLUMN_INCLUSIVE,
						    DWELL_COLUMN_EXCLUSIVE,
						    DWELL_COLUMN_BLOCKED_INCLUSIVE_PCT,
						    DWELL_COLUMN_BLOCKED_EXCLUSIVE_PCT,
						    DWELL_COLUMN_BLOCKED_INCLUSIVE,
						    DWELL_COLUMN_MODULE_NAME,
						    DWELL_COLUMN_THREAD_NAME,
						    DWELL_COLUMN_PROCESS_NAME,
						    DWELL_COLUMN_CPU_INCLUSIVE,
						    DWELL_COLUMN_END};

	if (dw_profile_method(job->view->request.profile) != DWELL_METHOD_SAMPLING)
		return others;
	return job->view->sample_ns ? of_samples : of_samples + 2;
}

void dw_table_words_release(struct dw_table_words *w)
{
	dw_buf_release(&w->scratch);
	dw_buf_release(&w->text);
}
