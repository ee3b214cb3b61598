/*
 * The ways to allocate; see alloc-paths.h.
 *
 * A way is one type and one stack, of all threads together, and stands at a place of that stack: at
 * first at the function that allocated. To expand a node, its ways take one step outwards. Ways are
 * linked lists through one array.
 */
#include "analysis/alloc-paths.h"

#include "analysis/growth.h"
#include "analysis/subjects.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>

struct way {
	uint32_t stack; /* where it stands, 0 = at its outer end */
	uint32_t slot;	/* the function at hand there, as an offset from the innermost */
	uint32_t next;	/* way + 1, 0 ends */
	struct dw_alloc_values values;
};

struct paths {
	const struct dw_points *points;
	struct dw_subjects subjects;
	const struct dw_stacks *stacks;
	struct dw_totals *out;
	struct dw_growth growth;
	DW_VEC(struct way) ways;
};

/* All points by type and stack, whose numbers are the keys' halves. NULL without memory. */
static struct dw_sort_row *sort_points(const struct dw_points *t, size_t n)
{
	struct dw_sort_row *rows = malloc((n + 1) * sizeof *rows);

	for (size_t i = 0; rows && i < n; i++) {
		struct dw_point point = dw_points_get(t, i);

		rows[i] = (struct dw_sort_row){(uint64_t)point.type << 32 | point.stack, i};
	}
	if (!rows || !dw_sort_rows(rows, n))
		return rows;
	free(rows);
	return NULL;
}

static uint32_t type_of(const struct dw_sort_row *row)
{
	return (uint32_t)(row->key >> 32);
}

static uint32_t frame_of(const struct paths *b, uint32_t stack)
{
	const struct dw_stack *s = dw_stacks_get(b->stacks, stack);

	return s && s->frame < b->subjects.frames_n ? s->frame : 0;
}

/* The function at which @w stands. */
static uint32_t function_of(const struct paths *b, const struct way *w)
{
	return b->subjects.function[b->subjects.first[frame_of(b, w->stack)] + w->slot];
}

/* One step outwards. False at the outer end. */
static bool step(const struct paths *b, struct way *w)
{
	uint32_t frame = frame_of(b, w->stack), parent;
	const struct dw_stack *s = dw_stacks_get(b->stacks, w->stack);

	if (w->slot + 1 < b->subjects.first[frame + 1] - b->subjects.first[frame]) {
		w->slot++;
		return true;
	}
	parent = s && s->parent < w->stack ? s->parent : 0;
	w->stack = parent;
	w->slot = 0;
	return parent;
}

/* @w counts for @node; @own: it was allocated there. 0 or -ENOMEM. */
static int add_way(struct paths *b, uint32_t node, const struct way *w, bool own)
{
	struct dw_amounts *out = &b->out->node_amounts;
	struct dw_amount amount;

	dw_amount_of_allocs(out, &w->values, &amount);
	return dw_amounts_add(out, node, &amount, own ? DWELL_BOTH : DWELL_INCLUSIVE);
}

/* Put way number @i into the child of its function. */
static int add_to_child(struct paths *b, uint32_t i)
{
	struct way *w = &b->ways.v[i];
	uint32_t function = function_of(b, w), thread;
	uint32_t name = dw_subjects_row_function(&b->subjects, function, &thread);
	struct dw_pending *child = dw_growth_child(&b->growth, function, name, thread);

	if (!child || add_way(b, child->node, w, b->out->nodes.v[child->node].level == 1))
		return -ENOMEM;
	w->next = child->head;
	child->head = i + 1;
	return 0;
}

/* Make the children of @p. Below a type, ways stand where their function is; else they step. */
static int expand(struct paths *b, struct dw_pending p)
{
	bool stepping = b->out->nodes.v[p.node].level;
	int rc = 0;

	dw_growth_begin(&b->growth, p.node);
	for (uint32_t i = p.head, next; i && !rc; i = next) {
		struct way *w = &b->ways.v[i - 1];

		next = w->next;
		if (!stepping || step(b, w))
			rc = add_to_child(b, i - 1);
	}
	dw_growth_end(&b->growth);
	return rc;
}

/* The ways of one type, from its @n sorted points. */
static int gather(struct paths *b, const struct dw_sort_row *rows, size_t n)
{
	b->ways.n = 0;
	for (size_t i = 0; i < n; i++) {
		struct dw_alloc_values values = dw_points_allocs(b->points, rows[i].row);
		struct way w = {.stack = (uint32_t)rows[i].key, .next = (uint32_t)b->ways.n};

		if ((!i || rows[i].key != rows[i - 1].key) && dw_vec_push(&b->ways, w))
			return -ENOMEM;
		dw_alloc_values_add(&b->ways.v[b->ways.n - 1].values, &values);
	}
	return 0;
}

static int build_type(struct paths *b, const struct dw_sort_row *rows, size_t n)
{
	const struct dw_alloc_type *type =
		dw_allocations_get_type(&b->points->profile->allocations, type_of(rows));
	struct dw_node_total root = {.parent = UINT32_MAX,
				     .process = type ? type->process : 0,
				     .function = type_of(rows)};
	struct dw_pending p = {0};
	int rc = gather(b, rows, n);

	if (rc || dw_growth_root(&b->growth, &root, &p.node))
		return -ENOMEM;
	p.head = (uint32_t)b->ways.n;
	for (size_t i = 0; i < b->ways.n && !rc; i++)
		rc = add_way(b, p.node, &b->ways.v[i], true);
	if (!rc)
		rc = dw_vec_push(&b->growth.todo, p);
	while (!rc && dw_growth_next(&b->growth, &p))
		rc = expand(b, p);
	return rc;
}

static int build_types(struct paths *b)
{
	size_t n = b->points->end[b->points->processes_n - 1], end;
	struct dw_sort_row *rows = sort_points(b->points, n);
	int rc = rows ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !rc; i = end) {
		for (end = i; end < n && type_of(&rows[end]) == type_of(&rows[i]); end++)
			;
		rc = build_type(b, rows + i, end - i);
	}
	free(rows);
	return rc;
}

int dw_alloc_paths_build(const struct dw_points *points, struct dw_totals *ret)
{
	const struct dw_profile *p = points->profile;
	struct paths b = {.points = points, .stacks = &p->stacks, .out = ret};
	int rc = dw_subjects_init(&b.subjects, p, false);

	ret->nodes_by_type = true;
	if (!rc)
		rc = dw_growth_init(&b.growth, &points->filter->focus,
				    dw_subjects_none(&b.subjects));
	b.growth.out = ret;
	if (!rc)
		rc = build_types(&b);
	dw_growth_release(&b.growth);
	dw_vec_release(&b.ways);
	dw_subjects_release(&b.subjects);
	return rc;
}
