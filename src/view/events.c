/*
 * The views of single events, each with when and by what path it came to be, a text of its own of
 * which a deep one shows its end, which tells events apart.
 *
 * The slowest calls say how their time divides: the function's own work, its callees' work, I/O,
 * other blocking calls, switched away; recursion is folded as in the tree. Garbage collections come
 * in the order of time, with where each was triggered.
 */
#include "analysis/totals.h"
#include "view/rows.h"

enum { PATH_FRAMES = 24 };

static const char *name_of(const struct dw_profile *p, uint32_t function)
{
	const struct dw_function *f = dw_functions_get(&p->functions, function);

	return f ? dw_strings_get(&p->strings, f->name) : "[unknown]";
}

static int open_slowest(struct dw_view *v)
{
	return dw_order_list(v, v->request.totals->slow.n);
}

static const char *callee_name(const struct dw_profile *p, const struct dw_call_node *node)
{
	uint32_t n;
	const struct dw_location *chain = dw_locations_get(&p->locations, node->entry, &n);

	return name_of(p, n ? chain[n - 1].function : 0);
}

/* Write the callers of @id to @b, outermost first. */
static void put_callers(const struct dw_profile *p, uint32_t id, struct dw_buf *b)
{
	const struct dw_call_node *node, *path[PATH_FRAMES];
	size_t n = 0;

	while ((node = dw_calls_get(&p->calls, id)) && !(node->flags & DWELL_CALL_ROOT) &&
	       n < PATH_FRAMES) {
		if (!(node->flags & DWELL_CALL_LINE))
			path[n++] = node;
		id = node->parent < id ? node->parent : 0;
	}
	if (n == PATH_FRAMES)
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

	dw_row_set_function(v, t->function, ret);
	ret->process = t->process;
	ret->thread = node->thread;
	ret->slow = slow;
	ret->flags |= DWELL_ROW_HAS_BEGIN;
	ret->begin_ns = slow->start_ns;
	dw_row_set_amounts(v, t->amounts, ret);
	dw_buf_clear(scratch);
	put_callers(p, slow->node, scratch);
	ret->path = dw_buf_str(scratch);
}

#define SLOWEST_COLUMNS                                                                      \
	DWELL_COLUMNS_PROCESS, DWELL_COLUMNS_CODE, DWELL_COLUMN_ID, DWELL_COLUMN_BEGIN_TIME, \
		DWELL_COLUMN_CALL_PATH, DWELL_COLUMN_PROBES_INCLUSIVE, DWELL_COLUMN_EI,      \
		DWELL_COLUMN_EE, DWELL_COLUMN_AI, DWELL_COLUMN_AE, DWELL_COLUMN_CALLEES,     \
		DWELL_COLUMN_IO, DWELL_COLUMN_BLOCKING, DWELL_COLUMN_SWITCHED,               \
		DWELL_COLUMN_BLOCKED_INCLUSIVE, DWELL_COLUMN_BLOCKED_EXCLUSIVE,              \
		DWELL_COLUMN_SWITCHES, DWELL_COLUMN_IO_CALLS, DWELL_COLUMN_BLOCKING_CALLS

static const enum dw_column slowest_columns[] = {SLOWEST_COLUMNS, DWELL_COLUMN_END};
static const enum dw_column slowest_defaults[] = {
	DWELL_COLUMN_EI,	 DWELL_COLUMN_AE,	DWELL_COLUMN_CALLEES,
	DWELL_COLUMN_IO,	 DWELL_COLUMN_BLOCKING, DWELL_COLUMN_SWITCHED,
	DWELL_COLUMN_BEGIN_TIME, DWELL_COLUMN_ID,	DWELL_COLUMN_FUNCTION_NAME,
	DWELL_COLUMN_CALL_PATH,	 DWELL_COLUMN_END};

const struct dw_view_ops dw_view_slowest = {
	.name = "slowest",
	.help = "single calls that took longest, of all functions or of FUNCTION",
	.parts = DWELL_TOTALS_SLOWEST,
	.columns = slowest_columns,
	.defaults = slowest_defaults,
	.sort = DWELL_COLUMN_EI,
	.needs = DWELL_MEASURE_CALLS,
	.function = DWELL_FUNCTION_MAY,
	.open = open_slowest,
	.row = slow_row,
};

