/*
 * Totals of calls; see calls.h.
 *
 * Everything hangs on call-nodes.c, which knows what passes the filter: threads are sums of their
 * nodes, the denominators of all percentages sums of the threads; rows come from the walks of
 * call-flat.c and tree.c over the tree that it makes of them.
 *
 * A sum is known of all activations, a range of those that have ended and were not cut out of the
 * tree, with a probe cost of its own measuring. Some activation took as much as the mean, and some
 * as little, and none more than the sum: so extremes reach to the one and not beyond the other. A
 * module's range is that of all calls to its functions. Its outermost activations are among these.
 *
 * Where all calls of a function were switched off, that says more than that those of some callers
 * were before; of equals the first counts.
 */
#include "analysis/calls.h"

#include "analysis/hot-rows.h"
#include "analysis/tree.h"
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>

/* Where the rows are: lane << 32 | id -> index + 1 */
struct row_map {
	struct dw_map functions, modules;
};

static uint64_t row_key(uint32_t lane, uint32_t id)
{
	return (uint64_t)lane << 32 | id;
}

static int find_rows(const struct dw_totals *t, struct row_map *rows)
{
	uint32_t at = 0;
	int rc = 0;

	dw_vec_each(f, &t->functions)
		rc = rc ? rc : dw_map_put(&rows->functions, row_key(f->lane, f->function), ++at);
	at = 0;
	dw_vec_each(m, &t->modules)
		rc = rc ? rc : dw_map_put(&rows->modules, row_key(m->lane, m->module), ++at);
	return rc;
}

/* Let the extremes of a row, whose member is *@extremes, have all that @more has. */
static int widen(struct dw_totals *t, uint32_t *extremes, const struct dw_extreme_values *more)
{
	static const struct dw_extreme_values none = DWELL_EXTREMES_NONE;

	if (!*extremes) {
		if (dw_vec_push(&t->extremes, none))
			return -ENOMEM;
		*extremes = (uint32_t)t->extremes.n;
	}
	dw_extreme_values_widen(&t->extremes.v[*extremes - 1], more);
	return 0;
}

/* Make @r fit the sum of @calls, if these are its activations. */
static void fit(struct dw_range_ns *r, uint64_t sum_ns, uint64_t calls)
{
	uint64_t mean = calls ? (sum_ns + calls / 2) / calls : 0;

	if (!calls || !dw_range_known(r))
		return;
	if (r->max_ns > sum_ns || calls == 1)
		r->max_ns = sum_ns;
	if (r->min_ns > mean || calls == 1)
		r->min_ns = mean;
	if (r->max_ns < mean)
		r->max_ns = mean;
}

/* Make the extremes of a row, number @extremes - 1, fit its sums. */
static void fit_sums(struct dw_totals *t, uint32_t extremes, uint32_t amounts)
{
	struct dw_extreme_values *r = extremes ? &t->extremes.v[extremes - 1] : NULL;
	struct dw_measured m = dw_totals_measured(t, amounts);
	uint64_t outer, calls;

	if (!r)
		return;
	outer = dw_measured_get(&m, DWELL_MEASURE_OUTER_CALLS, false);
	calls = dw_measured_get(&m, DWELL_MEASURE_MEASURED, false);
	fit(&r->elapsed_inclusive, dw_measured_get(&m, DWELL_MEASURE_ELAPSED, false), outer);
	fit(&r->elapsed_exclusive, dw_measured_get(&m, DWELL_MEASURE_ELAPSED, true), calls);
	fit(&r->application_inclusive, dw_measured_get(&m, DWELL_MEASURE_APPLICATION, false),
	    outer);
	fit(&r->application_exclusive, dw_measured_get(&m, DWELL_MEASURE_APPLICATION, true), calls);
}

/* The row + 1 of @function, 0 = none. */
static uint32_t row_of(const struct row_map *rows, uint32_t lane, uint32_t function)
{
	return dw_map_get(&rows->functions,
			  row_key(lane, function ? function : (uint32_t)DWELL_FUNCTION_UNKNOWN));
}

