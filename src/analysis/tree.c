/*
 * The call tree by functions; see tree.h.
 *
 * A node stands for a set of places: a place is a stack and one of its frame's functions (inlined
 * functions make several places of one stack). Sets are linked through the trie's own lists of
 * siblings, so a stack costs a few loads per function.
 */
#include "analysis/tree.h"

#include "analysis/growth.h"

#include <errno.h>
#include <stdlib.h>

struct dw_tree {
	struct dw_trie *trie;
	const struct dw_subjects *subjects;
	struct dw_growth growth;
	uint16_t *slot; /* by stack: the function at hand, as an offset from the innermost */
	uint32_t root;	/* function, 0 = whole processes */
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
	b->root = focus->root;
	b->slot = calloc(t->n, sizeof *b->slot);
	if (!b->slot || dw_growth_init(&b->growth, focus, subjects->functions_n + 1)) {
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

/* What lies at or below @stack, of its own or all of it, is added to @node. 0 or -ENOMEM. */
static int add_values(struct dw_tree *b, uint32_t node, uint32_t stack, bool own)
{
	struct dw_amounts *out = &b->growth.out->node_amounts;
	const struct dw_trie_node *samples = &b->trie->nodes[stack];
	const struct dw_blocked *blocked = b->trie->blocked ? &b->trie->blocked[stack] : NULL;
	uint64_t n = own ? samples->self : samples->inclusive, ns;
	const struct dw_alloc_total *allocs;
	struct dw_values *to;

	if (b->trie->amounts) {
		allocs = &b->trie->amounts[stack];
		if (!own)
			return dw_amounts_add_allocs(out, node, &allocs->inclusive);
		dw_amounts_add_own_allocs(out, node, &allocs->exclusive);
		return 0;
	}
	if (blocked) {
		ns = own ? blocked->ns.exclusive : blocked->ns.inclusive;
		n -= own ? blocked->waits.exclusive : blocked->waits.inclusive;
		to = dw_amounts_common(out, node, DWELL_MEASURE_BLOCKED);
		*(own ? &to->exclusive : &to->inclusive) += ns;
	}
	to = dw_amounts_common(out, node, DWELL_MEASURE_SAMPLES);
	*(own ? &to->exclusive : &to->inclusive) += n;
	return 0;
}

/* The child of the node at hand for @function, as that of dw_growth_child(). */
static struct dw_pending *find_child(struct dw_tree *b, uint32_t function)
{
	return dw_growth_child(&b->growth, group_index(b, function), function, 0);
}

/* Put the place (@stack, b->slot[@stack]) into its group. */
static int add_place(struct dw_tree *b, uint32_t stack)
{
	uint32_t slot = b->subjects->first[frame_of(b, stack)] + b->slot[stack];
	struct dw_pending *child = find_child(b, b->subjects->function[slot]);

	if (!child || add_values(b, child->node, stack, false) ||
	    (!b->slot[stack] && add_values(b, child->node, stack, true)))
		return -ENOMEM;
	b->trie->nodes[stack].next = child->head;
	child->head = stack;
	return 0;
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

/* Move one place of the node at hand one step further in: to the next inlined function, or to the
 * callees. */
static int step(struct dw_tree *b, uint32_t stack)
{
	if (b->slot[stack]) {
		b->slot[stack]--;
		return add_place(b, stack);
	}
	return add_callees(b, stack);
}

static int expand_all(struct dw_tree *b)
{
	struct dw_pending p;
	int rc = 0;

	while (!rc && dw_growth_next(&b->growth, &p)) {
		dw_growth_begin(&b->growth, p.node);
		for (uint32_t stack = p.head, next; stack && !rc; stack = next) {
			next = b->trie->nodes[stack].next;
			rc = step(b, stack);
		}
		dw_growth_end(&b->growth);
	}
	return rc;
}

/* What has no frame becomes a child of its own. */
static int add_unknown(struct dw_tree *b)
{
	struct dw_pending *child = find_child(b, (uint32_t)DWELL_FUNCTION_UNKNOWN);
	struct dw_amounts *out = &b->growth.out->node_amounts;
	struct dw_alloc_values allocs;
	struct dw_values *to;

	if (!child || add_values(b, child->node, 0, true))
		return -ENOMEM;
	if (b->trie->amounts) {
		allocs = dw_trie_own(b->trie, 0);
		return dw_amounts_add_allocs(out, child->node, &allocs);
	}
	to = dw_amounts_common(out, child->node, DWELL_MEASURE_SAMPLES);
	to->inclusive = to->exclusive;
	if (b->trie->blocked) {
		to = dw_amounts_common(out, child->node, DWELL_MEASURE_BLOCKED);
		to->inclusive = to->exclusive;
	}
	return 0;
}

/* The whole process: a root node, and samples without a frame in a child of their own. */
static int build_whole(struct dw_tree *b, uint32_t process)
{
	struct dw_node_total root = {.parent = UINT32_MAX, .process = process};
	uint32_t node;

	if (dw_growth_root(&b->growth, &root, &node))
		return -ENOMEM;
	dw_growth_begin(&b->growth, node);
	if (add_values(b, node, 0, false) || (b->trie->nodes[0].self && add_unknown(b)) ||
	    add_callees(b, 0))
		return -ENOMEM;
	dw_growth_end(&b->growth);
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
	if (dw_growth_root(&b->growth, &root, &node))
		return -ENOMEM;
	for (size_t i = 0; i < b->roots.n; i++) {
		uint32_t stack = b->roots.v[i];

		if (add_values(b, node, stack, false) ||
		    (!b->slot[stack] && add_values(b, node, stack, true)))
			return -ENOMEM;
		b->trie->nodes[stack].next = head;
		head = stack;
	}
	if (dw_vec_push(&b->growth.todo, (struct dw_pending){node, head, 0}))
		return -ENOMEM;
	return expand_all(b);
}

int dw_tree_build(struct dw_tree *b, uint32_t process, struct dw_totals *ret)
{
	b->growth.out = ret;
	return b->root ? build_below(b, process, b->root) : build_whole(b, process);
}

void dw_tree_free(struct dw_tree *b)
{
	if (!b)
		return;
	free(b->slot);
	dw_growth_release(&b->growth);
	dw_vec_release(&b->roots);
	free(b);
}
