/*
 * The call tree by functions; see tree.h.
 *
 * A node stands for a set of places: a place is a path and one of its frame's functions (inlined
 * functions make several places of one path). To expand a node, its places take one step inwards;
 * they are linked lists through one array.
 */
#include "analysis/tree.h"

#include "analysis/growth.h"

#include <errno.h>
#include <stdlib.h>

struct dw_tree {
	const struct dw_cct *cct;
	const struct dw_subjects *subjects;
	struct dw_growth growth;
	uint32_t *next;	 /* by position: the next place of its node, 0 = none */
	uint16_t *slot;	 /* likewise: the function at hand, as an offset from the innermost. NULL =
			    paths are about functions, not frames */
	uint32_t places; /* that there is room for */
	uint32_t root;	 /* function, 0 = whole processes */
	bool of_calls;
};

int dw_tree_new(const struct dw_cct *t, const struct dw_subjects *subjects,
		const struct dw_focus *focus, struct dw_tree **ret)
{
	struct dw_tree *b = calloc(1, sizeof *b);

	if (!b)
		return -ENOMEM;
	*b = (struct dw_tree){
		.cct = t, .subjects = subjects, .root = focus->root, .of_calls = subjects->roots.n};
	if (dw_growth_init(&b->growth, focus, dw_subjects_truncated(subjects) + 1)) {
		dw_tree_free(b);
		return -ENOMEM;
	}
	b->growth.has_threads = b->of_calls;
	*ret = b;
	return 0;
}

static int make_room(struct dw_tree *b)
{
	if (b->places >= b->cct->n)
		return 0;
	free(b->next);
	free(b->slot);
	b->places = b->cct->n;
	b->next = calloc(b->places, sizeof *b->next);
	b->slot = b->of_calls ? NULL : calloc(b->places, sizeof *b->slot);
	return b->next && (b->slot || b->of_calls) ? 0 : -ENOMEM;
}

/* The first slot of the frame at @p. */
static uint32_t first_slot(const struct dw_tree *b, uint32_t p)
{
	return b->subjects->first[b->cct->subject[p]];
}

/* How many further functions the frame at @p has, outside of the innermost one. */
static uint32_t outer_n(const struct dw_tree *b, uint32_t p)
{
	return b->slot ? b->subjects->first[b->cct->subject[p] + 1] - first_slot(b, p) - 1 : 0;
}

/* The function at hand at @p. */
static uint32_t function_at(const struct dw_tree *b, uint32_t p)
{
	return b->slot ? b->subjects->function[first_slot(b, p) + b->slot[p]] : b->cct->subject[p];
}

/* The child of the node at hand for @function, as that of dw_growth_child(). */
static struct dw_pending *find_child(struct dw_tree *b, uint32_t function)
{
	uint32_t thread, name = dw_subjects_row_function(b->subjects, function, &thread);

	return dw_growth_child(&b->growth, function, name, thread);
}

/* Among siblings those whose paths have the smallest ids were called first. */
static void note_first(struct dw_tree *b, uint32_t node, uint32_t id)
{
	uint32_t *first = b->of_calls ? &b->growth.out->node_firsts.v[node] : NULL;

	if (first && id < *first)
		*first = id;
}

/* What statements below @p have of their own is their function's, as what it has itself. */
static int add_own(struct dw_tree *b, uint32_t p, uint32_t node)
{
	const struct dw_cct *t = b->cct;
	struct dw_amounts *out = &b->growth.out->node_amounts;
	int rc = dw_cct_add_own(t, p, out, node);

	for (uint32_t c = p + 1; t->has_statements && c < t->end[p]; c = t->end[c])
		if (t->subject[c] == DWELL_CCT_STATEMENT)
			rc |= dw_cct_add_own(t, c, out, node);
	return rc;
}

/* The place at @p is one of @node, a child of which @list is the first so far. */
static int add_place(struct dw_tree *b, uint32_t p, uint32_t node, uint32_t *list)
{
	note_first(b, node, b->cct->id[p]);
	b->next[p] = *list;
	*list = p;
	if (dw_cct_add_all(b->cct, p, &b->growth.out->node_amounts, node))
		return -ENOMEM;
	return b->slot && b->slot[p] ? 0 : add_own(b, p, node);
}

/* The place at @p belongs to the child of its function. */
static int add_to_child(struct dw_tree *b, uint32_t p)
{
	struct dw_pending *child = find_child(b, function_at(b, p));

	return child ? add_place(b, p, child->node, &child->head) : -ENOMEM;
}