static int add_extremes(const struct dw_call_nodes *t, const struct row_map *rows,
			const struct dw_call_extremes *e, struct dw_totals *ret)
{
	uint32_t lane = e->thread < t->lanes.threads_n ? t->lanes.of[e->thread] : UINT32_MAX;
	static const struct dw_range_ns none = DWELL_RANGE_NONE;
	struct dw_extreme_values values = e->values;
	uint32_t row;
	int rc;

	if (lane == UINT32_MAX)
		return 0;
	if (t->filter->delimited_intervals)
		values.application_inclusive = values.application_exclusive = none;
	row = row_of(rows, lane, dw_call_function_at(t, e->entry));
	rc = row ? widen(ret, &ret->functions.v[row - 1].extremes, &values) : 0;
	if (rc)
		return rc;
	row = dw_map_get(&rows->modules, row_key(lane, dw_call_module_at(t, e->entry)));
	return row ? widen(ret, &ret->modules.v[row - 1].extremes, &values) : 0;
}

static int add_all_extremes(const struct dw_call_nodes *t, const struct row_map *rows,
			    struct dw_totals *ret)
{
	int rc = 0;

	dw_vec_each(e, &t->profile->calls.extremes)
		rc = rc ? rc : add_extremes(t, rows, e, ret);
	dw_vec_each(f, &ret->functions)
		fit_sums(ret, f->extremes, f->amounts);
	dw_vec_each(m, &ret->modules)
		fit_sums(ret, m->extremes, m->amounts);
	return rc;
}

/* Whether @more says more than @known, NULL = nothing. */
static bool says_more(const struct dw_call_disabled *more, const struct dw_call_disabled *known)
{
	return !known ||
	       (known->flags & DWELL_DISABLED_IN_PART && !(more->flags & DWELL_DISABLED_IN_PART));
}

/* @m is about @function in @lane. */
static void note_disabled(const struct row_map *rows, uint32_t lane, uint32_t function,
			  const struct dw_call_disabled *m, const struct dw_calls *calls,
			  struct dw_totals *ret)
{
	uint32_t row = row_of(rows, lane, function), *at;

	if (!row)
		return;
	at = &ret->functions.v[row - 1].disabled_at;
	if (says_more(m, *at ? &calls->disabled.v[*at - 1] : NULL))
		*at = (uint32_t)(m - calls->disabled.v) + 1;
}

/* Threads by their processes, as linked lists of ids + 1. */
struct chains {
	uint32_t *first; /* by process id */
	uint32_t *next;	 /* by thread id */
};

static int link_threads(const struct dw_lanes *l, struct chains *ret)
{
	ret->first = calloc(dw_processes_count(&l->profile->processes) + 1ul, sizeof *ret->first);
	ret->next = calloc(l->threads_n, sizeof *ret->next);
	if (!ret->first || !ret->next)
		return -ENOMEM;
	for (uint32_t id = l->threads_n; id--;)
		if (l->of[id] != UINT32_MAX) {
			ret->next[id] = ret->first[l->process[id]];
			ret->first[l->process[id]] = id + 1;
		}
	return 0;
}

/* All threads of a process are in one lane, unless each has its own. */
static int add_disabled(const struct dw_call_nodes *t, const struct row_map *rows,
			struct dw_totals *ret)
{
	const struct dw_calls *calls = &t->profile->calls;
	struct chains threads = {0};
	int rc = link_threads(&t->lanes, &threads);

	dw_vec_each(m, &calls->disabled) {
		uint32_t function = dw_call_function_at(t, m->entry);
		uint32_t thread = rc || !function ? 0 : threads.first[m->process];

		for (; thread;
		     thread = t->lanes.by == DWELL_BY_THREAD ? threads.next[thread - 1] : 0)
			note_disabled(rows, t->lanes.of[thread - 1], function, m, calls, ret);
	}
	free(threads.first);
	free(threads.next);
	return rc;
}

/*
 * Give functions and modules the shortest and the longest activations, and functions when they were
 * switched off. Extremes are known of whole sessions only, by the rule that they were measured by:
 * not in a range of time, not under a filter by module, and their application times not by the
 * classic rule.
 */
static int add_extras(const struct dw_call_nodes *t, struct dw_totals *ret)
{
	const struct dw_calls *calls = &t->profile->calls;
	bool has_extremes = calls->extremes.n && !t->slices.to_ns && !t->filter->modules;
	struct row_map rows = {0};
	int rc;

	if (!has_extremes && !calls->disabled.n)
		return 0;
	rc = find_rows(ret, &rows);
	if (!rc)
		rc = add_disabled(t, &rows, ret);
	if (!rc && has_extremes)
		rc = add_all_extremes(t, &rows, ret);
	dw_map_release(&rows.functions);
	dw_map_release(&rows.modules);
	return rc;
}

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
static int put_tasks(const struct dw_call_nodes *t, const struct dw_call_values *processes,
		     struct dw_totals *ret)
{
	uint32_t processes_n = dw_processes_count(&t->profile->processes) + 1;

