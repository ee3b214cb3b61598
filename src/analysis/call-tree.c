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

#include <errno.h>
#include <stdlib.h>

/* A node that has still to be expanded, and its places. */
struct pending {
	uint32_t node;
	uint32_t head; /* call node, linked by next, 0 ends */
};

struct builder {
	struct dw_call_nodes *nodes;
	const struct dw_focus *focus;
	struct dw_totals *out;
	uint32_t *group;   /* by dense id of a callee: the last node made of it */
	uint32_t *place;   /* by call node: the tree node + 1; 0 = not in the tree itself */
	uint32_t *root;	   /* by process: its root node + 1; 0 = none, or a tree below a function */
	uint32_t at;	   /* the node whose children are being made, */
	uint32_t block;	   /* the first of them, */
	size_t block_todo; /* and its entry in todo */
	DW_VEC(struct pending) todo;
	DW_VEC(uint32_t) path; /* of the search for roots */
};

static uint32_t callee(const struct builder *b, uint32_t id)
{
	return b->nodes->links[id].callee;
}

static int push_node(struct builder *b, const struct dw_node_total *node, uint32_t thread)
{
	return dw_vec_push(&b->out->node_threads, thread) || dw_vec_push(&b->out->nodes, *node)
		       ? -ENOMEM
		       : 0;
}

/* The child of b->at for @dense in the current block, made when new. */
static int find_child(struct builder *b, uint32_t dense, uint32_t *child)
{
	uint32_t *group = &b->group[dense];
	const struct dw_node_total *up = &b->out->nodes.v[b->at];
	struct dw_node_total node = {
		.parent = b->at, .process = up->process, .level = up->level + 1};
	uint32_t thread;

	*child = *group;
	if (*group >= b->block)
		return 0;
	node.function = dw_call_row_function(b->nodes, dense, &thread);
	*child = *group = (uint32_t)b->out->nodes.n;
	if (*group >= UINT32_MAX - 1 || push_node(b, &node, thread))
		return -ENOMEM;
	return dw_vec_push(&b->todo, (struct pending){*child, 0});
}

/* Put all present call nodes of the list @id into their groups. */
static int add_list(struct builder *b, uint32_t id)
{
	struct dw_call_nodes *t = b->nodes;
	struct pending *group;
	uint32_t next, child;

	for (; id; id = next) {
		next = t->links[id].next;
		if (!(t->links[id].state & DWELL_CALL_PRESENT))
			continue;
		if (dw_call_nodes_is_line(t, id)) { /* its function's own */
			b->place[id] = b->at + 1;
			continue;
		}
		if (find_child(b, callee(b, id), &child))
			return -ENOMEM;
		b->out->nodes.v[child].values.inclusive += t->links[id].elapsed;
		group = &b->todo.v[b->block_todo + (child - b->block)];
		t->links[id].next = group->head;
		group->head = id;
	}
	return 0;
}

/* Start to make children of @node. */
static void begin_block(struct builder *b, uint32_t node)
{
	b->at = node;
	b->block = (uint32_t)b->out->nodes.n;
	b->block_todo = b->todo.n;
}

/* The dense id that @node was grouped by. */
static uint32_t dense_of(const struct builder *b, size_t todo)
{
	return callee(b, b->todo.v[todo].head);
}

/* Take those of the children just made out again that nobody will look at. */
static void prune_block(struct builder *b)
{
	struct dw_node_total *nodes = b->out->nodes.v;
	uint32_t end = (uint32_t)b->out->nodes.n, kept = b->block, heaviest = b->block;

	if (!b->focus->hot_path && b->focus->min_pct <= 0)
		return;
	for (uint32_t i = b->block; i < end; i++)
		if (nodes[i].values.inclusive > nodes[heaviest].values.inclusive)
			heaviest = i;
	for (uint32_t i = b->block; i < end; i++) {
		struct pending p = b->todo.v[b->block_todo + (i - b->block)];
		double n = (double)nodes[i].values.inclusive;

		/* The next block starts at an index that this group may have had. */
		b->group[dense_of(b, b->block_todo + (i - b->block))] = 0;
		if (b->focus->hot_path ? i != heaviest
				       : n * 100 < b->focus->min_pct * (double)b->out->samples)
			continue;
		nodes[kept] = nodes[i];
		b->out->node_threads.v[kept] = b->out->node_threads.v[i];
		b->todo.v[b->block_todo + (kept - b->block)] = (struct pending){kept, p.head};
		kept++;
	}
	b->out->branches_left_out += end - kept;
	b->out->nodes.n = b->out->node_threads.n = kept;
	b->todo.n = b->block_todo + (kept - b->block);
}

