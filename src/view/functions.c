/* The functions view: one row per function and process. */
#include "analysis/totals.h"
#include "view/column-groups.h"
#include "view/order.h"
#include "view/subject.h"
#include "view/views.h"

static int open_functions(struct dw_view *v)
{
	int rc = dw_order_all(v, v->request.totals->functions.n);

	return rc ? rc : dw_order_sort(v, 0, v->n);
}

static void function_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
			 struct dw_row *ret)
{
	const struct dw_function_total *t = &v->request.totals->functions.v[item];

	(void)scratch;
	dw_subject_function_total(v, t, ret);
}

static const enum dw_column columns[] = {DWELL_COLUMNS_GENERAL, DWELL_COLUMN_COUNTS,
					 DWELL_COLUMN_VALUES,	DWELL_COLUMN_MUTED,
					 DWELL_COLUMN_COUNTED,	DWELL_COLUMN_END};
static const enum dw_column defaults[] = {DWELL_COLUMN_DEFAULT_VALUES, DWELL_COLUMN_FUNCTION_NAME,
					  DWELL_COLUMN_MODULE_NAME, DWELL_COLUMN_END};

const struct dw_view_ops dw_view_functions = {
	.name = "functions",
	.help = "every function, the one with the most time of its own first",
	.parts = DWELL_TOTALS_FUNCTIONS,
	.columns = columns,
	.defaults = defaults,
	.sort = DWELL_COLUMN_LEAD_EXCLUSIVE,
	.open = open_functions,
	.row = function_row,
};
