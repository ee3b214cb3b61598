/*
 * The summary: the hot path, then the functions that do most work themselves; of allocations also
 * the types that most memory, and most objects, went to. What is said around these rows for people
 * is format/summary.c's.
 */
#include "analysis/hot-rows.h"
#include "analysis/prune.h"
#include "analysis/totals.h"
#include "view/column-groups.h"
#include "view/order.h"
#include "view/subject.h"
#include "view/views.h"

#include <errno.h>
#include <stdlib.h>

enum { FUNCTIONS_MAX = 8, TYPES_MAX = 8, TYPE_LISTS = 3 };

static const struct {
	enum dw_hot_order order;
	const char *section;
} type_lists[TYPE_LISTS] = {
	{DWELL_HOT_TYPES_BYTES, "Types with Most Memory Allocated"},
	{DWELL_HOT_TYPES_OBJECTS, "Types with Most Instances"},
	{DWELL_HOT_TYPES_OLD_BYTES, "Types with Most Memory Collected in Gen 2"},
};

struct summary {
	struct dw_hot_path path;
	struct dw_hot_rows functions;
	struct dw_hot_rows waiting;	      /* without waits there are none */
	struct dw_hot_rows types[TYPE_LISTS]; /* without allocations they are empty */
	size_t waiting_end;
	size_t ends[2 + TYPE_LISTS]; /* items: behind the path, the functions, ... */
};

static int open_summary(struct dw_view *v)
{
	struct summary *s = v->own = calloc(1, sizeof *s);
	const struct dw_view_request *r = &v->request;

	if (!s || dw_hot_path_find(r->totals, &s->path) ||
	    dw_hot_rows_find(r->profile, r->totals, DWELL_HOT_WORK, FUNCTIONS_MAX, &s->functions) ||
	    dw_hot_rows_find(r->profile, r->totals, DWELL_HOT_WAITS, FUNCTIONS_MAX, &s->waiting))
		return -ENOMEM;
	s->ends[0] = s->path.nodes.n;
	s->ends[1] = s->ends[0] + s->functions.rows.n;
	for (int i = 0; i < TYPE_LISTS; i++) {
		if (dw_hot_rows_find(r->profile, r->totals, type_lists[i].order, TYPES_MAX,
				     &s->types[i]))
			return -ENOMEM;
		s->ends[2 + i] = s->ends[1 + i] + s->types[i].rows.n;
	}
	/* Only one of waits and types can be there. */
	s->waiting_end = s->ends[1 + TYPE_LISTS] + s->waiting.rows.n;
	return dw_order_all(v, s->waiting_end);
}

static const char *work_section(const struct dw_view *v)
{
	static const char *const sections[] = {
		[DWELL_METHOD_SAMPLING] = "Functions Doing Most Individual Work",
		[DWELL_METHOD_INSTRUMENTATION] = "Functions with Most Individual Work",
		[DWELL_METHOD_MEMORY] = "Functions Allocating Most Memory",
	};

	return sections[dw_profile_method(v->request.profile)];
}

static void function_row(const struct dw_view *v, const struct dw_hot_rows *list, size_t i,
			 const char *section, struct dw_row *ret)
{
	const struct dw_hot_row *f = &list->rows.v[i];

	dw_subject_function_total(v, &v->request.totals->functions.v[f->row], ret);
	dw_subject_measured(v, dw_hot_rows_measured(list, i), ret);
	ret->section = section;
	ret->processes = f->processes;
}

static void type_row(const struct dw_view *v, const struct dw_hot_rows *list, size_t i,
		     struct dw_row *ret)
{
	const struct dw_hot_row *t = &list->rows.v[i];

	dw_subject_type(v, v->request.totals->types.v[t->row].type, ret);
	dw_subject_measured(v, dw_hot_rows_measured(list, i), ret);
	ret->processes = t->processes;
}

static void summary_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
			struct dw_row *ret)
{
	const struct summary *s = v->own;

	(void)scratch;
	if (item < s->ends[0]) {
		dw_subject_node(v, &v->request.totals->nodes.v[s->path.nodes.v[item]], ret);
		ret->section = "Hot Path";
	} else if (item < s->ends[1]) {
		function_row(v, &s->functions, item - s->ends[0], work_section(v), ret);
	} else if (item >= s->ends[1 + TYPE_LISTS]) {
		function_row(v, &s->waiting, item - s->ends[1 + TYPE_LISTS],
			     "Functions Waiting Longest", ret);
	} else {
		int i = 0;

		while (item >= s->ends[2 + i])
			i++;
		type_row(v, &s->types[i], item - s->ends[1 + i], ret);
		ret->section = type_lists[i].section;
	}
}

static void release_summary(struct dw_view *v)
{
	struct summary *s = v->own;

	if (s) {
		dw_hot_path_release(&s->path);
		dw_hot_rows_release(&s->functions);
		dw_hot_rows_release(&s->waiting);
		for (int i = 0; i < TYPE_LISTS; i++)
			dw_hot_rows_release(&s->types[i]);
	}
	free(s);
}

static const enum dw_column columns[] = {
	DWELL_COLUMN_SECTION,	DWELL_COLUMN_LEVEL,  DWELL_COLUMN_NAME,	  DWELL_COLUMN_MODULE_NAME,
	DWELL_COLUMN_PROCESSES, DWELL_COLUMN_COUNTS, DWELL_COLUMN_VALUES, DWELL_COLUMN_END};

const struct dw_view_ops dw_view_summary = {
	.name = "summary",
	.help = "the hot path and the functions that do most of the work",
	.parts = DWELL_TOTALS_NODES | DWELL_TOTALS_FUNCTIONS | DWELL_TOTALS_TASKS |
		 DWELL_TOTALS_SLOWEST | DWELL_TOTALS_OUTSIDE | DWELL_TOTALS_TYPES |
		 DWELL_TOTALS_GCS,
	.columns = columns,
	.defaults = columns,
	.sort = DWELL_COLUMN_END,
	.open = open_summary,
	.row = summary_row,
	.release = release_summary,
};
