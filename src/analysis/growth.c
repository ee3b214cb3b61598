/*
 * Growing trees; see growth.h.
 *
 * Groups are found through an array, so that no hash table is needed: a node made of a group counts
 * if it is of the block at hand, whose indices are the highest. Nodes are expanded depth first,
 * because places that follow one another mostly lie on one path; and where only the first rows of a
 * sorted tree are wanted, in the order of these rows, so that the others need not be made.
 */
#include "analysis/growth.h"

#include <errno.h>
#include <stdlib.h>

int dw_growth_init(struct dw_growth *g, const struct dw_focus *focus, uint32_t groups)
{
	*g = (struct dw_growth){.focus = focus};
	g->made = calloc(groups, sizeof *g->made);
	return g->made ? 0 : -ENOMEM;
}

static int push_node(struct dw_growth *g, const struct dw_node_total *node, uint32_t thread)
{
	struct dw_totals *out = g->out;

	if (out->nodes.n >= UINT32_MAX - 1 || dw_amounts_push(&out->node_amounts) == UINT32_MAX ||
	    (g->has_threads && (dw_vec_push(&out->node_threads, thread) ||
				dw_vec_push(&out->node_firsts, UINT32_MAX))))
		return -ENOMEM;
	return dw_vec_push(&out->nodes, *node);
}

int dw_growth_root(struct dw_growth *g, const struct dw_node_total *root, uint32_t *ret)
{
	g->expanded = g->todo.n = 0;
	*ret = (uint32_t)g->out->nodes.n;
	return push_node(g, root, 0);
}

/* Keep the first @n nodes. */
static void cut(struct dw_growth *g, size_t n)
{
	g->out->nodes.n = n;
	dw_amounts_cut(&g->out->node_amounts, n);
	if (g->has_threads)
		g->out->node_threads.n = g->out->node_firsts.n = n;
}

void dw_growth_drop(struct dw_growth *g)
{
	cut(g, g->out->nodes.n - 1);
}

void dw_growth_begin(struct dw_growth *g, uint32_t node)
{
	g->at = node;
	g->first = (uint32_t)g->out->nodes.n;
	g->first_todo = g->todo.n;
}

struct dw_pending *dw_growth_child(struct dw_growth *g, uint32_t group, uint32_t function,
				   uint32_t thread)
{
	uint32_t *made = &g->made[group];
	const struct dw_node_total *up = &g->out->nodes.v[g->at];
	struct dw_node_total node = {.parent = g->at,
				     .process = up->process,
				     .function = function,
				     .level = up->level + 1};

	if (*made < g->first) {
		*made = (uint32_t)g->out->nodes.n;
		if (push_node(g, &node, thread) ||
		    dw_vec_push(&g->todo, (struct dw_pending){*made, 0, group}))
			return NULL;
	}
	return &g->todo.v[g->first_todo + (*made - g->first)];
}

/* Make @from, a child of the block at hand, its child @to. */
static void move_child(struct dw_growth *g, uint32_t from, uint32_t to)
{
	struct dw_pending *todo = g->todo.v + g->first_todo;
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

/* Whether @n of @all are enough to be kept. */
static bool is_much(const struct dw_growth *g, uint64_t n, uint64_t all)
{
	return (double)n * 100 >= g->focus->min_pct * (double)all;
}

/* Whether a child is kept: heavy enough, or the heaviest. */
static bool is_wanted(const struct dw_growth *g, uint32_t node, uint32_t heaviest)
{
	const struct dw_totals *out = g->out;
	uint64_t n = dw_totals_node_values(out, node)->inclusive;
	uint64_t ns = dw_totals_node_waits(out, node).inclusive;

	if (g->focus->hot_path)
		return node == heaviest;
	return (ns && is_much(g, ns, out->all[DWELL_MEASURE_BLOCKED])) ||
	       (n && is_much(g, n, out->all[out->main]));
}

/* On the whole tree this saves most of the time and memory. */
static void prune(struct dw_growth *g)
{
	struct dw_totals *out = g->out;
	uint32_t end = (uint32_t)out->nodes.n, kept = g->first, heaviest = g->first;

	for (uint32_t i = g->first; i < end; i++)
		if (dw_totals_node_weight(out, i).inclusive >
		    dw_totals_node_weight(out, heaviest).inclusive)
			heaviest = i;
	for (uint32_t i = g->first; i < end; i++) {
		/* The next block starts at an index that this group may have had. */
		g->made[g->todo.v[g->first_todo + (i - g->first)].group] = 0;
		if (is_wanted(g, i, heaviest))
			move_child(g, i, kept++);
	}
	out->branches_left_out += end - kept;
	cut(g, kept);
	g->todo.n = g->first_todo + (kept - g->first);
}

/* By what rows are sorted by, backwards. */
static int compare(const void *pa, const void *pb, void *out)
{
	uint32_t x = ((const struct dw_pending *)pa)->node,
		 y = ((const struct dw_pending *)pb)->node;
	struct dw_values a = dw_totals_node_weight(out, x), b = dw_totals_node_weight(out, y);

	if (a.inclusive != b.inclusive)
		return a.inclusive < b.inclusive ? -1 : 1;
	if (a.exclusive != b.exclusive)
		return a.exclusive < b.exclusive ? -1 : 1;
	return x > y ? -1 : 1;
}

void dw_growth_end(struct dw_growth *g)
{
	if (g->focus->hot_path || g->focus->min_pct > 0)
		prune(g);
	if (g->focus->rows && g->todo.n - g->first_todo > 1)
		qsort_r(g->todo.v + g->first_todo, g->todo.n - g->first_todo, sizeof *g->todo.v,
			compare, g->out);
}

bool dw_growth_next(struct dw_growth *g, struct dw_pending *ret)
{
	if (!g->todo.n || (g->focus->rows && g->expanded >= g->focus->rows))
		return false;
	g->expanded++;
	*ret = g->todo.v[--g->todo.n];
	return true;
}

void dw_growth_release(struct dw_growth *g)
{
	free(g->made);
	dw_vec_release(&g->todo);
	*g = (struct dw_growth){0};
}
