/*
 * Weights of calls; see weights.h.
 *
 * A node of the call tree becomes a path that ends where its function begins. What it calls hangs
 * below another path, which ends at the call's line in the same function. Statements lie in their
 * function's place. Of what a target had no memory for paths for, estimated paths have all; under a
 * filter by module, of which those know too little, the calls themselves have it, below their
 * thread and their caller (analysis/calls.h).
 */
#include "export/weights-internal.h"

#include "analysis/calls.h"

#include <errno.h>
#include <stdlib.h>

struct walk {
	const struct dw_call_nodes *nodes;
	struct dw_paths *paths;
	uint32_t *upper; /* by node id: the path of its callers */
};

/* The place at which the function of the node @id begins. */
static uint32_t entry_place(const struct walk *w, uint32_t id)
{
	const struct dw_call_node *node = dw_call_nodes_get(w->nodes, id);

	if (node->flags & DWELL_CALL_ROOT)
		return dw_paths_thread_place(w->paths, node->thread);
	if (node->flags & DWELL_CALL_TRUNCATED)
		return dw_paths_truncated_place(w->paths);
	return node->entry < w->paths->frames_n ? node->entry : 0;
}

/* @frame in the function of the node @id, or where that begins: a jump instead of a call leaves
 * call sites that lie in other functions. */
static uint32_t place_within(const struct walk *w, uint32_t id, uint32_t frame)
{
	uint32_t callee = dw_call_callee(w->nodes, id);

	return callee && frame && dw_call_function_at(w->nodes, frame) == callee
		       ? frame
		       : entry_place(w, id);
}

static bool is_anything(const uint64_t values[DWELL_WEIGHT_KINDS_MAX])
{
	uint64_t any = 0;

	for (int k = 0; k < DWELL_WEIGHT_KINDS_MAX; k++)
		any |= values[k];
	return any;
}

static int find_path(const struct walk *w, uint32_t id, uint32_t *ret)
{
	const struct dw_call_node *node = dw_call_nodes_get(w->nodes, id);
	uint32_t parent = dw_call_nodes_parent(w->nodes, id);

	if (node->flags & DWELL_CALL_LINE && parent)
		return dw_paths_add(w->paths, w->upper[parent],
				    place_within(w, parent, node->entry), ret);
	return dw_paths_add(w->paths, w->upper[id], entry_place(w, id), ret);
}

/* Calls below their thread and their caller alone. */
static int find_overflow_path(const struct walk *w, uint32_t id, uint32_t *ret)
{
	const struct dw_call_node *node = dw_call_nodes_get(w->nodes, id);
	uint32_t thread = dw_paths_thread_place(w->paths, node->thread);
	int rc = dw_paths_add(w->paths, 0, thread, ret);

	if (!rc && node->caller && node->caller < w->paths->frames_n)
		rc = dw_paths_add(w->paths, *ret, node->caller, ret);
	return rc ? rc : dw_paths_add(w->paths, *ret, entry_place(w, id), ret);
}

static int add_node(struct dw_weights *weights, struct walk *w, uint32_t id)
{
	const struct dw_call_node *node = dw_call_nodes_get(w->nodes, id);
	struct dw_call_values v = dw_call_nodes_values(w->nodes, id);
	bool overflows = node->flags & DWELL_CALL_OVERFLOW;
	uint64_t values[] = {v.elapsed_ns, v.application_ns, v.calls, v.blocked_ns};
	const uint32_t shares = DWELL_CALL_ESTIMATED | DWELL_CALL_TRUNCATED;
	uint32_t path;
	int rc;

	if (node->flags & DWELL_CALL_INCLUSIVE ||
	    node->flags & (w->nodes->filter->modules ? shares : DWELL_CALL_OVERFLOW))
		return 0;
	if (!is_anything(values))
		return 0;
	rc = overflows ? find_overflow_path(w, id, &path) : find_path(w, id, &path);
	return rc ? rc : dw_weights_add(weights, node->thread, path, values);
}

static int add_nodes(struct dw_weights *weights, struct walk *w)
{
	int rc = 0;

	for (uint32_t id = 1; id < w->nodes->n && !rc; id++) {
		uint32_t parent = dw_call_nodes_parent(w->nodes, id);
		uint32_t site = dw_call_nodes_get(w->nodes, id)->site;

		if (!(w->nodes->state[id] & DWELL_CALL_SELECTED))
			continue;
		if (parent)
			rc = dw_paths_add(w->paths, w->upper[parent], place_within(w, parent, site),
					  &w->upper[id]);
		if (!rc)
			rc = add_node(weights, w, id);
	}
	return rc;
}

int dw_weights_of_calls(struct dw_weights *weights, struct dw_paths *paths,
			const struct dw_filter *filter)
{
	struct dw_subjects subjects = {0};
	struct dw_call_nodes nodes = {0};
	struct walk w = {.nodes = &nodes, .paths = paths};
	int rc = dw_subjects_init(&subjects, paths->profile, false);

	if (!rc)
		rc = dw_call_nodes_init(&nodes, paths->profile, filter, &subjects);
	if (!rc) {
		w.upper = calloc(nodes.n, sizeof *w.upper);
		rc = w.upper ? add_nodes(weights, &w) : -ENOMEM;
	}
	free(w.upper);
	dw_call_nodes_release(&nodes);
	dw_subjects_release(&subjects);
	return rc;
}