static int open_gc(struct dw_view *v)
{
	return dw_order_list(v, v->request.totals->gcs.n);
}

/* The innermost function of @stack, 0 = none is known. */
static uint32_t innermost(const struct dw_profile *p, uint32_t stack)
{
	const struct dw_stack *s = dw_stacks_get(&p->stacks, stack);

	return s ? dw_locations_innermost(&p->locations, s->frame) : 0;
}

/* The functions of @frame to @b, outermost first. */
static void put_frame(const struct dw_profile *p, uint32_t frame, struct dw_buf *b)
{
	uint32_t n;
	const struct dw_location *chain = dw_locations_get(&p->locations, frame, &n);

	if (!n)
		dw_buf_printf(b, "%s[unknown]", b->len ? " > " : "");
	while (n--)
		dw_buf_printf(b, "%s%s", b->len ? " > " : "", name_of(p, chain[n].function));
}

/* The functions of @stack to @b, outermost first; of a deep one its end. */
static void put_stack(const struct dw_profile *p, uint32_t stack, struct dw_buf *b)
{
	uint32_t frames[PATH_FRAMES];
	const struct dw_stack *s;
	size_t n = 0;

	while (n < PATH_FRAMES && (s = dw_stacks_get(&p->stacks, stack))) {
		frames[n++] = s->frame;
		stack = s->parent < stack ? s->parent : 0;
	}
	if (n == PATH_FRAMES && stack)
		dw_buf_puts(b, "...");
	while (n--)
		put_frame(p, frames[n], b);
}

static void gc_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
		   struct dw_row *ret)
{
	const struct dw_profile *p = v->request.profile;
	const struct dw_gc *gc = &p->allocations.gcs.v[v->request.totals->gcs.v[item]];

	ret->name = DWELL_NAME_PROCESS;
	ret->process = gc->process;
	ret->thread = gc->thread;
	ret->flags |= DWELL_ROW_HAS_BEGIN;
	ret->begin_ns = gc->start_ns;
	ret->gc = gc;
	ret->function = innermost(p, gc->stack);
	dw_buf_clear(scratch);
	put_stack(p, gc->stack, scratch);
	ret->path = dw_buf_str(scratch);
}

static const enum dw_column gc_columns[] = {
	DWELL_COLUMN_GC_NUMBER,	    DWELL_COLUMNS_PROCESS,	DWELL_COLUMN_ID,
	DWELL_COLUMN_BEGIN_TIME,    DWELL_COLUMN_GC_GENERATION, DWELL_COLUMN_GC_TYPE,
	DWELL_COLUMN_GC_REASON,	    DWELL_COLUMN_GC_PAUSE,	DWELL_COLUMN_GC_ADDED,
	DWELL_COLUMN_HEAP_BEFORE,   DWELL_COLUMN_HEAP_AFTER,	DWELL_COLUMN_PROMOTED,
	DWELL_COLUMN_FUNCTION_NAME, DWELL_COLUMN_CALL_PATH,	DWELL_COLUMN_END};
static const enum dw_column gc_defaults[] = {
	DWELL_COLUMN_GC_NUMBER,	 DWELL_COLUMN_GC_GENERATION, DWELL_COLUMN_BEGIN_TIME,
	DWELL_COLUMN_GC_PAUSE,	 DWELL_COLUMN_GC_ADDED,	     DWELL_COLUMN_HEAP_BEFORE,
	DWELL_COLUMN_HEAP_AFTER, DWELL_COLUMN_PROMOTED,	     DWELL_COLUMN_GC_TYPE,
	DWELL_COLUMN_GC_REASON,	 DWELL_COLUMN_FUNCTION_NAME, DWELL_COLUMN_CALL_PATH,
	DWELL_COLUMN_END};

const struct dw_view_ops dw_view_gc = {
	.name = "gc",
	.help = "garbage collections: when, why, how long, and what was left",
	.parts = DWELL_TOTALS_GCS,
	.columns = gc_columns,
	.defaults = gc_defaults,
	.sort = DWELL_COLUMN_BEGIN_TIME,
	.needs = DWELL_MEASURE_OBJECTS,
	.open = open_gc,
	.row = gc_row,
};
