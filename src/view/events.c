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

#include <errno.h>
#include <stdlib.h>

enum { PATH_FRAMES = 24 };

static const char *name_of(const struct dw_profile *p, uint32_t function)
{
	const struct dw_function *f = dw_functions_get(&p->functions, function);

	return f ? dw_strings_get(&p->strings, f->name) : "[unknown]";
}

/* Of each of the slowest calls the one that explains it: index + 1, 0 = none. */
struct slowest {
	uint32_t *explained_by, *depth;
};

static const struct dw_call_slow *slow_at(const struct dw_view *v, size_t i)
{
	return &v->request.profile->calls.slow.v[v->request.totals->slow.v[i].slow];
}

/* Whether @inner, whose path leads over that of @outer, was called by it, and took most of it. */
static bool explains(const struct dw_call_slow *inner, const struct dw_call_slow *outer)
{
	uint64_t lasted = outer->inclusive.elapsed_ns + outer->inclusive.overhead_ns;

	return inner->start_ns >= outer->start_ns && inner->start_ns - outer->start_ns <= lasted &&
	       inner->inclusive.elapsed_ns <= outer->inclusive.elapsed_ns &&
	       inner->inclusive.elapsed_ns >= outer->inclusive.elapsed_ns / 2;
}

/* Let call @i explain those that it was called from. @by_node: the index + 1 of a call by its path.
 */
static void explain_callers(const struct dw_view *v, struct slowest *s, const uint32_t *by_node,
			    uint32_t i)
{
	const struct dw_calls *calls = &v->request.profile->calls;
	const struct dw_call_slow *slow = slow_at(v, i);
	const struct dw_call_node *node = dw_calls_get(calls, slow->node);

	for (uint32_t up = slow->node, depth = 1; node && node->parent < up; depth++) {
		uint32_t outer;

		up = node->parent;
		node = dw_calls_get(calls, up);
		outer = by_node[up];
		if (!outer || s->depth[outer - 1] >= depth ||
		    !explains(slow, slow_at(v, outer - 1)))
			continue;
		s->explained_by[outer - 1] = i + 1;
		s->depth[outer - 1] = depth;
	}
}

static int open_slowest(struct dw_view *v)
{
	uint32_t n = (uint32_t)v->request.totals->slow.n;
	struct slowest *s = v->own = calloc(1, sizeof *s);
	uint32_t *by_node =
		calloc(dw_calls_count(&v->request.profile->calls) + 1ul, sizeof *by_node);

	if (s) {
		s->explained_by = calloc(n + 1ul, sizeof *s->explained_by);
		s->depth = calloc(n + 1ul, sizeof *s->depth);
	}
	if (!s || !by_node || !s->explained_by || !s->depth) {
		free(by_node);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++)
		by_node[slow_at(v, i)->node] = i + 1;
	for (uint32_t i = 0; i < n; i++)
		explain_callers(v, s, by_node, i);
	free(by_node);
	return dw_order_list(v, n);
}

static void release_slowest(struct dw_view *v)
{
	struct slowest *s = v->own;

	if (s) {
		free(s->explained_by);
		free(s->depth);
	}
	free(s);
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
	const struct slowest *s = v->own;

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
	if (s->explained_by[item])
		ret->deepest = callee_name(
			p, dw_calls_get(&p->calls, slow_at(v, s->explained_by[item] - 1)->node));
}

#define SLOWEST_COLUMNS                                                                           \
	DWELL_COLUMNS_PROCESS, DWELL_COLUMNS_CODE, DWELL_COLUMN_ID, DWELL_COLUMN_BEGIN_TIME,      \
		DWELL_COLUMN_DEEPEST_CALL, DWELL_COLUMN_CALL_PATH, DWELL_COLUMN_PROBES_INCLUSIVE, \
		DWELL_COLUMN_EI, DWELL_COLUMN_EE, DWELL_COLUMN_AI, DWELL_COLUMN_AE,               \
		DWELL_COLUMN_CALLEES, DWELL_COLUMN_IO, DWELL_COLUMN_BLOCKING,                     \
		DWELL_COLUMN_SWITCHED, DWELL_COLUMN_BLOCKED_INCLUSIVE,                            \
		DWELL_COLUMN_BLOCKED_EXCLUSIVE, DWELL_COLUMN_SWITCHES, DWELL_COLUMN_IO_CALLS,     \
		DWELL_COLUMN_BLOCKING_CALLS

static const enum dw_column slowest_columns[] = {SLOWEST_COLUMNS, DWELL_COLUMN_END};
static const enum dw_column slowest_defaults[] = {
	DWELL_COLUMN_EI,	   DWELL_COLUMN_AE,	   DWELL_COLUMN_CALLEES,
	DWELL_COLUMN_IO,	   DWELL_COLUMN_BLOCKING,  DWELL_COLUMN_SWITCHED,
	DWELL_COLUMN_BEGIN_TIME,   DWELL_COLUMN_ID,	   DWELL_COLUMN_FUNCTION_NAME,
	DWELL_COLUMN_DEEPEST_CALL, DWELL_COLUMN_CALL_PATH, DWELL_COLUMN_END};

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
	.release = release_slowest,
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
