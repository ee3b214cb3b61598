/*
 * Trim and fold; see shape.h. A child's inclusive value is never above its parent's, so that a
 * trimmed node's children are trimmed by the same comparison.
 */
#include "analysis/shape.h"

#include <errno.h>
#include <stdlib.h>

/* Whether @n of the main measure and @blocked_ns are below @pct of all, or nothing. */
static bool is_small(const struct dw_totals *t, uint64_t n, uint64_t blocked_ns, double pct)
{
	uint64_t all_ns = t->all[DWELL_MEASURE_BLOCKED];
	bool few =
		(double)n * 100 < pct * (double)t->all[t->main] || (dw_totals_has_waits(t) && !n);

	return few && ((double)blocked_ns * 100 < pct * (double)all_ns || !blocked_ns);
}

/* Per node: how many children are shown, up to 2. */
static void count_children(const struct dw_totals *t, const uint8_t *shape, uint8_t *children)
{
	for (size_t i = 0; i < t->nodes.n; i++) {
		uint32_t parent = t->nodes.v[i].parent;

		if (parent < i && !(shape[i] & DWELL_NODE_TRIMMED) && children[parent] < 2)
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
static bool is_link(const struct dw_totals *t, uint32_t node, double pct)
{
	uint64_t blocked = dw_totals_node_waits(t, node).exclusive;
	uint64_t own = dw_totals_node_values(t, node)->exclusive;

	return is_function(t, &t->nodes.v[node]) &&
	       ((!own && !blocked) || is_small(t, own, blocked, pct));
}

int dw_shape_nodes(const struct dw_totals *t, const struct dw_shape_options *options, uint8_t **ret)
{
	uint8_t *shape = calloc(t->nodes.n + 1, 1), *children = calloc(t->nodes.n + 1, 1);

	if (!shape || !children) {
		free(shape);
		free(children);
		return -ENOMEM;
	}
	for (size_t i = 0; i < t->nodes.n; i++)
		if (options->trim_pct > 0 &&
		    is_small(t, dw_totals_node_values(t, i)->inclusive,
			     dw_totals_node_waits(t, i).inclusive, options->trim_pct))
			shape[i] |= DWELL_NODE_TRIMMED;
	count_children(t, shape, children);
	for (size_t i = 0; options->fold && i < t->nodes.n; i++) {
		uint32_t parent = t->nodes.v[i].parent;

		if (parent < i && !shape[i] && children[parent] == 1 &&
		    is_function(t, &t->nodes.v[i]) && is_link(t, parent, options->trim_pct))
			shape[i] |= DWELL_NODE_FOLDED;
	}
	free(children);
	*ret = shape;
	return 0;
}
