/*
 * The call tree by functions; see tree.h.
 *
 * A node stands for a set of places: a place is a stack and one of its frame's functions (inlined
 * functions make several places of one stack). To expand a node, the places one step further in are
 * grouped by function; each group is a child. Sets are linked through the trie's own lists of
 * siblings and groups are found through an array by function, so that no hash table is needed and a
 * stack costs a few loads per function. Nodes are expanded depth first, because stacks that follow
 * one another in the table mostly lie on one path.
 */
#include "analysis/tree.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>

/* A node that has still to be expanded, and its places. */
struct pending {
	uint32_t node;
	uint32_t head; /* stack id, linked by trie->next, 0 ends */
};

struct dw_tree {
	struct dw_trie *trie;
	const struct dw_subjects *subjects;
	uint16_t *slot;	 /* by stack: the function at hand, as an offset from the innermost */
	uint32_t *group; /* by function: the last node made of it */
	struct dw_focus focus;
	struct dw_totals *out;
	uint32_t at;	   /* the node whose children are being made, */
	uint32_t block;	   /* the first of them, */
	size_t block_todo; /* and its entry in todo */
	DW_VEC(struct pending) todo;
	DW_VEC(uint32_t) roots; /* places of the function that is the tree's root */
};

int dw_tree_new(struct dw_trie *t, const struct dw_subjects *subjects, const struct dw_focus *focus,
		struct dw_tree **ret)
{
	struct dw_tree *b = calloc(1, sizeof *b);

	if (!b)
		return -ENOMEM;
	b->trie = t;
	b->subjects = subjects;
	b->focus = *focus;
	b->slot = calloc(t->n, sizeof *b->slot);
	b->group = calloc((size_t)subjects->functions_n + 1, sizeof *b->group);
	if (!b->slot || !b->group) {
		dw_tree_free(b);
		return -ENOMEM;
	}
	*ret = b;
	return 0;
}

static uint32_t frame_of(const struct dw_tree *b, uint32_t stack)
{
	uint32_t frame = b->trie->rows[stack].frame;

	return frame < b->subjects->frames_n ? frame : 0;
}

/* Where the group of @function is kept: the unknown function first, the cut last. */
static uint32_t group_index(const struct dw_tree *b, uint32_t function)
{
	if (function == (uint32_t)DWELL_FUNCTION_UNKNOWN)
		return 0;
	return function == (uint32_t)DWELL_FUNCTION_CUT ? b->subjects->functions_n : function;
}

/* What lies at or below @stack, of its own or all of it, is added to @node. */
static void add_values(struct dw_tree *b, uint32_t node, uint32_t stack, bool own)
{
	struct dw_values *v = &b->out->nodes.v[node].values;
	const struct dw_trie_node *samples = &b->trie->nodes[stack];
	const struct dw_alloc_total *amounts;
	struct dw_alloc_total *sum;

	if (!b->trie->amounts) {
		*(own ? &v->exclusive : &v->inclusive) += own ? samples->self : samples->inclusive;
		return;
	}
	amounts = &b->trie->amounts[stack];
	sum = &b->out->node_allocs.v[node];
	if (own) {
		v->exclusive += amounts->exclusive.bytes;
		dw_alloc_count_add(&sum->exclusive, &amounts->exclusive);
	} else {
		v->inclusive += amounts->inclusive.allocated.bytes;
		dw_alloc_values_add(&sum->inclusive, &amounts->inclusive);
	}
}

/* Append @node, without values. */
static int push_node(struct dw_tree *b, struct dw_node_total node)
{
	if (b->trie->amounts && dw_vec_push(&b->out->node_allocs, (struct dw_alloc_total){0}))
		return -ENOMEM;
	return dw_vec_push(&b->out->nodes, node);
}

