/*
 * The lines view: one row per statement of a function, in each process. In a session of calls these
 * are the statements that called something, with what their callees took; where statements had
 * probes themselves, all that were come to, with times of their own. Of one function:
 * source-listing.c.
 */
#include "analysis/totals.h"
#include "view/column-groups.h"
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
	const struct dw_totals *t = v->request.totals;

	return dw_totals_values(t, t->lines.v[item].amounts);
}

static const enum dw_column columns[] = {DWELL_COLUMNS_LINE, DWELL_COLUMN_COUNTS,
					 DWELL_COLUMN_VALUES, DWELL_COLUMN_END};
static const enum dw_column defaults[] = {DWELL_COLUMN_DEFAULT_VALUES, DWELL_COLUMN_FUNCTION_NAME,
					  DWELL_COLUMN_SOURCE_FILE,    DWELL_COLUMN_LINE_BEGIN,
					  DWELL_COLUMN_SOURCE_TEXT,    DWELL_COLUMN_END};

const struct dw_view_ops dw_view_lines = {
	.name = "lines",
	.help = "every source line (statement), or those of FUNCTION in order",
	.parts = DWELL_TOTALS_LINES,
	.columns = columns,
	.defaults = defaults,
	.sort = DWELL_COLUMN_LEAD_EXCLUSIVE,
	.sites = DWELL_SITES_WITHOUT_STATEMENTS,
	.function = DWELL_FUNCTION_MAY,
	.with_function = &dw_view_source_listing,
	.open = open_lines,
	.row = line_row,
	.values = line_values,
};
