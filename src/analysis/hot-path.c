/*
 * The hot path; see hot-path.h. Children follow their parents in the array, so one pass finds each
 * node's heaviest child.
 */
#include "analysis/hot-path.h"

#include <errno.h>

static uint64_t weight(const struct dw_totals *t, uint32_t node)
{
	return dw_totals_node_weight(t, node).inclusive;
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
		if (*slot == UINT32_MAX || weight(t, (uint32_t)i) > weight(t, *slot))
			*slot = (uint32_t)i;
	}
	return best;
}

int dw_hot_path_find(const struct dw_totals *t, struct dw_hot_path *ret)
{
	uint32_t at, *heaviest = find_heaviest(t, &at);
	uint64_t parent = 0;
	int rc = heaviest ? 0 : -ENOMEM;

	*ret = (struct dw_hot_path){0};
	while (!rc && at != UINT32_MAX && weight(t, at) * 2 >= parent) {
		rc = dw_vec_push(&ret->nodes, at);
		parent = weight(t, at);
		at = heaviest[at];
	}
	free(heaviest);
	return rc;
}

void dw_hot_path_release(struct dw_hot_path *h)
{
	dw_vec_release(&h->nodes);
}