/* The child of b->at for @function in the current block, made when new. */
static int find_child(struct dw_tree *b, uint32_t function, uint32_t *child)
{
	uint32_t *group = &b->group[group_index(b, function)];
	const struct dw_node_total *up = &b->out->nodes.v[b->at];
	struct dw_node_total node = {.parent = b->at,
				     .process = up->process,
				     .function = function,
				     .level = up->level + 1};

	*child = *group;
	if (*group >= b->block)
		return 0;
	*child = *group = (uint32_t)b->out->nodes.n;
	if (*group >= UINT32_MAX - 1 || push_node(b, node))
		return -ENOMEM;
	return dw_vec_push(&b->todo, (struct pending){*child, 0});
}

/* Put the place (@stack, b->slot[@stack]) into its group. */
static int add_place(struct dw_tree *b, uint32_t stack)
{
	uint32_t slot = b->subjects->first[frame_of(b, stack)] + b->slot[stack], child;
	struct pending *group;

	if (find_child(b, b->subjects->function[slot], &child))
		return -ENOMEM;
	add_values(b, child, stack, false);
	group = &b->todo.v[b->block_todo + (child - b->block)];
	b->trie->nodes[stack].next = group->head;
	group->head = stack;
	return 0;
}

/* Start to make children of @node. */
static void begin_block(struct dw_tree *b, uint32_t node)
{
	b->at = node;
	b->block = (uint32_t)b->out->nodes.n;
	b->block_todo = b->todo.n;
}

/* The callees of all places in frame @stack become places of their own. */
static int add_callees(struct dw_tree *b, uint32_t stack)
{
	const uint32_t *first = b->subjects->first;
	uint32_t next;

	for (uint32_t c = b->trie->nodes[stack].child; c; c = next) {
		uint32_t frame = frame_of(b, c);

		next = b->trie->nodes[c].next;
		b->slot[c] = (uint16_t)(first[frame + 1] - first[frame] - 1);
		if (add_place(b, c))
			return -ENOMEM;
	}
	return 0;
}

/* Move one place of b->at one step further in: to the next inlined function, or to the callees. */
static int step(struct dw_tree *b, uint32_t stack)
{
	if (b->slot[stack]) {
		b->slot[stack]--;
		return add_place(b, stack);
	}
	add_values(b, b->at, stack, true);
	return add_callees(b, stack);
}

/* Whether a child that was just made is kept: heavy enough, or the heaviest. */
static bool is_wanted(const struct dw_tree *b, uint32_t node, uint32_t heaviest)
{
	uint64_t n = b->out->nodes.v[node].values.inclusive;

	if (b->focus.hot_path)
		return node == heaviest;
	return (double)n * 100 >= b->focus.min_pct * (double)b->out->samples;
}

/* Take those of the children just made out again that nobody will look at, so that they are not
 * expanded: on the whole tree this saves most of the time and memory. */
static void prune_block(struct dw_tree *b)
{
	struct dw_node_total *nodes = b->out->nodes.v;
	uint32_t end = (uint32_t)b->out->nodes.n, kept = b->block, heaviest = b->block;

	if (!b->focus.hot_path && b->focus.min_pct <= 0)
		return;
	for (uint32_t i = b->block; i < end; i++)
		if (nodes[i].values.inclusive > nodes[heaviest].values.inclusive)
			heaviest = i;
	for (uint32_t i = b->block; i < end; i++) {
		/* The next block starts at an index that this group may have had. */
		b->group[group_index(b, nodes[i].function)] = 0;
		if (!is_wanted(b, i, heaviest))
			continue;
		nodes[kept] = nodes[i];
		if (b->trie->amounts)
			b->out->node_allocs.v[kept] = b->out->node_allocs.v[i];
		b->todo.v[b->block_todo + (kept - b->block)] =
			(struct pending){kept, b->todo.v[b->block_todo + (i - b->block)].head};
		kept++;
	}
	b->out->branches_left_out += end - kept;
	b->out->nodes.n = kept;
	if (b->trie->amounts)
		b->out->node_allocs.n = kept;
	b->todo.n = b->block_todo + (kept - b->block);
}

