/*
 * The slowest calls: single activations with when, where and by what path, and how their time
 * divides: the function's own work, its callees' work, I/O, other blocking calls, switched away.
 *
 * The path is a text of its own, recursion folded as in the tree; a deep one shows its end, which
 * tells activations apart.
 */
#include "analysis/totals.h"
#include "view/column-groups.h"
#include "view/order.h"
#include "view/subject.h"
#include "view/views.h"

enum { PATH_MAX_CALLERS = 24 };

static int open_slowest(struct dw_view *v)
{
	int rc = dw_order_all(v, v->request.totals->slow.n);

	return rc ? rc : dw_order_sort(v, 0, v->n);
}

/* The name of the function that @node runs. */
static const char *callee_name(const struct dw_profile *p, const struct dw_call_node *node)
{
	uint32_t n;
	const struct dw_location *chain = dw_locations_get(&p->locations, node->entry, &n);
	const struct dw_function *f =
		n ? dw_functions_get(&p->functions, chain[n - 1].function) : NULL;

	return f ? dw_strings_get(&p->strings, f->name) : "[unknown]";
}

/* Write the callers of @id to @b, outermost first. */
static void put_path(const struct dw_profile *p, uint32_t id, struct dw_buf *b)
{
	const struct dw_call_node *node, *path[PATH_MAX_CALLERS];
	size_t n = 0;

	while ((node = dw_calls_get(&p->calls, id)) && !(node->flags & DWELL_CALL_ROOT) &&
	       n < PATH_MAX_CALLERS) {
		if (!(node->flags & DWELL_CALL_LINE))
			path[n++] = node;
		id = node->parent < id ? node->parent : 0;
	}
	if (n == PATH_MAX_CALLERS)
		dw_buf_puts(b, "... > ");
	while (n--)
		dw_buf_printf(b, "%s%s", callee_name(p, path[n]), n ? " > " : "");
}

static void slow_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
		     struct dw_row *ret)
{
	const struct dw_profile *p = v->request.profile;
	const struct dw_slow_total *t = &v->request.totals->slow.v[item];
	const struct dw_call_slow *slow = &p->calls.slow.v[t->slow];
	const struct dw_call_node *node = dw_calls_get(&p->calls, slow->node);

	dw_subject_function(v, t->process, t->function, ret);
	ret->thread = node->thread;
	ret->slow = slow;
	ret->flags |= DWELL_ROW_HAS_BEGIN;
	ret->begin_ns = slow->start_ns;
	dw_subject_amounts(v, t->amounts, ret);
	dw_buf_clear(scratch);
	put_path(p, slow->node, scratch);
	ret->path = dw_buf_str(scratch);
}

static const enum dw_column columns[] = {DWELL_COLUMNS_GENERAL,
					 DWELL_COLUMN_ID,
					 DWELL_COLUMN_BEGIN_TIME,
					 DWELL_COLUMN_CALL_PATH,
					 DWELL_COLUMN_PROBES_INCLUSIVE,
					 DWELL_COLUMN_EI,
					 DWELL_COLUMN_EE,
					 DWELL_COLUMN_AI,
					 DWELL_COLUMN_AE,
					 DWELL_COLUMN_CALLEES,
					 DWELL_COLUMN_IO,
					 DWELL_COLUMN_BLOCKING,
					 DWELL_COLUMN_SWITCHED,
					 DWELL_COLUMN_BLOCKED_INCLUSIVE,
					 DWELL_COLUMN_BLOCKED_EXCLUSIVE,
					 DWELL_COLUMN_SWITCHES,
					 DWELL_COLUMN_IO_CALLS,
					 DWELL_COLUMN_BLOCKING_CALLS,
					 DWELL_COLUMN_END};
static const enum dw_column defaults[] = {
	DWELL_COLUMN_EI,	DWELL_COLUMN_AE,       DWELL_COLUMN_CALLEES,	DWELL_COLUMN_IO,
	DWELL_COLUMN_BLOCKING,	DWELL_COLUMN_SWITCHED, DWELL_COLUMN_BEGIN_TIME, DWELL_COLUMN_ID,
	DWELL_COLUMN_CALL_PATH, DWELL_COLUMN_END};

const struct dw_view_ops dw_view_slowest = {
	.name = "slowest",
	.help = "single calls that took longest, of all functions or of FUNCTION",
	.parts = DWELL_TOTALS_SLOWEST,
	.columns = columns,
	.defaults = defaults,
	.sort = DWELL_COLUMN_EI,
	.needs = DWELL_MEASURE_CALLS,
	.function = DWELL_FUNCTION_MAY,
	.open = open_slowest,
	.row = slow_row,
};
