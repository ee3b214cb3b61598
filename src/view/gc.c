/* The gc view: one row per garbage collection, in the order of time, with where it was triggered.
 */
#include "analysis/totals.h"
#include "view/column-groups.h"
#include "view/order.h"
#include "view/subject.h"
#include "view/views.h"

enum { PATH_FRAMES_MAX = 24 };

static int open_gc(struct dw_view *v)
{
	int rc = dw_order_all(v, v->request.totals->gcs.n);

	return rc ? rc : dw_order_sort(v, 0, v->n);
}

static const char *name_of(const struct dw_profile *p, uint32_t function)
{
	const struct dw_function *f = dw_functions_get(&p->functions, function);

	return f ? dw_strings_get(&p->strings, f->name) : "[unknown]";
}

/* The innermost function of @stack, 0 = none is known. */
static uint32_t innermost(const struct dw_profile *p, uint32_t stack)
{
	const struct dw_stack *s = dw_stacks_get(&p->stacks, stack);
	uint32_t n = 0;
	const struct dw_location *chain = s ? dw_locations_get(&p->locations, s->frame, &n) : NULL;

	return n ? chain[0].function : 0;
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
static void put_path(const struct dw_profile *p, uint32_t stack, struct dw_buf *b)
{
	uint32_t frames[PATH_FRAMES_MAX];
	const struct dw_stack *s;
	size_t n = 0;

	while (n < PATH_FRAMES_MAX && (s = dw_stacks_get(&p->stacks, stack))) {
		frames[n++] = s->frame;
		stack = s->parent < stack ? s->parent : 0;
	}
	if (n == PATH_FRAMES_MAX && stack)
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
	put_path(p, gc->stack, scratch);
	ret->path = dw_buf_str(scratch);
}

static const enum dw_column columns[] = {
	DWELL_COLUMN_GC_NUMBER, DWELL_COLUMN_PROCESS_ID,    DWELL_COLUMN_PROCESS_NAME,
	DWELL_COLUMN_ID,	DWELL_COLUMN_BEGIN_TIME,    DWELL_COLUMN_GC_GENERATION,
	DWELL_COLUMN_GC_TYPE,	DWELL_COLUMN_GC_REASON,	    DWELL_COLUMN_GC_PAUSE,
	DWELL_COLUMN_GC_ADDED,	DWELL_COLUMN_HEAP_BEFORE,   DWELL_COLUMN_HEAP_AFTER,
	DWELL_COLUMN_PROMOTED,	DWELL_COLUMN_FUNCTION_NAME, DWELL_COLUMN_CALL_PATH,
	DWELL_COLUMN_END};
static const enum dw_column defaults[] = {
	DWELL_COLUMN_GC_NUMBER,	 DWELL_COLUMN_GC_GENERATION, DWELL_COLUMN_BEGIN_TIME,
	DWELL_COLUMN_GC_PAUSE,	 DWELL_COLUMN_GC_ADDED,	     DWELL_COLUMN_HEAP_BEFORE,
	DWELL_COLUMN_HEAP_AFTER, DWELL_COLUMN_PROMOTED,	     DWELL_COLUMN_GC_TYPE,
	DWELL_COLUMN_GC_REASON,	 DWELL_COLUMN_FUNCTION_NAME, DWELL_COLUMN_CALL_PATH,
	DWELL_COLUMN_END};

const struct dw_view_ops dw_view_gc = {
	.name = "gc",
	.help = "garbage collections: when, why, how long, and what was left",
	.parts = DWELL_TOTALS_GCS,
	.columns = columns,
	.defaults = defaults,
	.sort = DWELL_COLUMN_BEGIN_TIME,
	.needs = DWELL_MEASURE_OBJECTS,
	.open = open_gc,
	.row = gc_row,
};
