/*
 * Waits by kind: what threads waited for, how long, in which function of the user's code most, and
 * of locks which function others had to wait for most.
 * Kinds that other views leave out have rows, too.
 */
#include "analysis/totals.h"
#include "view/rows.h"

static int open_waits(struct dw_view *v)
{
	const struct dw_wait_total *waits = v->request.totals->waits;
	size_t n = 0;
	int rc = dw_order_all(v, DWELL_WAIT_KINDS);

	if (rc)
		return rc;
	for (uint32_t kind = 0; kind < DWELL_WAIT_KINDS; kind++)
		if (waits[kind].ns)
			v->items[n++] = kind;
	v->n = n;
	return dw_order_sort(v, 0, n);
}

static void wait_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
		     struct dw_row *ret)
{
	const struct dw_wait_total *w = &v->request.totals->waits[item];

	(void)scratch;
	dw_row_set_function(v, w->function ? w->function : (uint32_t)DWELL_FUNCTION_UNKNOWN, ret);
	ret->process = 0;
	ret->wait = w;
}

static const enum dw_column columns[] = {DWELL_COLUMN_WAIT_KIND,     DWELL_COLUMN_WAIT_TIME,
					 DWELL_COLUMN_WAIT_PCT,	     DWELL_COLUMN_WAIT_THREADS,
					 DWELL_COLUMN_WAIT_COUNTS,   DWELL_COLUMN_WAIT_MOST,
					 DWELL_COLUMN_FUNCTION_NAME, DWELL_COLUMN_MODULE_NAME,
					 DWELL_COLUMN_WAIT_HELD_BY,  DWELL_COLUMN_END};

const struct dw_view_ops dw_view_waits = {
	.name = "waits",
	.help = "what threads waited for: locks, files, sockets, work ...",
	.parts = DWELL_TOTALS_WAITS,
	.columns = columns,
	.defaults = columns,
	.sort = DWELL_COLUMN_WAIT_TIME,
	.needs = DWELL_MEASURE_BLOCKED,
	.open = open_waits,
	.row = wait_row,
};
