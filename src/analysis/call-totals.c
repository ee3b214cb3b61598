/*
 * Totals of calls; see call-totals.h.
 *
 * Everything hangs on call-nodes.h, which knows what passes the filter: threads are sums of their
 * nodes, the denominators of all percentages sums of the threads; rows come from the walks of
 * call-flat.c and tree.c over the tree that call-tree.c makes of them.
 */
#include "analysis/call-totals.h"

#include "analysis/call-extras.h"
#include "analysis/call-flat.h"
#include "analysis/call-nodes.h"
#include "analysis/call-tree.h"
#include "analysis/tree.h"

#include <errno.h>
#include <stdlib.h>

/* A row of @sum, all its own; no calls are outermost there. UINT32_MAX = no memory. */
static uint32_t put_sum(struct dw_totals *ret, const struct dw_call_values *sum)
{
	struct dw_call_values times = *sum;
	struct dw_amount all, own;

	times.calls = 0;
	dw_amount_of_calls(&ret->amounts, &times, &all);
	dw_amount_of_calls(&ret->amounts, sum, &own);
	return dw_amounts_put(&ret->amounts, &all, &own);
}

/* All processes and threads, with or without calls. Number 0 (unknown) only with some. */
static int count_tasks(const struct dw_call_nodes *t, struct dw_totals *ret)
{
	if (dw_vec_reserve(&ret->threads, t->threads_n) ||
	    dw_vec_reserve(&ret->processes, t->processes_n))
		return -ENOMEM;
	for (uint32_t id = 0; id < t->processes_n; id++) {
		struct dw_process_total row = {.process = id};
		struct dw_call_values sum = {0};

		for (uint32_t i = t->begin[id]; i < t->begin[id + 1]; i++)
			dw_call_values_add(&sum, &t->sums[t->order[i]]);
		if (!id && !sum.elapsed_ns)
			continue;
		row.amounts = put_sum(ret, &sum);
		if (row.amounts == UINT32_MAX)
			return -ENOMEM;
		ret->processes.v[ret->processes.n++] = row;
	}
	for (uint32_t id = 0; id < t->threads_n; id++) {
		struct dw_thread_total row = {.thread = id};

		if (!id && !t->sums[id].elapsed_ns)
			continue;
		row.amounts = put_sum(ret, &t->sums[id]);
		if (row.amounts == UINT32_MAX)
			return -ENOMEM;
		ret->threads.v[ret->threads.n++] = row;
	}
	return 0;
}

/* Processes that have anything. */
static uint32_t count_seen(const struct dw_call_nodes *t)
{
	uint32_t seen = 0;

	for (uint32_t id = 0; id < t->processes_n; id++) {
		bool has = false;

		for (uint32_t i = t->begin[id]; i < t->begin[id + 1]; i++)
			has |= t->sums[t->order[i]].elapsed_ns || t->sums[t->order[i]].calls;
		seen += has;
	}
	return seen;
}

static int sum_all(const struct dw_call_nodes *t, unsigned parts, struct dw_totals *ret)
{
	struct dw_call_values sum = {0};

	for (uint32_t id = 0; id < t->threads_n; id++)
		dw_call_values_add(&sum, &t->sums[id]);
	if (put_sum(ret, &sum) == UINT32_MAX)
		return -ENOMEM;
	dw_amounts_pop(&ret->amounts, ret->all);
	/* Single calls are chosen by the very range that was asked for, and know one rule. */
	if (parts != DWELL_TOTALS_SLOWEST) {
		ret->from_ns = t->slices.from_ns;
		ret->to_ns = t->slices.to_ns;
		ret->whole_intervals = t->filter->whole_intervals;
	}
	ret->processes_seen = count_seen(t);
	return parts & DWELL_TOTALS_TASKS ? count_tasks(t, ret) : 0;
}

