/* The functions view: one row per function and process. */
#include "analysis/totals.h"
#include "view/columns-of.h"
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

static const enum dw_column columns[] = {DWELL_COLUMNS_GENERAL, DWELL_COLUMNS_SAMPLES,
					 DWELL_COLUMN_END};
static const enum dw_column people[] = {DWELL_COLUMNS_SAMPLES_PEOPLE, DWELL_COLUMN_FUNCTION_NAME,
					DWELL_COLUMN_MODULE_NAME, DWELL_COLUMN_END};
static const enum dw_column calls_columns[] = {DWELL_COLUMNS_GENERAL, DWELL_COLUMNS_CALLS,
					       DWELL_COLUMNS_TIMES,   DWELL_COLUMN_MUTED,
					       DWELL_COLUMN_COUNTED,  DWELL_COLUMN_END};
static const enum dw_column calls_people[] = {DWELL_COLUMNS_CALLS_PEOPLE,
					      DWELL_COLUMN_FUNCTION_NAME, DWELL_COLUMN_MODULE_NAME,
					      DWELL_COLUMN_END};
static const enum dw_column allocs_columns[] = {DWELL_COLUMNS_GENERAL, DWELL_COLUMNS_ALLOCS,
						DWELL_COLUMNS_LIFE, DWELL_COLUMN_END};
static const enum dw_column allocs_people[] = {DWELL_COLUMNS_ALLOCS_PEOPLE,
					       DWELL_COLUMN_FUNCTION_NAME, DWELL_COLUMN_MODULE_NAME,
					       DWELL_COLUMN_END};

const struct dw_view_ops dw_view_functions = {
	.name = "functions",
	.help = "every function, the one with the most time of its own first",
	.samples = {DWELL_TOTALS_FUNCTIONS, columns, people, DWELL_COLUMN_EXCLUSIVE},
	.calls = {DWELL_TOTALS_FUNCTIONS, calls_columns, calls_people, DWELL_COLUMN_EE},
	.allocs = {DWELL_TOTALS_FUNCTIONS, allocs_columns, allocs_people,
		   DWELL_COLUMN_BYTES_EXCLUSIVE},
	.open = open_functions,
	.row = function_row,
};
