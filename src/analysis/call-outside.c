/*
 * The heaviest module without probes; see call-outside.h.
 *
 * A callee outside the instrumented code may still lie in an instrumented module, as a function
 * that was left alone or excluded. Only a module all of whose rows are callees outside counts.
 */
#include "analysis/call-outside.h"

#include <errno.h>
#include <stdlib.h>

struct module_time {
	uint64_t outside_ns;
	bool instrumented;
};

int dw_call_outside_find(const struct dw_call_nodes *t, struct dw_totals *ret)
{
	size_t modules_n = t->profile->modules.rows.n;
	struct module_time *modules = calloc(modules_n + 1, sizeof *modules);

	if (!modules)
		return -ENOMEM;
	for (uint32_t id = 1; id < t->n; id++) {
		const struct dw_call_node *node = dw_call_nodes_get(t, id);
		uint32_t module = dw_call_module_at(t, node->entry);

		if (!node->entry || module >= modules_n ||
		    node->flags & (DWELL_CALL_INCLUSIVE | DWELL_CALL_ESTIMATED))
			continue;
		if (!(node->flags & DWELL_CALL_OUTSIDE))
			modules[module].instrumented = true;
		else if (t->state[id] & DWELL_CALL_COUNTS)
			modules[module].outside_ns += dw_call_nodes_values(t, id).application_ns;
	}
	for (uint32_t id = 1; id < modules_n; id++) {
		if (modules[id].instrumented || modules[id].outside_ns <= ret->outside_ns ||
		    t->profile->modules.rows.v[id].kind != DWELL_MODULE_FILE)
			continue;
		ret->outside_ns = modules[id].outside_ns;
		ret->outside_module = id;
	}
	free(modules);
	return 0;
}
