/*
 * The lines view: one row per statement of a function, in each process. In a session of calls these
 * are the statements that called something, with what their callees took; where statements had
 * probes themselves, all that were come to, with times of their own. Of one function:
 * source-listing.c.
 */
#include "analysis/totals.h"
#include "view/columns-of.h"
#include "view/order.h"
#include "view/subject.h"
#include "view/views.h"

static int open_lines(struct dw_view *v)
{
	int rc = dw_order_all(v, v->request.totals->lines.n);

	return rc ? rc : dw_order_sort(v, 0, v->n);
}

static void line_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
		     struct dw_row *ret)
{
	(void)scratch;
	dw_subject_line(v, &v->request.totals->lines.v[item], ret);
}

static const struct dw_values *line_values(const struct dw_view *v, uint32_t item)
{
	return &v->request.totals->lines.v[item].values;
}

#define PEOPLE_BEHIND                                                                  \
	DWELL_COLUMN_FUNCTION_NAME, DWELL_COLUMN_SOURCE_FILE, DWELL_COLUMN_LINE_BEGIN, \
		DWELL_COLUMN_SOURCE_TEXT, DWELL_COLUMN_END

static const enum dw_column columns[] = {DWELL_COLUMNS_LINE, DWELL_COLUMNS_SAMPLES,
					 DWELL_COLUMN_END};
static const enum dw_column people[] = {DWELL_COLUMNS_SAMPLES_PEOPLE, PEOPLE_BEHIND};
static const enum dw_column calls_columns[] = {DWELL_COLUMNS_LINE, DWELL_COLUMNS_CALLS,
					       DWELL_COLUMNS_TIMES, DWELL_COLUMN_END};
static const enum dw_column calls_people[] = {DWELL_COLUMNS_SITES_PEOPLE, PEOPLE_BEHIND};
static const enum dw_column allocs_columns[] = {DWELL_COLUMNS_LINE, DWELL_COLUMNS_ALLOCS,
						DWELL_COLUMNS_LIFE, DWELL_COLUMN_END};
static const enum dw_column allocs_people[] = {DWELL_COLUMNS_ALLOCS_PEOPLE, PEOPLE_BEHIND};
static const enum dw_column statements_people[] = {DWELL_COLUMNS_CALLS_PEOPLE, PEOPLE_BEHIND};

const struct dw_view_ops dw_view_lines = {
	.name = "lines",
	.help = "every source line (statement), or those of FUNCTION in order",
	.samples = {DWELL_TOTALS_LINES, columns, people, DWELL_COLUMN_EXCLUSIVE},
	.calls = {DWELL_TOTALS_LINES, calls_columns, calls_people, DWELL_COLUMN_EI},
	.allocs = {DWELL_TOTALS_LINES, allocs_columns, allocs_people, DWELL_COLUMN_BYTES_EXCLUSIVE},
	.statements = {DWELL_TOTALS_LINES, calls_columns, statements_people, DWELL_COLUMN_EE},
	.function = DWELL_FUNCTION_MAY,
	.with_function = &dw_view_source_listing,
	.open = open_lines,
	.row = line_row,
	.values = line_values,
};
