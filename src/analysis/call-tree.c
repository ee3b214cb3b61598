/*
 * The call tree; see call-tree.h.
 *
 * As in tree.c a node stands for a set of places, here call nodes, linked through the lists of
 * siblings that they are taken from; the callees of a set are grouped by function, each group is a
 * child. Which children are kept is decided by elapsed time alone. All other values are added up
 * afterwards, in one pass over the call nodes: each adds its own to the tree node that it belongs
 * to or, where that was left out, to the nearest one above, as something inclusive.
 */
#include "analysis/call-tree.h"

#include "analysis/growth.h"

#include <errno.h>
#include <stdlib.h>

struct builder {
	struct dw_call_nodes *nodes;
	struct dw_totals *out;
	struct dw_growth growth;
	uint32_t *place; /* by call node: the tree node + 1; 0 = not in the tree itself */
	uint32_t *root;	 /* by process: its root node + 1; 0 = none, or a tree below a function */
	DW_VEC(uint32_t) path; /* of the search for roots */
};

static uint32_t callee(const struct builder *b, uint32_t id)
{
	return b->nodes->links[id].callee;
}

/* The child of the node at hand for @dense, as that of dw_growth_child(). */
static struct dw_pending *find_child(struct builder *b, uint32_t dense)
{
	uint32_t thread, function = dw_call_row_function(b->nodes, dense, &thread);

	return dw_growth_child(&b->growth, dense, function, thread);
}

/* Call nodes of a thread have been made as they were called first, and so rise their ids. */
static void note_first(struct builder *b, uint32_t node, uint32_t id)
{
	uint32_t *first = &b->out->node_firsts.v[node];

	*first = id < *first ? id : *first;
}

/* Put all present call nodes of the list @id into their groups. */
static int add_list(struct builder *b, uint32_t id)
{
	struct dw_call_nodes *t = b->nodes;
	struct dw_pending *child;
	uint32_t next;

	for (; id; id = next) {
		next = t->links[id].next;
		if (!(t->links[id].state & DWELL_CALL_PRESENT))
			continue;
		if (dw_call_nodes_is_line(t, id)) { /* its function's own */
			b->place[id] = b->growth.at + 1;
			continue;
		}
		child = find_child(b, callee(b, id));
		if (!child)
			return -ENOMEM;
		dw_totals_node_values(b->out, child->node)->inclusive += t->links[id].elapsed;
		note_first(b, child->node, id);
		t->links[id].next = child->head;
		child->head = id;
	}
	return 0;
}

/* What the call nodes of the list @id took of their own, as far as children tell. */
static uint64_t own_elapsed(const struct dw_call_nodes *t, uint32_t id)
{
	uint64_t sum = 0;

	for (; id; id = t->links[id].next) {
		sum += t->links[id].elapsed;
		for (uint32_t c = t->links[id].child; c; c = t->links[c].next)
			if (!dw_call_nodes_is_line(t, c))
				sum -= t->links[c].elapsed;
	}
	return sum;
}

/* The children of the node at hand are there. To be put in order they need exclusive values. */
static void end_block(struct builder *b)
{
	struct dw_growth *g = &b->growth;

	for (size_t i = g->first_todo; g->focus->rows && i < g->todo.n; i++)
		dw_totals_node_values(b->out, g->todo.v[i].node)->exclusive =
			own_elapsed(b->nodes, g->todo.v[i].head);
	dw_growth_end(g);
}

/* The call nodes of the list @id belong to the tree node @node. */
static void settle(struct builder *b, uint32_t id, uint32_t node)
{
	for (; id; id = b->nodes->links[id].next)
		b->place[id] = node + 1;
}

static int expand_all(struct builder *b)
{
	struct dw_call_nodes *t = b->nodes;
	struct dw_pending p;
	int rc = 0;

	while (!rc && dw_growth_next(&b->growth, &p)) {
		dw_growth_begin(&b->growth, p.node);
		for (uint32_t id = p.head, next; id && !rc; id = next) {
			next = t->links[id].next;
			b->place[id] = p.node + 1;
			rc = add_list(b, t->links[id].child);
		}
		end_block(b);
	}
	dw_vec_each(left, &b->growth.todo)
		settle(b, left->head, left->node);
	return rc;
}

/* A process: a root node above its threads' root rows. */
static int build_whole(struct builder *b, uint32_t process)
{
	const struct dw_call_nodes *t = b->nodes;
	struct dw_node_total root = {.parent = UINT32_MAX, .process = process};
	uint64_t elapsed = 0;
	bool present = false;
	uint32_t node;

	for (uint32_t i = t->begin[process]; i < t->begin[process + 1]; i++)
		for (uint32_t id = t->top[t->order[i]]; id; id = t->links[id].next) {
			present |= t->links[id].state & DWELL_CALL_PRESENT;
			elapsed += t->links[id].elapsed;
		}
	if (!present)
		return 0;
	if (dw_growth_root(&b->growth, &root, &node))
		return -ENOMEM;
	dw_totals_node_values(b->out, node)->inclusive = elapsed;
	note_first(b, node, process);
	b->root[process] = node + 1;
	dw_growth_begin(&b->growth, node);
	for (uint32_t i = t->begin[process]; i < t->begin[process + 1]; i++)
		if (add_list(b, t->top[t->order[i]]))
			return -ENOMEM;
	end_block(b);
	return expand_all(b);
}

