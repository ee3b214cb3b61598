/*
 * Call trees; see tree.h.
 *
 * Trees grow from each node to its children, as far as somebody looks. A node stands for a set of
 * places, which are linked lists through one array; to expand it, its places take one step, and are
 * put into groups by a dense id, each of which becomes a child.
 *
 * Groups are found through an array, so that no hash table is needed: a node made of a group counts
 * if it is of the block at hand, whose indices are the highest. Nodes are expanded depth first,
 * because places that follow one another mostly lie on one path; and where only the first rows of a
 * sorted tree are wanted, in the order of these rows, so that the others need not be made.
 */
#include "analysis/tree.h"

#include "analysis/row-keys.h"
#include "base/vec.h"
#include "model/worth.h"

#include <errno.h>
#include <stdlib.h>

/* A node that has still to be expanded. */
struct work {
	uint32_t node;
	uint32_t head;	/* the builder's: the first of its places, 0 = none yet */
	uint32_t group; /* that it was made of */
};

/* What the builder chooses once, then the tree at hand. */
struct builder {
	const struct dw_focus *focus;
	struct dw_worth worth; /* nodes that are wanted */
	struct dw_totals *out;
	bool has_threads;	  /* nodes have a row in out->node_threads and node_firsts */
	uint32_t *made;		  /* by group: the last node made of it */
	uint32_t at;		  /* the node whose children are being made, */
	uint32_t first;		  /* the first of them, */
	size_t first_todo;	  /* and its entry in todo */
	size_t expanded;	  /* nodes, in the tree at hand */
	DW_VEC(struct work) todo; /* the next one last */
};

/* Prepare for groups below @groups. */
static int builder_init(struct builder *g, const struct dw_focus *focus, uint32_t groups)
{
	*g = (struct builder){.focus = focus};
	g->made = calloc(groups, sizeof *g->made);
	return g->made ? 0 : -ENOMEM;
}

/* Append to @out, whose sums are known, from now on. */
static void begin_output(struct builder *g, struct dw_totals *out)
{
	g->out = out;
	dw_worth_init(&g->worth, out, g->focus->min_pct);
}

static int push_node(struct builder *g, const struct dw_node_total *node, uint32_t thread)
{
	struct dw_totals *out = g->out;

	if (out->nodes.n >= UINT32_MAX - 1 || dw_amounts_push(&out->node_amounts) == UINT32_MAX ||
	    (g->has_threads && (dw_vec_push(&out->node_threads, thread) ||
				dw_vec_push(&out->node_firsts, UINT32_MAX))))
		return -ENOMEM;
	return dw_vec_push(&out->nodes, *node);
}

/* Append @root, of a new tree, and give its index. What was left of the one before is forgotten. */
static int add_root(struct builder *g, const struct dw_node_total *root, uint32_t *ret)
{
	g->expanded = g->todo.n = 0;
	*ret = (uint32_t)g->out->nodes.n;
	return push_node(g, root, 0);
}

static void cut(struct builder *g, size_t n)
{
	g->out->nodes.n = n;
	dw_amounts_cut(&g->out->node_amounts, n);
	if (g->has_threads)
		g->out->node_threads.n = g->out->node_firsts.n = n;
}

/* Make the children of @node from now on. */
static void begin_children(struct builder *g, uint32_t node)
{
	g->at = node;
	g->first = (uint32_t)g->out->nodes.n;
	g->first_todo = g->todo.n;
}

/* The child of @group, made when new, borrowed until the next is asked for. Its values are the
 * caller's to add. NULL without memory. */
static struct work *find_child(struct builder *g, uint32_t group, uint32_t function,
			       uint32_t thread)
{
	uint32_t *made = &g->made[group];
	const struct dw_node_total *up = &g->out->nodes.v[g->at];
	struct dw_node_total node = {
		.parent = g->at, .lane = up->lane, .function = function, .level = up->level + 1};

	if (*made < g->first) {
		*made = (uint32_t)g->out->nodes.n;
		if (push_node(g, &node, thread) ||
		    dw_vec_push(&g->todo, (struct work){*made, 0, group}))
			return NULL;
	}
	return &g->todo.v[g->first_todo + (*made - g->first)];
}