	if (dw_vec_reserve(&ret->threads, t->lanes.threads_n) ||
	    dw_vec_reserve(&ret->processes, processes_n))
		return -ENOMEM;
	for (uint32_t id = 0; id < processes_n; id++) {
		struct dw_process_total row = {.process = id};

		if (!id && !processes[id].elapsed_ns)
			continue;
		row.amounts = put_sum(ret, &processes[id]);
		if (row.amounts == UINT32_MAX)
			return -ENOMEM;
		ret->processes.v[ret->processes.n++] = row;
	}
	for (uint32_t id = 0; id < t->lanes.threads_n; id++) {
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

static int count_tasks(const struct dw_call_nodes *t, struct dw_totals *ret)
{
	struct dw_call_values *processes =
		calloc(dw_processes_count(&t->profile->processes) + 1ul, sizeof *processes);
	int rc = processes ? 0 : -ENOMEM;

	for (uint32_t id = 0; id < t->lanes.threads_n && !rc; id++)
		if (t->lanes.of[id] != UINT32_MAX)
			dw_call_values_add(&processes[t->lanes.process[id]], &t->sums[id]);
	if (!rc)
		rc = put_tasks(t, processes, ret);
	free(processes);
	return rc;
}

/* Say what the lanes are. */
static int put_lanes(const struct dw_call_nodes *t, struct dw_totals *ret)
{
	bool *has = calloc(t->lanes.threads_n, sizeof *has);
	int rc = has ? 0 : -ENOMEM;

	for (uint32_t id = 0; id < t->lanes.threads_n && !rc; id++)
		has[id] = t->sums[id].elapsed_ns || t->sums[id].calls;
	if (!rc)
		rc = dw_lanes_put(&t->lanes, has, ret);
	free(has);
	return rc;
}

static int sum_all(const struct dw_call_nodes *t, unsigned parts, struct dw_totals *ret)
{
	struct dw_call_values sum = {0};

	for (uint32_t id = 0; id < t->lanes.threads_n; id++)
		dw_call_values_add(&sum, &t->sums[id]);
	if (put_sum(ret, &sum) == UINT32_MAX)
		return -ENOMEM;
	dw_amounts_pop(&ret->amounts, ret->all);
	ret->waits_left_out = t->filter->waits_left_out;
	/* Single calls are chosen by the very range that was asked for, and know one rule. */
	if (parts != DWELL_TOTALS_SLOWEST) {
		ret->from_ns = t->slices.from_ns;
		ret->to_ns = t->slices.to_ns;
		ret->delimited_intervals = t->filter->delimited_intervals;
	}
	if (put_lanes(t, ret))
		return -ENOMEM;
	return parts & DWELL_TOTALS_TASKS ? count_tasks(t, ret) : 0;
}

static int count_flat(const struct dw_call_tree *c, unsigned parts, struct dw_totals *ret)
{
	const struct dw_call_nodes *t = c->nodes;
	struct dw_call_flat flat;
	int rc = dw_call_flat_init(&flat, c, parts, ret);

	for (uint32_t id = 0; id < t->lanes.n && !rc; id++)
		if (t->begin[id] < t->begin[id + 1])
			rc = dw_call_flat_count(&flat, id);
	dw_call_flat_release(&flat);
	return rc ? rc : add_extras(t, ret);
}

static int build_tree(const struct dw_call_tree *c, struct dw_totals *ret)
{
	const struct dw_call_nodes *t = c->nodes;
	struct dw_tree *tree = NULL;
	int rc = dw_tree_new(&c->cct, t->row_keys, &t->filter->focus, &tree);

	for (uint32_t id = 0; id < t->lanes.n && !rc; id++)
		if (c->lane[id] != DWELL_CCT_NONE)
			rc = dw_tree_build(tree, c->lane[id], id, ret);
	dw_tree_free(tree);
	return rc;
}

static int count_paths(const struct dw_call_nodes *t, unsigned parts, struct dw_totals *ret)
{
	const unsigned not_flat = DWELL_TOTALS_NODES | DWELL_TOTALS_TASKS | DWELL_TOTALS_SLOWEST |
				  DWELL_TOTALS_FILES | DWELL_TOTALS_EXTERNAL | DWELL_TOTALS_HOT |
				  DWELL_TOTALS_WAITS;
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
	uint64_t external_ns;
	bool instrumented;
};

/*
 * Find the file without any instrumented function in which the program itself (application time)
 * was longest, into @ret's external_module and external_ns; left at 0 if there is none: what a user
 * would look into next. An external callee may lie in an instrumented module, as a function that
 * was left alone or excluded; only a module all of whose rows are external callees counts. 0 or
 * -ENOMEM.
 */
static int find_external(const struct dw_call_nodes *t, struct dw_totals *ret)
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
		if (!(node->flags & DWELL_CALL_EXTERNAL))
			modules[module].instrumented = true;
		else if (t->state[id] & DWELL_CALL_COUNTS)
			modules[module].external_ns += dw_call_nodes_values(t, id).application_ns;
	}
	for (uint32_t id = 1; id < modules_n; id++) {
		if (modules[id].instrumented || modules[id].external_ns <= ret->external_ns ||
		    t->profile->modules.rows.v[id].kind != DWELL_MODULE_FILE)
			continue;
		ret->external_ns = modules[id].external_ns;
		ret->external_module = id;
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

/* Count the threads that have used up their memory for paths. 0 or -ENOMEM. */
static int count_pathless(const struct dw_call_nodes *t, struct dw_totals *ret)
{
	bool *seen = calloc(t->lanes.threads_n + 1ul, sizeof *seen);

	if (!seen)
		return -ENOMEM;
	for (uint32_t id = 1; id < t->n; id++) {
		const struct dw_call_node *node = dw_call_nodes_get(t, id);

		if (!(node->flags & DWELL_CALL_OVERFLOW) || node->flags & DWELL_CALL_COUNTED ||
		    node->thread >= t->lanes.threads_n || seen[node->thread] ||
		    t->lanes.of[node->thread] == UINT32_MAX)
			continue;
		seen[node->thread] = true;
		ret->pathless_threads++;
	}
	free(seen);
	return 0;
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
		row.process = t->lanes.process[dw_call_nodes_get(t, slow->node)->thread];
		row.function =
			dw_row_keys_function(t->row_keys, dw_call_callee(t, slow->node), &thread);
		row.amounts = put_amounts(slow, ret);
		if (row.amounts == UINT32_MAX || dw_vec_push(&ret->slow, row))
			return -ENOMEM;
	}
	return count_pathless(t, ret);
}

int dw_call_totals_compute(const struct dw_profile *p, const struct dw_filter *filter,
			   unsigned parts, struct dw_totals *ret)
{
	struct dw_row_keys row_keys;
	struct dw_call_nodes nodes = {0};
	bool with_waits = parts & (DWELL_TOTALS_WAITS | DWELL_TOTALS_HOT) || filter->focus.work ||
			  filter->focus.hot_path;
	int rc = dw_row_keys_init(&row_keys, p, dw_row_keys_lines(parts, filter));

	if (!rc)
		rc = dw_call_nodes_init(&nodes, p, filter, &row_keys, with_waits);
	if (!rc && with_waits)
		rc = dw_call_waits_find(&nodes);
	if (!rc)
		rc = sum_all(&nodes, parts, ret);
	if (!rc)
		rc = count_paths(&nodes, parts, ret);
	if (!rc && parts & DWELL_TOTALS_HOT) {
		dw_hot_rows_find(ret);
		rc = dw_hot_rows_spread_calls(&nodes, ret);
	}
	if (!rc && parts & DWELL_TOTALS_SLOWEST)
		rc = list_slowest(&nodes, ret);
	if (!rc && parts & DWELL_TOTALS_FILES)
		rc = dw_call_files_list(&nodes, ret);
	if (!rc && parts & DWELL_TOTALS_EXTERNAL)
		rc = find_external(&nodes, ret);
	if (!rc && parts & DWELL_TOTALS_WAITS)
		rc = dw_call_waits_sum(&nodes, ret->waits);
	dw_call_nodes_release(&nodes);
	dw_row_keys_release(&row_keys);
	return rc;
}
