/*
 * The ways to allocate; see alloc-paths.h.
 *
 * A way is one type and one stack, of all threads together, and stands at a place of that stack: at
 * first at the function that allocated. To expand a node, its ways take one step outwards and are
 * grouped by function; each group is a child. Ways are linked lists through one array, groups are
 * found through an array by function, as in tree.c. What is too small is not expanded.
 */
#include "analysis/alloc-paths.h"

#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>

struct way {
	uint32_t stack; /* where it stands, 0 = at its outer end */
	uint32_t slot;	/* the function at hand there, as an offset from the innermost */
	uint32_t next;	/* way + 1, 0 ends */
	struct dw_alloc_values values;
};

/* A node that has still to be expanded, and its ways. */
struct pending {
	uint32_t node;
	uint32_t head;
};

struct paths {
	const struct dw_alloc_pieces *pieces;
	const struct dw_subjects *subjects;
	const struct dw_stacks *stacks;
	double min_pct;
	struct dw_totals *out;
	uint32_t *group; /* by function: the last node made of it */
	DW_VEC(struct way) ways;
	DW_VEC(struct pending) todo;
};

/* All pieces by type and stack, whose numbers are the keys' halves. NULL without memory. */
static struct dw_sort_row *sort_pieces(const struct dw_alloc_pieces *t, size_t n)
{
	struct dw_sort_row *rows = malloc((n + 1) * sizeof *rows);