static int count_flat(const struct dw_call_tree *c, unsigned parts, struct dw_totals *ret)
{
	const struct dw_call_nodes *t = c->nodes;
	struct dw_call_flat flat;
	int rc = dw_call_flat_init(&flat, c, parts, ret);

	for (uint32_t id = 0; id < t->processes_n && !rc; id++)
		if (t->begin[id] < t->begin[id + 1])
			rc = dw_call_flat_count(&flat, id);
	dw_call_flat_release(&flat);
	return rc ? rc : dw_call_extras_add(t, ret);
}

static int build_tree(const struct dw_call_tree *c, struct dw_totals *ret)
{
	const struct dw_call_nodes *t = c->nodes;
	struct dw_tree *tree = NULL;
	int rc = dw_tree_new(&c->cct, t->subjects, &t->filter->focus, &tree);

	for (uint32_t id = 0; id < t->processes_n && !rc; id++)
		if (c->process[id] != DWELL_CCT_NONE)
			rc = dw_tree_build(tree, c->process[id], id, ret);
	dw_tree_free(tree);
	return rc;
}

/* What paths tell. */
static int count_paths(const struct dw_call_nodes *t, unsigned parts, struct dw_totals *ret)
{
	const unsigned not_flat = DWELL_TOTALS_NODES | DWELL_TOTALS_TASKS | DWELL_TOTALS_SLOWEST |
				  DWELL_TOTALS_OUTSIDE;
	struct dw_call_tree tree = {0};
	int rc = 0;

	if (!(parts & (~not_flat | DWELL_TOTALS_NODES)))
		return 0;
	rc = dw_call_tree_init(&tree, t, &ret->amounts);
	if (!rc && parts & ~not_flat)
		rc = count_flat(&tree, parts, ret);
	if (!rc && parts & DWELL_TOTALS_NODES)
		rc = build_tree(&tree, ret);
	dw_call_tree_release(&tree);
	return rc;
}

struct module_time {
	uint64_t outside_ns;
	bool instrumented;
};

/*
 * Find the file without any instrumented function in which the program itself (application time)
 * was longest, into @ret's outside_module and outside_ns; left at 0 if there is none: what a user
 * would look into next. A callee outside the instrumented code may still lie in an instrumented
 * module, as a function that was left alone or excluded; only a module all of whose rows are
 * callees outside counts. 0 or -ENOMEM.
 */
static int find_outside(const struct dw_call_nodes *t, struct dw_totals *ret)
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

/* Whether @slow is listed: a range takes those that began in it, to the nanosecond. */
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

/* The slowest activations, each of which is known by itself, so nothing is summed up. */
static int list_slowest(const struct dw_call_nodes *t, struct dw_totals *ret)
{
	const struct dw_calls *calls = &t->profile->calls;

	for (size_t i = 0; i < calls->slow.n; i++) {
		const struct dw_call_slow *slow = &calls->slow.v[i];
		struct dw_slow_total row = {.slow = (uint32_t)i};
		uint32_t thread;

		if (!passes(t, slow))
			continue;
		row.process = t->process[dw_call_nodes_get(t, slow->node)->thread];
		row.function = dw_subjects_row_function(t->subjects, dw_call_callee(t, slow->node),
							&thread);
		row.amounts = put_amounts(slow, ret);
		if (row.amounts == UINT32_MAX || dw_vec_push(&ret->slow, row))
			return -ENOMEM;
	}
	return 0;
}

int dw_call_totals_compute(const struct dw_profile *p, const struct dw_filter *filter,
			   unsigned parts, struct dw_totals *ret)
{
	struct dw_subjects subjects;
	struct dw_call_nodes nodes = {0};
	int rc = dw_subjects_init(&subjects, p, parts & DWELL_TOTALS_LINES);

	if (!rc)
		rc = dw_call_nodes_init(&nodes, p, filter, &subjects);
	if (!rc)
		rc = sum_all(&nodes, parts, ret);
	if (!rc)
		rc = count_paths(&nodes, parts, ret);
	if (!rc && parts & DWELL_TOTALS_SLOWEST)
		rc = list_slowest(&nodes, ret);
	if (!rc && parts & DWELL_TOTALS_OUTSIDE)
		rc = find_outside(&nodes, ret);
	dw_call_nodes_release(&nodes);
	dw_subjects_release(&subjects);
	return rc;
}
