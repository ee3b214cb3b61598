/*
 * What calls waited for; see calls.h. A node waits in its callee, so kinds are known by the names
 * of functions, here and in callers. Paths that are estimates stand for what overflow nodes have:
 * one place in the code is one place of a thread, whichever of them tells it.
 */
#include "analysis/calls.h"
#include "analysis/wait-totals.h"
#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>

/* Where system calls are seen, who made none was taken off the processor, whatever it is called. */
static void name_kinds(struct dw_call_nodes *t, const struct dw_wait_namer *namer)
{
	dw_vec_each(wait, &t->waits) {
		const struct dw_call_node *node = dw_call_nodes_get(t, wait->place);
		enum dw_wait_kind kind;

		if (t->has_system_calls && wait->kind == DWELL_WAIT_READY)
			continue;
		kind = dw_wait_kind_of_node(namer, wait->place);
		if (kind != DWELL_WAIT_OTHER || node->flags & DWELL_CALL_TRUNCATED)
			wait->kind = kind;
	}
}

/* Threads that wait for work, by the call sites where they do. */
static int find_idle(struct dw_call_nodes *t)
{
	dw_auto_free struct dw_wait_at *at = calloc(t->waits.n + 1, sizeof *at);
	int rc;

	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < t->waits.n; i++) {
		const struct dw_call_node *node = dw_call_nodes_get(t, t->waits.v[i].place);

		at[i] = t->waits.v[i];
		at[i].place = node->site ? node->site : node->entry;
	}
	rc = dw_find_idle_threads(t->profile, at, t->waits.n);
	for (size_t i = 0; i < t->waits.n && !rc; i++)
		t->waits.v[i].kind = at[i].kind;
	return rc;
}

int dw_call_waits_find(struct dw_call_nodes *t)
{
	struct dw_wait_namer namer;
	int rc = dw_wait_namer_init(&namer, t->profile);

	if (!rc)
		name_kinds(t, &namer);
	dw_wait_namer_release(&namer);
	rc = rc ? rc : find_idle(t);
	dw_vec_each(wait, &t->waits) {
		uint32_t id = wait->place;
		struct dw_call_values left_out = {0};

		if (rc || !dw_wait_kinds_have(t->filter->waits_left_out, wait->kind))
			continue;
		t->state[id] |= DWELL_CALL_LEFT_OUT;
		left_out.left_out_ns = dw_call_nodes_values(t, id).left_out_ns;
		dw_call_nodes_add_to_thread(t, id, &left_out);
	}
	return rc;
}

int dw_call_waits_sum(const struct dw_call_nodes *t, struct dw_wait_total *ret)
{
	struct dw_wait_totals totals;
	int rc = dw_wait_totals_init(&totals, t->profile, true, ret);

	for (size_t i = 0; i < t->waits.n && !rc; i++) {
		const struct dw_wait_at *w = &t->waits.v[i];

		if (!(dw_call_nodes_get(t, w->place)->flags & DWELL_CALL_ESTIMATED))
			rc = dw_wait_totals_add(&totals, w->kind, w->ns, w->thread, 0, w->place);
	}
	dw_wait_totals_end(&totals);
	dw_wait_totals_release(&totals);
	return rc;
}