	for (size_t i = 0; rows && i < n; i++) {
		const struct dw_alloc_group *g = dw_alloc_piece_group(t, dw_alloc_piece(t, i));

		rows[i] = (struct dw_sort_row){(uint64_t)g->type << 32 | g->stack, i};
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

	return s && s->frame < b->subjects->frames_n ? s->frame : 0;
}

/* The function at which @w stands. */
static uint32_t function_of(const struct paths *b, const struct way *w)
{
	return b->subjects->function[b->subjects->first[frame_of(b, w->stack)] + w->slot];
}

/* One step outwards. False at the outer end. */
static bool step(const struct paths *b, struct way *w)
{
	uint32_t frame = frame_of(b, w->stack), parent;
	const struct dw_stack *s = dw_stacks_get(b->stacks, w->stack);

	if (w->slot + 1 < b->subjects->first[frame + 1] - b->subjects->first[frame]) {
		w->slot++;
		return true;
	}
	parent = s && s->parent < w->stack ? s->parent : 0;
	w->stack = parent;
	w->slot = 0;
	return parent;
}

/* Where the group of @function is kept: the unknown function first, the cut last. */
static uint32_t group_index(const struct paths *b, uint32_t function)
{
	if (function == (uint32_t)DWELL_FUNCTION_UNKNOWN)
		return 0;
	return function == (uint32_t)DWELL_FUNCTION_CUT ? b->subjects->functions_n : function;
}

static int push_node(struct paths *b, struct dw_node_total node, uint32_t *ret)
{
	*ret = (uint32_t)b->out->nodes.n;
	if (*ret >= UINT32_MAX - 1 || dw_vec_push(&b->out->node_allocs, (struct dw_alloc_total){0}))
		return -ENOMEM;
	return dw_vec_push(&b->out->nodes, node);
}

/* @w counts for @node; @own: it was allocated there. */
static void add_way(struct paths *b, uint32_t node, const struct way *w, bool own)
{
	struct dw_values *v = &b->out->nodes.v[node].values;
	struct dw_alloc_total *sum = &b->out->node_allocs.v[node];

	v->inclusive += w->values.allocated.bytes;
	dw_alloc_values_add(&sum->inclusive, &w->values);
	if (!own)
		return;
	v->exclusive += w->values.allocated.bytes;
	dw_alloc_count_add(&sum->exclusive, &w->values.allocated);
}

/* A block of children that is being made. */
struct block {
	uint32_t parent, first; /* nodes */
	size_t todo;		/* of the first, its place in todo */
};

/* Put way number @i into the child of its function, made when new. */
static int add_to_child(struct paths *b, const struct block *block, uint32_t i)
{
	struct way *w = &b->ways.v[i];
	uint32_t function = function_of(b, w), *group = &b->group[group_index(b, function)];
	const struct dw_node_total *up = &b->out->nodes.v[block->parent];
	struct dw_node_total node = {.parent = block->parent,
				     .process = up->process,
				     .function = function,
				     .level = up->level + 1};
	struct pending *child;

	if (*group < block->first &&
	    (push_node(b, node, group) || dw_vec_push(&b->todo, (struct pending){*group, 0})))
		return -ENOMEM;
	add_way(b, *group, w, node.level == 1);
	child = &b->todo.v[block->todo + (*group - block->first)];
	w->next = child->head;
	child->head = i + 1;
	return 0;
}

/* Take those children out again that are too small. */
static void prune(struct paths *b, const struct block *block)
{
	struct dw_node_total *nodes = b->out->nodes.v;
	uint32_t end = (uint32_t)b->out->nodes.n, kept = block->first;

	for (uint32_t i = block->first; i < end; i++) {
		struct pending p = b->todo.v[block->todo + (i - block->first)];

		b->group[group_index(b, nodes[i].function)] = 0;
		if ((double)nodes[i].values.inclusive * 100 < b->min_pct * (double)b->out->samples)
			continue;
		nodes[kept] = nodes[i];
		b->out->node_allocs.v[kept] = b->out->node_allocs.v[i];
		b->todo.v[block->todo + (kept - block->first)] = (struct pending){kept, p.head};
		kept++;
	}
	b->out->branches_left_out += end - kept;
	b->out->nodes.n = b->out->node_allocs.n = kept;
	b->todo.n = block->todo + (kept - block->first);
}

/* Make the children of @p. Below a type, ways stand where their function is; else they step. */
static int expand(struct paths *b, struct pending p)
{
	struct block block = {p.node, (uint32_t)b->out->nodes.n, b->todo.n};
	bool stepping = b->out->nodes.v[p.node].level;
	int rc = 0;

	for (uint32_t i = p.head, next; i && !rc; i = next) {
		struct way *w = &b->ways.v[i - 1];

		next = w->next;
		if (!stepping || step(b, w))
			rc = add_to_child(b, &block, i - 1);
	}
	prune(b, &block);
	return rc;
}

/* The ways of one type, from its @n sorted pieces. */
static int gather(struct paths *b, const struct dw_sort_row *rows, size_t n)
{
	b->ways.n = 0;
	for (size_t i = 0; i < n; i++) {
		const struct dw_alloc_delta *d = dw_alloc_piece(b->pieces, rows[i].row);
		struct way w = {.stack = (uint32_t)rows[i].key, .next = (uint32_t)b->ways.n};

		if ((!i || rows[i].key != rows[i - 1].key) && dw_vec_push(&b->ways, w))
			return -ENOMEM;
		dw_alloc_values_add(&b->ways.v[b->ways.n - 1].values, &d->values);
	}
	return 0;
}

static int build_type(struct paths *b, const struct dw_sort_row *rows, size_t n)
{
	const struct dw_alloc_type *type =
		dw_allocations_get_type(&b->pieces->profile->allocations, type_of(rows));
	struct dw_node_total root = {.parent = UINT32_MAX,
				     .process = type ? type->process : 0,
				     .function = type_of(rows)};
	uint32_t node;
	int rc = gather(b, rows, n);

	if (rc || push_node(b, root, &node))
		return -ENOMEM;
	for (size_t i = 0; i < b->ways.n; i++)
		add_way(b, node, &b->ways.v[i], true);
	rc = dw_vec_push(&b->todo, (struct pending){node, (uint32_t)b->ways.n});
	while (b->todo.n && !rc)
		rc = expand(b, b->todo.v[--b->todo.n]);
	return rc;
}

int dw_alloc_paths_build(const struct dw_alloc_pieces *pieces, const struct dw_focus *focus,
			 const struct dw_subjects *subjects, struct dw_totals *ret)
{
	struct paths b = {.pieces = pieces,
			  .subjects = subjects,
			  .stacks = &pieces->profile->stacks,
			  .min_pct = focus->min_pct,
			  .out = ret};
	size_t n = pieces->end[pieces->processes_n - 1], end;
	struct dw_sort_row *rows = sort_pieces(pieces, n);
	int rc = rows ? 0 : -ENOMEM;

	ret->nodes_by_type = true;
	b.group = calloc((size_t)subjects->functions_n + 1, sizeof *b.group);
	if (!b.group)
		rc = -ENOMEM;
	for (size_t i = 0; i < n && !rc; i = end) {
		for (end = i; end < n && type_of(&rows[end]) == type_of(&rows[i]); end++)
			;
		rc = build_type(&b, rows + i, end - i);
	}
	free(rows);
	free(b.group);
	dw_vec_release(&b.ways);
	dw_vec_release(&b.todo);
	return rc;
}