/* Make @from, a child of the block at hand, its child @to. */
static void move_child(struct builder *g, uint32_t from, uint32_t to)
{
	struct work *todo = g->todo.v + g->first_todo;
	struct dw_totals *out = g->out;

	out->nodes.v[to] = out->nodes.v[from];
	dw_amounts_move(&out->node_amounts, to, from);
	if (g->has_threads) {
		out->node_threads.v[to] = out->node_threads.v[from];
		out->node_firsts.v[to] = out->node_firsts.v[from];
	}
	todo[to - g->first] = todo[from - g->first];
	todo[to - g->first].node = to;
}

/* Whether a child is kept: heavy enough, or the heaviest. */
static bool is_wanted(const struct builder *g, uint32_t node, uint32_t heaviest)
{
	if (g->focus->hot_path)
		return node == heaviest;
	return dw_worth_has(&g->worth, &g->out->node_amounts, node, false);
}

/* On the whole tree this saves most of the time and memory. Roots are always made, and what is
 * below one that nobody looks at is left out with it. */
static void leave_out(struct builder *g)
{
	struct dw_totals *out = g->out;
	const bool is_counted = dw_worth_has(&g->worth, &out->node_amounts, g->at, false);
	uint64_t weight = 0;
	uint32_t end = (uint32_t)out->nodes.n, kept = g->first, heaviest = g->first;

	for (uint32_t i = g->first; i < end; i++)
		if (dw_totals_node_work(out, i) > dw_totals_node_work(out, heaviest))
			heaviest = i;
	for (uint32_t i = g->first; i < end; i++) {
		/* The next block starts at an index that this group may have had. */
		g->made[g->todo.v[g->first_todo + (i - g->first)].group] = 0;
		if (is_wanted(g, i, heaviest))
			move_child(g, i, kept++);
		else
			weight += dw_totals_node_weight(out, i).inclusive;
	}
	out->branches_left_out += is_counted ? end - kept : 0;
	out->weight_left_out += is_counted ? weight : 0;
	cut(g, kept);
	g->todo.n = g->first_todo + (kept - g->first);
}

/* By what rows are sorted by, backwards. */
static int compare(const void *pa, const void *pb, void *out)
{
	uint32_t x = ((const struct work *)pa)->node, y = ((const struct work *)pb)->node;
	struct dw_values a = dw_totals_node_weight(out, x), b = dw_totals_node_weight(out, y);

	if (a.inclusive != b.inclusive)
		return a.inclusive < b.inclusive ? -1 : 1;
	if (a.exclusive != b.exclusive)
		return a.exclusive < b.exclusive ? -1 : 1;
	return x > y ? -1 : 1;
}

/* All children of the node are made, with their values: leave out those that nobody looks at. */
static void end_children(struct builder *g)
{
	if (g->focus->hot_path || g->focus->min_pct > 0)
		leave_out(g);
	if (g->focus->rows && g->todo.n - g->first_todo > 1)
		qsort_r(g->todo.v + g->first_todo, g->todo.n - g->first_todo, sizeof *g->todo.v,
			compare, g->out);
}

/* Take a node to expand. False when no more are wanted: what is still in todo has no children. */
static bool next_node(struct builder *g, struct work *ret)
{
	if (!g->todo.n || (g->focus->rows && g->expanded >= g->focus->rows))
		return false;
	g->expanded++;
	*ret = g->todo.v[--g->todo.n];
	return true;
}

static void builder_release(struct builder *g)
{
	free(g->made);
	dw_vec_release(&g->todo);
	*g = (struct builder){0};
}

/* Places of trees by functions are paths and one of their frame's functions: inlined functions make
 * several of one path. */
struct dw_tree {
	const struct dw_cct *cct;
	const struct dw_row_keys *row_keys;
	struct builder builder;
	uint32_t *next;	 /* by position: the next place of its node, 0 = none */
	uint16_t *slot;	 /* likewise: the function at hand, as an offset from the innermost. NULL =
			    paths are about functions, not frames */
	uint32_t places; /* that there is room for */
	uint32_t root;	 /* function, 0 = whole lanes */
	bool of_calls;
};

