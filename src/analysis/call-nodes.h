/*
 * The calls of a profile under a filter: which nodes count, with what values, below which others.
 *
 * What a hostile session links wrongly hangs on nothing: a parent with an id that is not smaller,
 * or that stands for an overflow, is none. Values of a node are summed up from its pieces in the
 * slices that pass whenever they are asked for, because a million sums would need more memory than
 * the pieces themselves.
 */
#pragma once

#include "analysis/selection.h"
#include "analysis/subjects.h"
#include "analysis/totals.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stdint.h>

enum dw_call_state {
	DWELL_CALL_SELECTED = 1, /* its thread and process pass */
	DWELL_CALL_COUNTS = 2,	 /* its module passes too: its values count */
	DWELL_CALL_PRESENT = 4,	 /* it has values that count */
};

struct dw_call_nodes {
	const struct dw_profile *profile;
	const struct dw_filter *filter;
	struct dw_subjects *subjects;
	uint32_t n;	/* node ids are below this */
	uint8_t *state; /* by node id: enum dw_call_state bits */
	/* Pieces by node: pieces[first[id]] .. pieces[first[id + 1]], or without a list of pieces
	 * first[id] .. itself; without both the profile has sums. */
	uint32_t *first, *pieces;
	struct dw_slices slices;
	/* By thread id, 0 included. */
	uint32_t threads_n;
	uint32_t *process;	     /* process id; UINT32_MAX = filtered out */
	uint32_t *group;	     /* threads of one process and one start routine are a root
				      * row: its index in subjects->roots */
	struct dw_call_values *sums; /* of all that counts */
	/* Thread ids by process: order[begin[process]] .. order[begin[process + 1]] */
	uint32_t processes_n;
	uint32_t *begin, *order;
};

/* Prepare the calls of @p under @filter (both borrowed, as @subjects). 0; -ENOMEM; DWELL_ERR_LIMIT
 * for 2^32 pieces. To be released in either case. */
int dw_call_nodes_init(struct dw_call_nodes *t, const struct dw_profile *p,
		       const struct dw_filter *filter, struct dw_subjects *subjects);

/* What @id (below t->n) has of its own under the filter: nothing but its calls if its module does
 * not pass. Statements have no calls. */
struct dw_call_values dw_call_nodes_values(const struct dw_call_nodes *t, uint32_t id);

/* How often control came to the statement @id, which passes the filter, in its range of time. */
uint64_t dw_call_nodes_arrivals(const struct dw_call_nodes *t, uint32_t id);

/* Free everything. */
void dw_call_nodes_release(struct dw_call_nodes *t);

/* The node of @id, which is below t->n and not 0. */
static inline const struct dw_call_node *dw_call_nodes_get(const struct dw_call_nodes *t,
							   uint32_t id)
{
	return &t->profile->calls.nodes.v[id - 1];
}

/* What @id was called from, 0 at the top of a thread: a function or a statement of one. */
static inline uint32_t dw_call_nodes_above(const struct dw_call_nodes *t, uint32_t id)
{
	const struct dw_call_node *node = dw_call_nodes_get(t, id), *parent;

	if (!node->parent || node->parent >= id)
		return 0;
	parent = dw_call_nodes_get(t, node->parent);
	if (parent->flags & DWELL_CALL_OVERFLOW || parent->thread != node->thread)
		return 0;
	return node->parent;
}

/* Whether @id is a statement. */
static inline bool dw_call_nodes_is_line(const struct dw_call_nodes *t, uint32_t id)
{
	return dw_call_nodes_get(t, id)->flags & DWELL_CALL_LINE;
}

/* The parent of @id, 0 at the top of a thread. Statements are leaves below their functions: what is
 * called from them hangs beside them. */
static inline uint32_t dw_call_nodes_parent(const struct dw_call_nodes *t, uint32_t id)
{
	do
		id = dw_call_nodes_above(t, id);
	while (id && dw_call_nodes_is_line(t, id));
	return id;
}

/* The dense id of the function that starts at @frame. Inlined ones start nothing. */
static inline uint32_t dw_call_function_at(const struct dw_call_nodes *t, uint32_t frame)
{
	const struct dw_subjects *s = t->subjects;
	uint32_t function;

	if (!frame || frame >= s->frames_n)
		return 0;
	function = s->function[s->first[frame + 1] - 1];
	return function < s->functions_n ? function : 0;
}

/* The module of @frame. */
static inline uint32_t dw_call_module_at(const struct dw_call_nodes *t, uint32_t frame)
{
	return frame < t->subjects->frames_n ? t->subjects->module[frame] : 0;
}

/* The dense id of the callee of @id, of a statement that of its function. */
static inline uint32_t dw_call_callee(const struct dw_call_nodes *t, uint32_t id)
{
	const struct dw_call_node *node = dw_call_nodes_get(t, id);

	if (node->flags & DWELL_CALL_LINE && node->flags & DWELL_CALL_OVERFLOW)
		return dw_call_function_at(t, node->caller);
	if (node->flags & DWELL_CALL_LINE) {
		id = dw_call_nodes_parent(t, id);
		if (!id)
			return 0;
		node = dw_call_nodes_get(t, id);
	}
	if (node->flags & DWELL_CALL_ROOT)
		return dw_subjects_none(t->subjects) +
		       t->group[node->thread < t->threads_n ? node->thread : 0];
	if (node->flags & DWELL_CALL_TRUNCATED)
		return dw_subjects_truncated(t->subjects);
	return dw_call_function_at(t, node->entry);
}
