/*
 * The calls of a profile under a filter: which nodes count, with what values, below which others;
 * the tree that they make, and its totals.
 *
 * What a hostile session links wrongly hangs on nothing: a parent with an id that is not smaller,
 * or that stands for an overflow, is none. Values of a node are summed up from its deltas in the
 * slices that pass whenever they are asked for, because a million sums would need more memory than
 * the deltas themselves.
 */
#pragma once

#include "analysis/cct.h"
#include "analysis/filter.h"
#include "analysis/flat.h"
#include "analysis/lanes.h"
#include "analysis/row-keys.h"
#include "analysis/totals.h"
#include "analysis/wait-idle.h"
#include "analysis/wait-kinds.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stdint.h>

enum dw_call_state {
	DWELL_CALL_SELECTED = 1,	/* its thread and process pass */
	DWELL_CALL_COUNTS = 2,		/* its module passes too: its values count */
	DWELL_CALL_PRESENT = 4,		/* it has values that count */
	DWELL_CALL_LEFT_OUT = 8,	/* its waits do not count, but for a processor */
	DWELL_CALL_READY_LEFT_OUT = 16, /* those for a processor do not */
};

struct dw_call_nodes {
	const struct dw_profile *profile;
	const struct dw_filter *filter;
	struct dw_row_keys *row_keys;
	uint32_t n;	/* node ids are below this */
	uint8_t *state; /* by node id: enum dw_call_state bits */
	/* Deltas by node: deltas[first[id]] .. deltas[first[id + 1]], or without a list of deltas
	 * first[id] .. itself; without both the profile has sums. */
	uint32_t *first, *deltas;
	struct dw_slices slices;
	struct dw_lanes lanes;
	/* By thread id, 0 included. */
	uint32_t *group;	     /* threads of one lane and one name are a root row: its index
				      * in row_keys->roots */
	struct dw_call_values *sums; /* of all that counts */
	/* Nodes that waited, by id; their kinds stand once dw_call_waits_find() has been there. */
	DW_VEC(struct dw_wait_at) waits;
	bool has_waits;	       /* else nobody wants them */
	bool has_system_calls; /* some that counts made one */
	/* Thread ids by lane: order[begin[lane]] .. order[begin[lane + 1]] */
	uint32_t *begin, *order;
};

/* Prepare the calls of @p under @filter (both borrowed, as @row_keys), @with_waits or without. 0,
 * -ENOMEM, or DWELL_ERR_LIMIT for 2^32 deltas. To be released in either case. */
int dw_call_nodes_init(struct dw_call_nodes *t, const struct dw_profile *p,
		       const struct dw_filter *filter, struct dw_row_keys *row_keys,
		       bool with_waits);

/* What @id (below t->n) has of its own under the filter: nothing but its calls if its module does
 * not pass. Statements have no calls. */
struct dw_call_values dw_call_nodes_values(const struct dw_call_nodes *t, uint32_t id);

/* How often control came to the statement @id, which passes the filter, in its range of time. */
uint64_t dw_call_nodes_arrivals(const struct dw_call_nodes *t, uint32_t id);

/* Add what node @id has of @own to its thread: an overflow node its calls, since its time is in
 * estimated and truncated nodes. Of those a filter by module knows too little, then it is the other
 * way round. */
void dw_call_nodes_add_to_thread(struct dw_call_nodes *t, uint32_t id,
				 const struct dw_call_values *own);

/* Find what the nodes in t->waits waited for, and mark those whose waits the filter leaves out. 0
 * or -ENOMEM. */
int dw_call_waits_find(struct dw_call_nodes *t);

/* Add up all waits by kind, with where most of each was. 0 or -ENOMEM. */
int dw_call_waits_sum(const struct dw_call_nodes *t, struct dw_wait_total *ret);

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
	const struct dw_row_keys *s = t->row_keys;
	uint32_t function;

	if (!frame || frame >= s->frames_n)
		return 0;
	function = s->function[s->first[frame + 1] - 1];
	return function < s->functions_n ? function : 0;
}

/* The module of @frame. */
static inline uint32_t dw_call_module_at(const struct dw_call_nodes *t, uint32_t frame)
{
	return frame < t->row_keys->frames_n ? t->row_keys->module[frame] : 0;
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
		return dw_row_keys_none(t->row_keys) +
		       t->group[node->thread < t->lanes.threads_n ? node->thread : 0];
	if (node->flags & DWELL_CALL_TRUNCATED)
		return dw_row_keys_truncated(t->row_keys);
	return dw_call_function_at(t, node->entry);
}

/* The calling context tree of all calls that pass: lanes, below them their threads, below these
 * their nodes. */
struct dw_call_tree {
	const struct dw_call_nodes *nodes;
	struct dw_cct cct; /* ids of paths: lanes, then threads, then nodes */
	/* Positions of lanes and threads, by their ids; DWELL_CCT_NONE = without calls. */
	uint32_t *lane, *thread;
};

/* Make the tree of @nodes (borrowed), with amounts as @like stores them. 0; -ENOMEM;
 * DWELL_ERR_LIMIT for 2^32 paths. To be released in either case. */
int dw_call_tree_init(struct dw_call_tree *c, const struct dw_call_nodes *nodes,
		      const struct dw_amounts *like);

/* The node at position @p, which is none of a lane or of a thread. */
static inline uint32_t dw_call_tree_node(const struct dw_call_tree *c, uint32_t p)
{
	return c->cct.id[p] - c->nodes->lanes.n - c->nodes->lanes.threads_n;
}

/* Free everything. */
void dw_call_tree_release(struct dw_call_tree *c);

/* Functions, modules, edges, lines and instructions, lane by lane. */
struct dw_call_flat {
	const struct dw_call_nodes *nodes;
	const struct dw_call_tree *tree;
	struct dw_flat rows;
	/* Overflow nodes by thread: overflow[begin[thread]] .. overflow[begin[thread + 1]] */
	uint32_t *begin, *overflow;
};

/* Prepare for @parts over @tree (borrowed), rows to be appended to @out. 0 or -ENOMEM, to be
 * released in either case. */
int dw_call_flat_init(struct dw_call_flat *f, const struct dw_call_tree *tree, unsigned parts,
		      struct dw_totals *out);

/* Count the threads of @lane and append its rows. 0 or -ENOMEM. */
int dw_call_flat_count(struct dw_call_flat *f, uint32_t lane);

/* Free everything. */
void dw_call_flat_release(struct dw_call_flat *f);

/* Append what was read and written by threads that pass, and in functions that do, to the files of
 * @ret. 0 or -ENOMEM. */
int dw_call_files_list(const struct dw_call_nodes *nodes, struct dw_totals *ret);

/* As dw_totals_compute(), of the calls of @p. @ret is empty. */
int dw_call_totals_compute(const struct dw_profile *p, const struct dw_filter *filter,
			   unsigned parts, struct dw_totals *ret);