int dw_tree_new(const struct dw_cct *t, const struct dw_row_keys *row_keys,
		const struct dw_focus *focus, struct dw_tree **ret)
{
	struct dw_tree *b = calloc(1, sizeof *b);

	if (!b)
		return -ENOMEM;
	*b = (struct dw_tree){
		.cct = t, .row_keys = row_keys, .root = focus->root, .of_calls = row_keys->roots.n};
	if (builder_init(&b->builder, focus, dw_row_keys_truncated(row_keys) + 1)) {
		dw_tree_free(b);
		return -ENOMEM;
	}
	b->builder.has_threads = b->of_calls;
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

static uint32_t first_slot(const struct dw_tree *b, uint32_t p)
{
	return b->row_keys->first[b->cct->about[p]];
}

/* How many further functions the frame at @p has, outside of the innermost one. */
static uint32_t outer_n(const struct dw_tree *b, uint32_t p)
{
	return b->slot ? b->row_keys->first[b->cct->about[p] + 1] - first_slot(b, p) - 1 : 0;
}

static uint32_t function_at(const struct dw_tree *b, uint32_t p)
{
	return b->slot ? b->row_keys->function[first_slot(b, p) + b->slot[p]] : b->cct->about[p];
}

/* The child of the node at hand for @function, as find_child() gives it. */
static struct work *node_for(struct dw_tree *b, uint32_t function)
{
	uint32_t thread, name = dw_row_keys_function(b->row_keys, function, &thread);

	return find_child(&b->builder, function, name, thread);
}

/* Among siblings those whose paths have the smallest ids were called first. */
static void note_first(struct dw_tree *b, uint32_t node, uint32_t id)
{
	uint32_t *first = b->of_calls ? &b->builder.out->node_firsts.v[node] : NULL;

	if (first && id < *first)
		*first = id;
}

/* What statements below @p have of their own is their function's, as what it has itself. */
static int add_own(struct dw_tree *b, uint32_t p, uint32_t node)
{
	const struct dw_cct *t = b->cct;
	struct dw_amounts *out = &b->builder.out->node_amounts;
	int rc = dw_cct_add_own(t, p, out, node);

	for (uint32_t c = p + 1; t->has_statements && c < t->end[p]; c = t->end[c])
		if (t->about[c] == DWELL_CCT_STATEMENT)
			rc |= dw_cct_add_own(t, c, out, node);
	return rc;
}

/* The place at @p is one of @node, a child of which @list is the first so far. */
static int add_place(struct dw_tree *b, uint32_t p, uint32_t node, uint32_t *list)
{
	note_first(b, node, b->cct->id[p]);
	b->next[p] = *list;
	*list = p;
	if (dw_cct_add_all(b->cct, p, &b->builder.out->node_amounts, node))
		return -ENOMEM;
	return b->slot && b->slot[p] ? 0 : add_own(b, p, node);
}

static int add_to_child(struct dw_tree *b, uint32_t p)
{
	struct work *child = node_for(b, function_at(b, p));

	return child ? add_place(b, p, child->node, &child->head) : -ENOMEM;
}

/* The callees of the path at @p become places of their own. */
static int add_callees(struct dw_tree *b, uint32_t p)
{
	const struct dw_cct *t = b->cct;
	int rc = 0;

	for (uint32_t c = p + 1; c < t->end[p] && !rc; c = t->end[c]) {
		if (t->about[c] == DWELL_CCT_STATEMENT)
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
	struct work p;
	int rc = 0;

	while (!rc && next_node(&b->builder, &p)) {
		begin_children(&b->builder, p.node);
		for (uint32_t at = p.head, next; at && !rc; at = next) {
			next = b->next[at];
			rc = step(b, at);
		}
		end_children(&b->builder);
	}
	return rc;
}

/* What has no frame becomes a child of its own. */
static int add_unknown(struct dw_tree *b, uint32_t root)
{
	struct work *child = node_for(b, 0);
	struct dw_amounts *out = &b->builder.out->node_amounts;

	if (!child || dw_cct_add_span(b->cct, root, root + 1, out, child->node, false))
		return -ENOMEM;
	return dw_cct_add_own(b->cct, root, out, child->node);
}

/* What begins in the lane: of calls its threads stand between. */
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

/* Room for nodes of @n paths, where all of them are wanted: what grows step by step is copied as
 * often. Not having it is no failure. */
static void expect_nodes(struct builder *g, size_t n)
{
	struct dw_totals *out = g->out;

	if (g->focus->min_pct > 0 || g->focus->hot_path || g->focus->rows)
		return;
	(void)dw_amounts_reserve(&out->node_amounts, n);
	(void)dw_vec_reserve(&out->nodes, n);
	if (g->has_threads) {
		(void)dw_vec_reserve(&out->node_threads, n);
		(void)dw_vec_reserve(&out->node_firsts, n);
	}
}

/* The whole lane: a root node, and samples without a frame in a child of their own. */
static int build_whole(struct dw_tree *b, uint32_t root, uint32_t lane)
{
	struct dw_node_total row = {.parent = UINT32_MAX, .lane = lane};
	uint32_t node;

	expect_nodes(&b->builder, b->cct->end[root] - root);
	if (add_root(&b->builder, &row, &node))
		return -ENOMEM;
	note_first(b, node, lane);
	begin_children(&b->builder, node);
	if (dw_cct_add_all(b->cct, root, &b->builder.out->node_amounts, node) ||
	    (dw_cct_has_own(b->cct, root) && add_unknown(b, root)) || add_outermost(b, root))
		return -ENOMEM;
	end_children(&b->builder);
	return expand_all(b);
}

/* Whether the path at @p is in b->root; then that becomes the function at hand there. */
static bool is_place(struct dw_tree *b, uint32_t p)
{
	const uint32_t *functions;

	if (!b->slot)
		return b->cct->about[p] == b->root;
	functions = &b->row_keys->function[first_slot(b, p)];
	for (uint32_t slot = outer_n(b, p) + 1; slot--;)
		if (functions[slot] == b->root) {
			b->slot[p] = (uint16_t)slot;
			return true;
		}
	return false;
}

/* Below the outermost places of b->root; what lies below them is not looked at. */
static int build_below(struct dw_tree *b, uint32_t root, uint32_t lane)
{
	struct dw_node_total row = {.parent = UINT32_MAX, .lane = lane, .function = b->root};
	struct work top = {0};
	int rc = add_root(&b->builder, &row, &top.node);

	if (rc)
		return rc;
	note_first(b, top.node, lane);
	for (uint32_t p = root + 1; p < b->cct->end[root] && !rc;) {
		bool is_one = is_place(b, p);

		if (is_one)
			rc = add_place(b, p, top.node, &top.head);
		p = is_one ? b->cct->end[p] : p + 1;
	}
	if (!rc && !top.head) {
		cut(&b->builder, top.node);
		return 0;
	}
	return rc || dw_vec_push(&b->builder.todo, top) ? -ENOMEM : expand_all(b);
}

int dw_tree_build(struct dw_tree *b, uint32_t root, uint32_t lane, struct dw_totals *ret)
{
	if (make_room(b))
		return -ENOMEM;
	begin_output(&b->builder, ret);
	return b->root ? build_below(b, root, lane) : build_whole(b, root, lane);
}

void dw_tree_free(struct dw_tree *b)
{
	if (!b)
		return;
	free(b->next);
	free(b->slot);
	builder_release(&b->builder);
	free(b);
}

/* A place of an inverted tree: one type and one stack, of all threads together, which stands at
 * first at the function that allocated, and takes its steps outwards. */
struct chain {
	uint32_t stack; /* where it stands, 0 = at its outer end */
	uint32_t slot;	/* the function at hand there, as an offset from the innermost */
	uint32_t next;	/* chain + 1, 0 ends */
	struct dw_alloc_values values;
};

struct inverted {
	const struct dw_points *points;
	struct dw_row_keys row_keys;
	const struct dw_stacks *stacks;
	struct dw_totals *out;
	struct builder builder;
	DW_VEC(struct chain) chains;
};

/* The @n points from @first on by type and stack, whose numbers are the keys' halves. NULL without
 * memory. */
static struct dw_sort_row *sort_points(const struct dw_points *t, size_t first, size_t n)
{
	struct dw_sort_row *rows = malloc((n + 1) * sizeof *rows);

	for (size_t i = 0; rows && i < n; i++) {
		struct dw_point point = dw_points_get(t, first + i);

		rows[i] = (struct dw_sort_row){(uint64_t)point.type << 32 | point.stack, first + i};
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

static uint32_t stack_frame(const struct inverted *b, uint32_t stack)
{
	const struct dw_stack *s = dw_stacks_get(b->stacks, stack);

	return s && s->frame < b->row_keys.frames_n ? s->frame : 0;
}

static uint32_t chain_function(const struct inverted *b, const struct chain *w)
{
	return b->row_keys.function[b->row_keys.first[stack_frame(b, w->stack)] + w->slot];
}

/* One step outwards. False at the outer end. */
static bool step_out(const struct inverted *b, struct chain *w)
{
	uint32_t frame = stack_frame(b, w->stack), parent;
	const struct dw_stack *s = dw_stacks_get(b->stacks, w->stack);

	if (w->slot + 1 < b->row_keys.first[frame + 1] - b->row_keys.first[frame]) {
		w->slot++;
		return true;
	}
	parent = s && s->parent < w->stack ? s->parent : 0;
	w->stack = parent;
	w->slot = 0;
	return parent;
}

/* @w counts for @node; @own: it was allocated there. 0 or -ENOMEM. */
static int add_chain(struct inverted *b, uint32_t node, const struct chain *w, bool own)
{
	struct dw_amounts *out = &b->out->node_amounts;
	struct dw_amount amount;

	dw_amount_of_allocs(out, &w->values, &amount);
	return dw_amounts_add(out, node, &amount, own ? DWELL_BOTH : DWELL_INCLUSIVE);
}

/* Put chain number @i into the child of its function. */
static int add_to_caller(struct inverted *b, uint32_t i)
{
	struct chain *w = &b->chains.v[i];
	uint32_t function = chain_function(b, w), thread;
	uint32_t name = dw_row_keys_function(&b->row_keys, function, &thread);
	struct work *child = find_child(&b->builder, function, name, thread);

	if (!child || add_chain(b, child->node, w, b->out->nodes.v[child->node].level == 1))
		return -ENOMEM;
	w->next = child->head;
	child->head = i + 1;
	return 0;
}

/* Make the children of @p. Below a type, chains stand where their function is; else they step. */
static int expand_inverted(struct inverted *b, struct work p)
{
	bool stepping = b->out->nodes.v[p.node].level;
	int rc = 0;

	begin_children(&b->builder, p.node);
	for (uint32_t i = p.head, next; i && !rc; i = next) {
		struct chain *w = &b->chains.v[i - 1];

		next = w->next;
		if (!stepping || step_out(b, w))
			rc = add_to_caller(b, i - 1);
	}
	end_children(&b->builder);
	return rc;
}

static int gather_chains(struct inverted *b, const struct dw_sort_row *rows, size_t n)
{
	b->chains.n = 0;
	for (size_t i = 0; i < n; i++) {
		struct dw_alloc_values values = dw_points_allocs(b->points, rows[i].row);
		struct chain w = {.stack = (uint32_t)rows[i].key, .next = (uint32_t)b->chains.n};

		if ((!i || rows[i].key != rows[i - 1].key) && dw_vec_push(&b->chains, w))
			return -ENOMEM;
		dw_alloc_values_add(&b->chains.v[b->chains.n - 1].values, &values);
	}
	return 0;
}

static int build_type(struct inverted *b, uint32_t lane, const struct dw_sort_row *rows, size_t n)
{
	struct dw_node_total root = {.parent = UINT32_MAX, .lane = lane, .function = type_of(rows)};
	struct work p = {0};
	int rc = gather_chains(b, rows, n);

	if (rc || add_root(&b->builder, &root, &p.node))
		return -ENOMEM;
	p.head = (uint32_t)b->chains.n;
	for (size_t i = 0; i < b->chains.n && !rc; i++)
		rc = add_chain(b, p.node, &b->chains.v[i], true);
	if (!rc)
		rc = dw_vec_push(&b->builder.todo, p);
	while (!rc && next_node(&b->builder, &p))
		rc = expand_inverted(b, p);
	return rc;
}

/* The trees of @lane, whose @n points begin at @first. */
static int build_types(struct inverted *b, uint32_t lane, size_t first, size_t n)
{
	struct dw_sort_row *rows = sort_points(b->points, first, n);
	int rc = rows ? 0 : -ENOMEM;
	size_t end;

	for (size_t i = 0; i < n && !rc; i = end) {
		for (end = i; end < n && type_of(&rows[end]) == type_of(&rows[i]); end++)
			;
		rc = build_type(b, lane, rows + i, end - i);
	}
	free(rows);
	return rc;
}

int dw_alloc_paths_build(const struct dw_points *points, struct dw_totals *ret)
{
	const struct dw_profile *p = points->profile;
	struct inverted b = {.points = points, .stacks = &p->stacks, .out = ret};
	int rc = dw_row_keys_init(&b.row_keys, p, DWELL_LINE_KEYS_NONE);

	ret->nodes_by_type = true;
	if (!rc)
		rc = builder_init(&b.builder, &points->filter->focus,
				  dw_row_keys_none(&b.row_keys));
	if (!rc)
		begin_output(&b.builder, ret);
	for (uint32_t lane = 0; lane < points->lanes.n && !rc; lane++) {
		size_t first = lane ? points->end[lane - 1] : 0;

		if (first < points->end[lane])
			rc = build_types(&b, lane, first, points->end[lane] - first);
	}
	builder_release(&b.builder);
	dw_vec_release(&b.chains);
	dw_row_keys_release(&b.row_keys);
	return rc;
}
