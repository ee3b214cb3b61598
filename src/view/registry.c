/* The list of views, and opening one. */
#include "view/views.h"

#include <stdlib.h>
#include <string.h>

/* Rows come in an order that no cache likes: how many rows early their values are asked for. */
enum { AHEAD = 8 };

const struct dw_view_ops *const dw_views[] = {
	&dw_view_summary,      &dw_view_functions,
	&dw_view_calltree,     &dw_view_callers,
	&dw_view_modules,      &dw_view_lines,
	&dw_view_instructions, &dw_view_processes,
	&dw_view_threads,      &dw_view_slowest,
	&dw_view_allocations,  &dw_view_lifetime,
	&dw_view_gc,	       NULL,
};

const struct dw_view_ops *dw_view_find(const char *name)
{
	const struct dw_view_ops *const *ops = dw_views;

	while (*ops && strcmp((*ops)->name, name))
		ops++;
	return *ops;
}

const struct dw_view_columns *dw_view_columns(const struct dw_view_ops *ops,
					      const struct dw_profile *p)
{
	switch (dw_profile_method(p)) {
	case DWELL_METHOD_INSTRUMENTATION:
		return ops->statements.all && dw_facts_get(&p->facts, "statements_instrumented", 0)
			       ? &ops->statements
			       : &ops->calls;
	case DWELL_METHOD_MEMORY:
		return &ops->allocs;
	default:
		return &ops->samples;
	}
}

/* Whether @p may know of @column: the life of objects is not known of samples, errors only of them,
 * and what a range changed only of one.
 */
static bool has_column(const struct dw_profile *p, enum dw_column column)
{
	bool is_sampling = dw_profile_method(p) == DWELL_METHOD_SAMPLING;
	bool is_sampled = dw_facts_get(&p->facts, "sample_bytes", 0) > 0;

	if (column >= DWELL_COLUMN_BLOCKED_INCLUSIVE &&
	    column <= DWELL_COLUMN_BLOCKED_EXCLUSIVE_PCT)
		return !is_sampling || dw_profile_has_waits(p);
	if (column >= DWELL_COLUMN_BYTES_INCLUSIVE_ERROR && column <= DWELL_COLUMN_BYTES_ERROR)
		return is_sampled;
	if ((column >= DWELL_COLUMN_INSTANCES_BEFORE && column <= DWELL_COLUMN_INSTANCES_MOST) ||
	    (column >= DWELL_COLUMN_BYTES_BEFORE && column <= DWELL_COLUMN_BYTES_MOST))
		return !is_sampled && dw_allocations_ranged(&p->allocations);
	if (column == DWELL_COLUMN_INSTANCES || column == DWELL_COLUMN_INSTANCES_PCT ||
	    column == DWELL_COLUMN_BYTES || column == DWELL_COLUMN_BYTES_PCT)
		return true;
	return !is_sampled || column < DWELL_COLUMN_INSTANCES || column > DWELL_COLUMN_BYTES_MOST;
}

void dw_view_list_columns(const struct dw_profile *p, const enum dw_column *from,
			  enum dw_column *ret)
{
	for (; *from; from++)
		if (has_column(p, *from))
			*ret++ = *from;
	*ret = DWELL_COLUMN_END;
}

int dw_view_open(struct dw_view *v, const struct dw_view_ops *ops,
		 const struct dw_view_request *request)
{
	*v = (struct dw_view){.ops = ops, .request = *request};
	return ops->open(v);
}

void dw_view_row(const struct dw_view *v, size_t i, struct dw_buf *scratch, struct dw_row *ret)
{
	if (v->ops->values && i + AHEAD < v->n)
		__builtin_prefetch(v->ops->values(v, v->items[i + AHEAD]));
	*ret = (struct dw_row){0};
	v->ops->row(v, v->items[i], scratch, ret);
}

struct dw_values dw_view_values(const struct dw_view *v, size_t i, struct dw_buf *scratch)
{
	struct dw_row row;

	if (v->ops->values)
		return *v->ops->values(v, v->items[i]);
	dw_view_row(v, i, scratch, &row);
	return row.values;
}

void dw_view_release(struct dw_view *v)
{
	if (v->ops && v->ops->release)
		v->ops->release(v);
	free(v->items);
	*v = (struct dw_view){0};
}
