/*
 * Trim, fold and find the hot path; see prune.h. A child's inclusive value is never above its
 * parent's, so that a trimmed node's children are trimmed by the same comparison. Children follow
 * their parents in the array, so one pass finds each node's heaviest child.
 */
#include "analysis/prune.h"

#include "model/worth.h"

#include <errno.h>
#include <stdlib.h>

/* Per node: how many children are shown, up to 2. */
static void count_children(const struct dw_totals *t, const uint8_t *pruning, uint8_t *children)
{
	for (size_t i = 0; i < t->nodes.n; i++) {
		uint32_t parent = t->nodes.v[i].parent;

		if (parent < i && !(pruning[i] & DWELL_NODE_TRIMMED) && children[parent] < 2)
			children[parent]++;
	}
}

/* Whether @node is a function, neither a root nor a thread's root row nor what was truncated. */
static bool is_function(const struct dw_totals *t, const struct dw_node_total *node)
{
	return node->function && (node->level || !t->nodes_by_type) &&
	       node->function != (uint32_t)DWELL_FUNCTION_ROOT &&
	       node->function != (uint32_t)DWELL_FUNCTION_TRUNCATED;
}

/* Whether @node says nothing that its only child does not say: of its own it has next to nothing.
 */
static bool is_link(const struct dw_totals *t, uint32_t node, const struct dw_worth *worth)
{
	return is_function(t, &t->nodes.v[node]) &&
	       !dw_worth_has(worth, &t->node_amounts, node, true);
}

int dw_prune_nodes(const struct dw_totals *t, const struct dw_prune_options *options, uint8_t **ret)
{
	uint8_t *pruning = calloc(t->nodes.n + 1, 1), *children = calloc(t->nodes.n + 1, 1);
	struct dw_worth worth;

	if (!pruning || !children) {
		free(pruning);
		free(children);
		return -ENOMEM;
	}
	dw_worth_init(&worth, t, options->trim_pct);
	for (size_t i = 0; i < t->nodes.n; i++)
		if (options->trim_pct > 0 && !dw_worth_has(&worth, &t->node_amounts, i, false))
			pruning[i] |= DWELL_NODE_TRIMMED;
	count_children(t, pruning, children);
	for (size_t i = 0; options->fold && i < t->nodes.n; i++) {
		uint32_t parent = t->nodes.v[i].parent;

		if (parent < i && !pruning[i] && children[parent] == 1 &&
		    is_function(t, &t->nodes.v[i]) && is_link(t, parent, &worth))
			pruning[i] |= DWELL_NODE_FOLDED;
	}
	free(children);
	*ret = pruning;
	return 0;
}

/* The heaviest child of each node, by node; UINT32_MAX = none. The heaviest root goes to *@root.
 * Paths that were not drawn are none that could be followed. */
static uint32_t *find_heaviest(const struct dw_totals *t, uint32_t *root)
{
	uint32_t *best = malloc((t->nodes.n + 1) * sizeof *best);

	*root = UINT32_MAX;
	for (size_t i = 0; best && i < t->nodes.n; i++) {
		uint32_t parent = t->nodes.v[i].parent;
		uint32_t *slot = parent < i ? &best[parent] : root;

		best[i] = UINT32_MAX;
		if (t->nodes.v[i].function == (uint32_t)DWELL_FUNCTION_TRUNCATED)
			continue;
		if (*slot == UINT32_MAX ||
		    dw_totals_node_work(t, (uint32_t)i) > dw_totals_node_work(t, *slot))
			*slot = (uint32_t)i;
	}
	return best;
}

/* A path ends where no callee has half of its caller. Below its first node alone, which may be a
 * process of many threads, the heaviest one is told, too. */
enum { MOST_PART = 2, FIRST_PART = 10 };

int dw_hot_path_find(const struct dw_totals *t, struct dw_hot_path *ret)
{
	uint32_t at, *heaviest = find_heaviest(t, &at);
	uint64_t parent = 0;
	int rc = heaviest ? 0 : -ENOMEM;

	*ret = (struct dw_hot_path){0};
	while (!rc && at != UINT32_MAX &&
	       dw_totals_node_work(t, at) * (ret->nodes.n == 1 ? FIRST_PART : MOST_PART) >=
		       parent) {
		rc = dw_vec_push(&ret->nodes, at);
		parent = dw_totals_node_work(t, at);
		at = heaviest[at];
	}
	free(heaviest);
	return rc;
}

void dw_hot_path_release(struct dw_hot_path *h)
{
	dw_vec_release(&h->nodes);
}
