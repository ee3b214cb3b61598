/* The table of call nodes; see calls.h. */
#include "model/calls.h"

#include <errno.h>

int dw_calls_add(struct dw_calls *t, const struct dw_call_node *node, uint32_t *ret)
{
	if (dw_calls_count(t) >= UINT32_MAX - 1 || dw_vec_push(&t->nodes, *node))
		return -ENOMEM;
	*ret = dw_calls_count(t);
	return 0;
}

const struct dw_call_node *dw_calls_get(const struct dw_calls *t, uint32_t id)
{
	size_t i = (size_t)id - 1 - t->nodes_written;

	return i < t->nodes.n ? &t->nodes.v[i] : NULL;
}

void dw_calls_forget(struct dw_calls *t)
{
	t->nodes_written = dw_calls_count(t);
	t->nodes.n = 0;
}

uint32_t dw_calls_count(const struct dw_calls *t)
{
	return t->nodes_written + (uint32_t)t->nodes.n;
}

/* The end of a slice that is nearest to @at_ns, among 0 and all ends. */
static uint64_t snap(const struct dw_calls *t, uint64_t at_ns)
{
	uint64_t best = 0;

	dw_vec_each(slice, &t->slices) {
		uint64_t a = slice->end_ns > at_ns ? slice->end_ns - at_ns : at_ns - slice->end_ns;
		uint64_t b = best > at_ns ? best - at_ns : at_ns - best;

		if (a < b)
			best = slice->end_ns;
	}
	return best;
}

void dw_calls_select(const struct dw_calls *t, uint64_t from_ns, uint64_t to_ns, uint8_t *selected,
		     struct dw_range_ns *range)
{
	uint64_t from = snap(t, from_ns), to = snap(t, to_ns ? to_ns : UINT64_MAX), begin = 0;

	*range = (struct dw_range_ns)DWELL_RANGE_NONE;
	for (size_t i = 0; i < t->slices.n; begin = t->slices.v[i++].end_ns) {
		uint64_t end = t->slices.v[i].end_ns;

		selected[i] =
			from < to ? begin >= from && end <= to : begin <= from_ns && end > from_ns;
		if (selected[i])
			dw_range_widen(range, &(struct dw_range_ns){begin, end});
	}
}

void dw_calls_release(struct dw_calls *t)
{
	dw_vec_release(&t->nodes);
	dw_vec_release(&t->slices);
	dw_vec_release(&t->deltas);
	dw_vec_release(&t->extremes);
	dw_vec_release(&t->mutes);
	dw_vec_release(&t->slow);
	dw_call_store_release(&t->sums);
}
