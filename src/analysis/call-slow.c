/* The slowest activations; see call-slow.h. Each is known by itself, so nothing is summed up. */
#include "analysis/call-slow.h"

#include <errno.h>

static bool passes(const struct dw_call_nodes *t, const struct dw_call_slow *slow)
{
	const struct dw_filter *f = t->filter;

	if (!slow->node || slow->node >= t->n || !(t->links[slow->node].state & DWELL_CALL_COUNTS))
		return false;
	if (slow->start_ns < f->from_ns || (f->to_ns && slow->start_ns >= f->to_ns))
		return false;
	return !f->focus.function || t->links[slow->node].callee == f->focus.function;
}

static struct dw_call_total total_of(const struct dw_call_slow *slow)
{
	struct dw_call_total total = {
		.inclusive = slow->inclusive, .exclusive = slow->exclusive, .outer_calls = 1};

	/* Columns show the exclusive ones; of an activation the inclusive ones are known. */
	total.exclusive.switches = slow->inclusive.switches;
	total.exclusive.io_calls = slow->inclusive.io_calls;
	total.exclusive.blocking_calls = slow->inclusive.blocking_calls;
	return total;
}

int dw_call_slow_list(const struct dw_call_nodes *t, struct dw_totals *ret)
{
	const struct dw_calls *calls = &t->profile->calls;

	for (size_t i = 0; i < calls->slow.n; i++) {
		const struct dw_call_slow *slow = &calls->slow.v[i];
		struct dw_slow_total row = {.slow = (uint32_t)i, .amounts = (uint32_t)ret->calls.n};
		struct dw_call_total total;
		uint32_t thread;

		if (!passes(t, slow))
			continue;
		total = total_of(slow);
		row.process = t->process[dw_call_nodes_get(t, slow->node)->thread];
		row.function = dw_call_row_function(t, t->links[slow->node].callee, &thread);
		row.values =
			(struct dw_values){total.inclusive.elapsed_ns, total.exclusive.elapsed_ns};
		if (dw_vec_push(&ret->calls, total) || dw_vec_push(&ret->slow, row))
			return -ENOMEM;
	}
	return 0;
}
