/* The slowest activations; see call-slow.h. Each is known by itself, so nothing is summed up. */
#include "analysis/call-slow.h"

#include <errno.h>

static bool passes(const struct dw_call_nodes *t, const struct dw_call_slow *slow)
{
	const struct dw_filter *f = t->filter;

	if (!slow->node || slow->node >= t->n || !(t->state[slow->node] & DWELL_CALL_COUNTS))
		return false;
	if (slow->start_ns < f->from_ns || (f->to_ns && slow->start_ns >= f->to_ns))
		return false;
	return !f->focus.function || dw_call_callee(t, slow->node) == f->focus.function;
}

/* The amounts of @slow in a row of those of @ret. UINT32_MAX = no memory. */
static uint32_t put_amounts(const struct dw_call_slow *slow, struct dw_totals *ret)
{
	struct dw_call_values all = slow->inclusive, own = slow->exclusive;
	struct dw_amount inclusive, exclusive;

	/* Columns show the exclusive ones; of an activation the inclusive ones are known. */
	own.switches = all.switches;
	own.io_calls = all.io_calls;
	own.blocking_calls = all.blocking_calls;
	all.calls = 1;
	dw_amount_of_calls(&ret->amounts, &all, &inclusive);
	dw_amount_of_calls(&ret->amounts, &own, &exclusive);
	return dw_amounts_put(&ret->amounts, &inclusive, &exclusive);
}

int dw_call_slow_list(const struct dw_call_nodes *t, struct dw_totals *ret)
{
	const struct dw_calls *calls = &t->profile->calls;

	for (size_t i = 0; i < calls->slow.n; i++) {
		const struct dw_call_slow *slow = &calls->slow.v[i];
		struct dw_slow_total row = {.slow = (uint32_t)i};
		uint32_t callee;

		if (!passes(t, slow))
			continue;
		row.process = t->process[dw_call_nodes_get(t, slow->node)->thread];
		callee = dw_call_callee(t, slow->node);
		row.function = callee < dw_subjects_none(t->subjects)
				       ? dw_subjects_row_function(t->subjects, callee)
			       : callee == dw_call_truncated(t) ? (uint32_t)DWELL_FUNCTION_TRUNCATED
								: (uint32_t)DWELL_FUNCTION_ROOT;
		row.amounts = put_amounts(slow, ret);
		if (row.amounts == UINT32_MAX || dw_vec_push(&ret->slow, row))
			return -ENOMEM;
	}
	return 0;
}