/* Add the outermost activations of @function in the list @top, and below, to the set @p; what
 * lies below them is not looked at. */
static int find_roots(struct builder *b, uint32_t top, uint32_t function, struct dw_pending *p)
{
	struct dw_call_nodes *t = b->nodes;
	int rc = top ? dw_vec_push(&b->path, top) : 0;

	while (b->path.n && !rc) {
		uint32_t id = b->path.v[--b->path.n], next = t->links[id].next;
		bool is_present = t->links[id].state & DWELL_CALL_PRESENT;

		if (next)
			rc = dw_vec_push(&b->path, next);
		if (is_present && callee(b, id) == function) {
			dw_totals_node_values(b->out, p->node)->inclusive += t->links[id].elapsed;
			t->links[id].next = p->head;
			p->head = id;
		} else if (is_present && t->links[id].child && !rc) {
			rc = dw_vec_push(&b->path, t->links[id].child);
		}
	}
	return rc;
}

static int build_below(struct builder *b, uint32_t process, uint32_t function)
{
	const struct dw_call_nodes *t = b->nodes;
	struct dw_node_total root = {
		.parent = UINT32_MAX, .process = process, .function = function};
	struct dw_pending p = {0};

	if (dw_growth_root(&b->growth, &root, &p.node))
		return -ENOMEM;
	note_first(b, p.node, process);
	for (uint32_t i = t->begin[process]; i < t->begin[process + 1]; i++)
		if (find_roots(b, t->top[t->order[i]], function, &p))
			return -ENOMEM;
	if (!p.head) {
		dw_growth_drop(&b->growth);
		return 0;
	}
	return dw_vec_push(&b->growth.todo, p) ? -ENOMEM : expand_all(b);
}

/* The tree node + 1 that the call node @id, which is not in the tree itself, adds to. */
static uint32_t place_above(const struct builder *b, uint32_t id)
{
	uint32_t parent = dw_call_nodes_parent(b->nodes, id);

	if (parent)
		return b->place[parent];
	return b->root[b->nodes->process[dw_call_nodes_get(b->nodes, id)->thread]];
}

/* Every call node's own values go to its tree node, or as inclusive ones to the nearest above. */
static int add_values(struct builder *b)
{
	const struct dw_call_nodes *t = b->nodes;
	struct dw_amounts *amounts = &b->out->node_amounts;
	int rc = 0;

	for (uint32_t id = 1; id < t->n && !rc; id++) {
		bool is_own = b->place[id];
		struct dw_call_values own;

		if (!(t->links[id].state & DWELL_CALL_PRESENT) ||
		    dw_call_nodes_get(t, id)->flags & DWELL_CALL_OVERFLOW)
			continue;
		if (!is_own)
			b->place[id] = place_above(b, id);
		if (!b->place[id])
			continue;
		own = dw_call_nodes_values(t, id);
		rc = dw_amounts_add_calls(amounts, b->place[id] - 1, &own,
					  is_own ? DWELL_EXCLUSIVE : DWELL_INCLUSIVE);
		if (is_own)
			dw_amounts_common(amounts, b->place[id] - 1, DWELL_MEASURE_CALLS)
				->exclusive += own.calls;
	}
	return rc;
}

/* The totals of all nodes: children, which come later, add to their parents. */
static int make_totals(struct builder *b)
{
	struct dw_amounts *amounts = &b->out->node_amounts;
	size_t n = b->out->nodes.n;
	int rc;

	for (size_t i = 0; i < n; i++) /* what the tree grew by */
		*dw_totals_node_values(b->out, i) = (struct dw_values){0};
	rc = add_values(b);
	for (size_t i = n; i-- && !rc;) {
		uint32_t parent = b->out->nodes.v[i].parent;
		struct dw_values *calls = dw_amounts_common(amounts, i, DWELL_MEASURE_CALLS);

		rc = dw_amounts_rise(amounts, i, parent == UINT32_MAX ? SIZE_MAX : parent);
		calls->inclusive = calls->exclusive;
	}
	return rc;
}

static int build_all(struct builder *b)
{
	uint32_t root = b->growth.focus->root;
	int rc = 0;

	for (uint32_t process = 0; process < b->nodes->processes_n && !rc; process++)
		rc = root ? build_below(b, process, root) : build_whole(b, process);
	return rc ? rc : make_totals(b);
}

int dw_call_tree_build(struct dw_call_nodes *t, struct dw_totals *ret)
{
	struct builder b = {.nodes = t, .out = ret};
	int rc = dw_growth_init(&b.growth, &t->filter->focus, dw_call_callees_n(t));

	b.growth.out = ret;
	b.growth.has_threads = true;
	b.place = calloc(t->n, sizeof *b.place);
	b.root = calloc(t->processes_n, sizeof *b.root);
	rc = !rc && b.place && b.root ? build_all(&b) : -ENOMEM;
	free(b.place);
	free(b.root);
	dw_growth_release(&b.growth);
	dw_vec_release(&b.path);
	return rc;
}
