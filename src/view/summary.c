/*
 * The summary: the hot path, then the functions that do most work themselves. What is said around
 * these rows for people is format/summary.c's.
 */
#include "analysis/hot-functions.h"
#include "analysis/hot-path.h"
#include "analysis/totals.h"
#include "view/columns-of.h"
#include "view/order.h"
#include "view/subject.h"
#include "view/views.h"

#include <errno.h>
#include <stdlib.h>

enum { FUNCTIONS_MAX = 8 };

struct summary {
	struct dw_hot_path path;
	struct dw_hot_functions functions;
};

static int open_summary(struct dw_view *v)
{
	struct summary *s = v->own = calloc(1, sizeof *s);
	const struct dw_view_request *r = &v->request;

	if (!s || dw_hot_path_find(r->totals, &s->path) ||
	    dw_hot_functions_find(r->profile, r->totals, FUNCTIONS_MAX, &s->functions))
		return -ENOMEM;
	return dw_order_all(v, s->path.nodes.n + s->functions.rows.n);
}

static void function_row(const struct dw_view *v, const struct dw_hot_function *f,
			 struct dw_row *ret)
{
	const struct dw_totals *t = v->request.totals;

	dw_subject_function_total(v, &t->functions.v[f->row], ret);
	ret->section = t->calls.n ? "Functions with Most Individual Work"
				  : "Functions Doing Most Individual Work";
	ret->processes = f->processes;
	ret->values = f->values;
	ret->calls = t->calls.n ? &f->calls : NULL;
	ret->ranges = &f->ranges;
}

static void summary_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
			struct dw_row *ret)
{
	const struct summary *s = v->own;
	const struct dw_node_total *n;

	(void)scratch;
	if (item >= s->path.nodes.n)
		return function_row(v, &s->functions.rows.v[item - s->path.nodes.n], ret);
	n = &v->request.totals->nodes.v[s->path.nodes.v[item]];
	dw_subject_node(v, n, ret);
	ret->section = "Hot Path";
}

static void release_summary(struct dw_view *v)
{
	struct summary *s = v->own;

	if (s) {
		dw_hot_path_release(&s->path);
		dw_hot_functions_release(&s->functions);
	}
	free(s);
}

static const enum dw_column columns[] = {
	DWELL_COLUMN_SECTION,	DWELL_COLUMN_LEVEL,    DWELL_COLUMN_NAME, DWELL_COLUMN_MODULE_NAME,
	DWELL_COLUMN_PROCESSES, DWELL_COLUMNS_SAMPLES, DWELL_COLUMN_END};
static const enum dw_column calls_columns[] = {
	DWELL_COLUMN_SECTION,	DWELL_COLUMN_LEVEL,  DWELL_COLUMN_NAME,	  DWELL_COLUMN_MODULE_NAME,
	DWELL_COLUMN_PROCESSES, DWELL_COLUMNS_CALLS, DWELL_COLUMNS_TIMES, DWELL_COLUMN_END};

const struct dw_view_ops dw_view_summary = {
	.name = "summary",
	.help = "the hot path and the functions that do most of the work",
	.samples = {DWELL_TOTALS_NODES | DWELL_TOTALS_FUNCTIONS | DWELL_TOTALS_TASKS, columns,
		    columns, DWELL_COLUMN_END},
	.calls = {DWELL_TOTALS_NODES | DWELL_TOTALS_FUNCTIONS | DWELL_TOTALS_TASKS |
			  DWELL_TOTALS_SLOWEST,
		  calls_columns, calls_columns, DWELL_COLUMN_END},
	.open = open_summary,
	.row = summary_row,
	.release = release_summary,
};