/* Expand pending nodes until none is left. */
static int expand_all(struct builder *b)
{
	struct dw_call_nodes *t = b->nodes;
	int rc = 0;

	while (b->todo.n && !rc) {
		struct pending p = b->todo.v[--b->todo.n];

		begin_block(b, p.node);
		for (uint32_t id = p.head, next; id && !rc; id = next) {
			next = t->links[id].next;
			b->place[id] = p.node + 1;
			rc = add_list(b, t->links[id].child);
		}
		prune_block(b);
	}
	return rc;
}

/* A process: a root node above its threads' root rows. */
static int build_whole(struct builder *b, uint32_t process)
{
	const struct dw_call_nodes *t = b->nodes;
	struct dw_node_total root = {.parent = UINT32_MAX, .process = process};
	bool present = false;

	for (uint32_t i = t->begin[process]; i < t->begin[process + 1]; i++)
		for (uint32_t id = t->top[t->order[i]]; id; id = t->links[id].next) {
			present |= t->links[id].state & DWELL_CALL_PRESENT;
			root.values.inclusive += t->links[id].elapsed;
		}
	if (!present)
		return 0;
	if (push_node(b, &root, 0))
		return -ENOMEM;
	b->root[process] = (uint32_t)b->out->nodes.n;
	begin_block(b, (uint32_t)b->out->nodes.n - 1);
	for (uint32_t i = t->begin[process]; i < t->begin[process + 1]; i++)
		if (add_list(b, t->top[t->order[i]]))
			return -ENOMEM;
	prune_block(b);
	return expand_all(b);
}

/* Add the outermost activations of @function in the list @top, and below, to the set @p; what
 * lies below them is not looked at. */
static int find_roots(struct builder *b, uint32_t top, uint32_t function, struct pending *p)
{
	struct dw_call_nodes *t = b->nodes;
	int rc = top ? dw_vec_push(&b->path, top) : 0;

	while (b->path.n && !rc) {
		uint32_t id = b->path.v[--b->path.n], next = t->links[id].next;
		bool is_present = t->links[id].state & DWELL_CALL_PRESENT;

		if (next)
			rc = dw_vec_push(&b->path, next);
		if (is_present && callee(b, id) == function) {
			b->out->nodes.v[p->node].values.inclusive += t->links[id].elapsed;
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
	struct pending p = {(uint32_t)b->out->nodes.n, 0};

	if (push_node(b, &root, 0))
		return -ENOMEM;
	for (uint32_t i = t->begin[process]; i < t->begin[process + 1]; i++)
		if (find_roots(b, t->top[t->order[i]], function, &p))
			return -ENOMEM;
	if (!p.head) {
		b->out->nodes.n--;
		b->out->node_threads.n--;
		return 0;
	}
	return dw_vec_push(&b->todo, p) ? -ENOMEM : expand_all(b);
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
		rc = dw_call_store_add(is_own ? &b->out->node_exclusive : &b->out->node_inclusive,
				       b->place[id] - 1, &own);
	}
	return rc;
}

/* The totals of all nodes: children, which come later, add to their parents. */
static int make_totals(struct builder *b)
{
	size_t n = b->out->nodes.n;
	struct dw_call_store *inclusive = &b->out->node_inclusive, *own = &b->out->node_exclusive;
	int rc = 0;

	if (dw_call_store_extend(inclusive, n) || dw_call_store_extend(own, n) || add_values(b))
		return -ENOMEM;
	for (size_t i = n; i-- && !rc;) {
		struct dw_node_total *node = &b->out->nodes.v[i];
		struct dw_call_values v = dw_call_store_get(own, i);

		node->values.exclusive = v.elapsed_ns;
		rc = dw_call_store_add(inclusive, i, &v);
		v = dw_call_store_get(inclusive, i);
		node->values.inclusive = v.elapsed_ns;
		if (!rc && node->parent != UINT32_MAX)
			rc = dw_call_store_add(inclusive, node->parent, &v);
	}
	return rc;
}

static int build_all(struct builder *b)
{
	uint32_t root = b->focus->root;
	int rc = 0;

	for (uint32_t process = 0; process < b->nodes->processes_n && !rc; process++)
		rc = root ? build_below(b, process, root) : build_whole(b, process);
	return rc ? rc : make_totals(b);
}

int dw_call_tree_build(struct dw_call_nodes *t, struct dw_totals *ret)
{
	struct builder b = {.nodes = t, .focus = &t->filter->focus, .out = ret};
	int rc;

	b.group = calloc(dw_call_callees_n(t), sizeof *b.group);
	b.place = calloc(t->n, sizeof *b.place);
	b.root = calloc(t->processes_n, sizeof *b.root);
	rc = b.group && b.place && b.root ? build_all(&b) : -ENOMEM;
	free(b.group);
	free(b.place);
	free(b.root);
	dw_vec_release(&b.todo);
	dw_vec_release(&b.path);
	return rc;
}