/* Expand pending nodes until none is left. */
static int expand_all(struct dw_tree *b)
{
	int rc = 0;

	while (b->todo.n && !rc) {
		struct pending p = b->todo.v[--b->todo.n];

		begin_block(b, p.node);
		for (uint32_t stack = p.head, next; stack && !rc; stack = next) {
			next = b->trie->nodes[stack].next;
			rc = step(b, stack);
		}
		prune_block(b);
	}
	return rc;
}

/* What has no frame becomes a child of its own. */
static int add_unknown(struct dw_tree *b)
{
	uint64_t self = b->trie->nodes[0].self;
	uint32_t child;

	if (find_child(b, (uint32_t)DWELL_FUNCTION_UNKNOWN, &child))
		return -ENOMEM;
	if (b->trie->amounts) {
		struct dw_alloc_total *sum = &b->out->node_allocs.v[child];

		sum->inclusive = dw_trie_own(b->trie, 0);
		sum->exclusive = sum->inclusive.allocated;
		self = sum->exclusive.bytes;
	}
	b->out->nodes.v[child].values = (struct dw_values){self, self};
	return 0;
}

/* The whole process: a root node, and samples without a frame in a child of their own. */
static int build_whole(struct dw_tree *b, uint32_t process)
{
	struct dw_node_total root = {.parent = UINT32_MAX, .process = process};

	if (push_node(b, root))
		return -ENOMEM;
	begin_block(b, (uint32_t)b->out->nodes.n - 1);
	add_values(b, b->at, 0, false);
	if (b->trie->nodes[0].self && add_unknown(b))
		return -ENOMEM;
	if (add_callees(b, 0))
		return -ENOMEM;
	prune_block(b);
	return expand_all(b);
}

/* The outermost place of @function in @stack's frame, as an offset; -1 = not there. */
static int find_place(const struct dw_tree *b, uint32_t stack, uint32_t function)
{
	uint32_t frame = frame_of(b, stack), first = b->subjects->first[frame];

	for (uint32_t slot = b->subjects->first[frame + 1]; slot-- > first;)
		if (b->subjects->function[slot] == function)
			return (int)(slot - first);
	return -1;
}

/* Gather the outermost places of @function in b->roots; what lies below them is not looked at. */
static int find_roots(struct dw_tree *b, uint32_t function)
{
	const struct dw_trie *t = b->trie;
	uint32_t at = t->nodes[0].child;

	b->roots.n = 0;
	while (at) {
		int place = find_place(b, at, function);

		if (place >= 0) {
			b->slot[at] = (uint16_t)place;
			if (dw_vec_push(&b->roots, at))
				return -ENOMEM;
		} else if (t->nodes[at].child) {
			at = t->nodes[at].child;
			continue;
		}
		while (at && !t->nodes[at].next)
			at = dw_trie_parent(t, at);
		at = at ? t->nodes[at].next : 0;
	}
	return 0;
}

static int build_below(struct dw_tree *b, uint32_t process, uint32_t function)
{
	struct dw_node_total root = {
		.parent = UINT32_MAX, .process = process, .function = function};
	uint32_t head = 0, node;

	if (find_roots(b, function))
		return -ENOMEM;
	if (!b->roots.n)
		return 0;
	if (push_node(b, root))
		return -ENOMEM;
	node = (uint32_t)b->out->nodes.n - 1;
	for (size_t i = 0; i < b->roots.n; i++) {
		uint32_t stack = b->roots.v[i];

		add_values(b, node, stack, false);
		b->trie->nodes[stack].next = head;
		head = stack;
	}
	if (dw_vec_push(&b->todo, (struct pending){node, head}))
		return -ENOMEM;
	return expand_all(b);
}

int dw_tree_build(struct dw_tree *b, uint32_t process, struct dw_totals *ret)
{
	b->out = ret;
	b->todo.n = 0;
	return b->focus.root ? build_below(b, process, b->focus.root) : build_whole(b, process);
}

void dw_tree_free(struct dw_tree *b)
{
	if (!b)
		return;
	free(b->slot);
	free(b->group);
	dw_vec_release(&b->todo);
	dw_vec_release(&b->roots);
	free(b);
}
