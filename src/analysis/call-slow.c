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

/* The amounts of @slow in a row of those of @ret. UINT32_MAX = no memory. */
static uint32_t put_amounts(const struct dw_call_slow *slow, struct dw_totals *ret)
{
	struct dw_call_values own = slow->exclusive;

	/* Columns show the exclusive ones; of an activation the inclusive ones are known. */
	own.switches = slow->inclusive.switches;
	own.io_calls = slow->inclusive.io_calls;
	own.blocking_calls = slow->inclusive.blocking_calls;
	return dw_amounts_put_calls(&ret->amounts, &slow->inclusive, &own,
				    (struct dw_call_counts){.calls = own.calls, .outer = 1});
}

int dw_call_slow_list(const struct dw_call_nodes *t, struct dw_totals *ret)
{
	const struct dw_calls *calls = &t->profile->calls;

	for (size_t i = 0; i < calls->slow.n; i++) {
		const struct dw_call_slow *slow = &calls->slow.v[i];
		struct dw_slow_total row = {.slow = (uint32_t)i};
		uint32_t thread;

		if (!passes(t, slow))
			continue;
		row.process = t->process[dw_call_nodes_get(t, slow->node)->thread];
		row.function = dw_call_row_function(t, t->links[slow->node].callee, &thread);
		row.amounts = put_amounts(slow, ret);
		if (row.amounts == UINT32_MAX || dw_vec_push(&ret->slow, row))
			return -ENOMEM;
	}
	return 0;
}