/* The callees of the path at @p become places of their own. */
static int add_callees(struct dw_tree *b, uint32_t p)
{
	const struct dw_cct *t = b->cct;
	int rc = 0;

	for (uint32_t c = p + 1; c < t->end[p] && !rc; c = t->end[c]) {
		if (t->subject[c] == DWELL_CCT_STATEMENT)
			continue;
		if (b->slot)
			b->slot[c] = (uint16_t)outer_n(b, c);
		rc = add_to_child(b, c);
	}
	return rc;
}

/* Move one place of the node at hand one step further in: to the next inlined function, or to the
 * callees. */
static int step(struct dw_tree *b, uint32_t p)
{
	if (!b->slot || !b->slot[p])
		return add_callees(b, p);
	b->slot[p]--;
	return add_to_child(b, p);
}

static int expand_all(struct dw_tree *b)
{
	struct dw_pending p;
	int rc = 0;

	while (!rc && dw_growth_next(&b->growth, &p)) {
		dw_growth_begin(&b->growth, p.node);
		for (uint32_t at = p.head, next; at && !rc; at = next) {
			next = b->next[at];
			rc = step(b, at);
		}
		dw_growth_end(&b->growth);
	}
	return rc;
}

/* What has no frame becomes a child of its own. */
static int add_unknown(struct dw_tree *b, uint32_t root)
{
	struct dw_pending *child = find_child(b, 0);
	struct dw_amounts *out = &b->growth.out->node_amounts;

	if (!child || dw_cct_add_span(b->cct, root, root + 1, out, child->node, false))
		return -ENOMEM;
	return dw_cct_add_own(b->cct, root, out, child->node);
}

/* What begins in the process: of calls its threads stand between. */
static int add_outermost(struct dw_tree *b, uint32_t root)
{
	const struct dw_cct *t = b->cct;
	int rc = 0;

	if (!b->of_calls)
		return add_callees(b, root);
	for (uint32_t thread = root + 1; thread < t->end[root] && !rc; thread = t->end[thread])
		rc = add_callees(b, thread);
	return rc;
}

/* The whole process: a root node, and samples without a frame in a child of their own. */
static int build_whole(struct dw_tree *b, uint32_t root, uint32_t process)
{
	struct dw_node_total row = {.parent = UINT32_MAX, .process = process};
	uint32_t node;

	if (dw_growth_root(&b->growth, &row, &node))
		return -ENOMEM;
	note_first(b, node, process);
	dw_growth_begin(&b->growth, node);
	if (dw_cct_add_all(b->cct, root, &b->growth.out->node_amounts, node) ||
	    (dw_cct_has_own(b->cct, root) && add_unknown(b, root)) || add_outermost(b, root))
		return -ENOMEM;
	dw_growth_end(&b->growth);
	return expand_all(b);
}

/* Whether the path at @p is in b->root; then that becomes the function at hand there. */
static bool is_place(struct dw_tree *b, uint32_t p)
{
	const uint32_t *functions;

	if (!b->slot)
		return b->cct->subject[p] == b->root;
	functions = &b->subjects->function[first_slot(b, p)];
	for (uint32_t slot = outer_n(b, p) + 1; slot--;)
		if (functions[slot] == b->root) {
			b->slot[p] = (uint16_t)slot;
			return true;
		}
	return false;
}

/* Below the outermost places of b->root; what lies below them is not looked at. */
static int build_below(struct dw_tree *b, uint32_t root, uint32_t process)
{
	struct dw_node_total row = {.parent = UINT32_MAX, .process = process, .function = b->root};
	struct dw_pending top = {0};
	int rc = dw_growth_root(&b->growth, &row, &top.node);

	if (rc)
		return rc;
	note_first(b, top.node, process);
	for (uint32_t p = root + 1; p < b->cct->end[root] && !rc;) {
		bool is_one = is_place(b, p);

		if (is_one)
			rc = add_place(b, p, top.node, &top.head);
		p = is_one ? b->cct->end[p] : p + 1;
	}
	if (!rc && !top.head) {
		dw_growth_drop(&b->growth);
		return 0;
	}
	return rc || dw_vec_push(&b->growth.todo, top) ? -ENOMEM : expand_all(b);
}

int dw_tree_build(struct dw_tree *b, uint32_t root, uint32_t process, struct dw_totals *ret)
{
	if (make_room(b))
		return -ENOMEM;
	b->growth.out = ret;
	return b->root ? build_below(b, root, process) : build_whole(b, root, process);
}

void dw_tree_free(struct dw_tree *b)
{
	if (!b)
		return;
	free(b->next);
	free(b->slot);
	dw_growth_release(&b->growth);
	free(b);
}
