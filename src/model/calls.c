/* The table of call nodes; see calls.h. */
#include "model/calls.h"

#include <errno.h>

int dw_calls_add(struct dw_calls *t, const struct dw_call_node *node, uint32_t *ret)
{
	if (t->nodes.n >= UINT32_MAX - 1 || dw_vec_push(&t->nodes, *node))
		return -ENOMEM;
	*ret = (uint32_t)t->nodes.n;
	return 0;
}

const struct dw_call_node *dw_calls_get(const struct dw_calls *t, uint32_t id)
{
	return id && id <= t->nodes.n ? &t->nodes.v[id - 1] : NULL;
}

uint32_t dw_calls_count(const struct dw_calls *t)
{
	return (uint32_t)t->nodes.n;
}

void dw_calls_release(struct dw_calls *t)
{
	dw_vec_release(&t->nodes);
	dw_vec_release(&t->slices);
	dw_vec_release(&t->deltas);
	dw_vec_release(&t->extremes);
	dw_vec_release(&t->slow);
}
