/*
 * Trees of totals that grow from each node to its children, as far as somebody looks.
 *
 * A node stands for a set of places, which its builder keeps as a list. To expand it, the places
 * one step further on are put into groups by a dense id; each group becomes a child.
 */
#pragma once

#include "analysis/totals.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A node that has still to be expanded. */
struct dw_pending {
	uint32_t node;
	uint32_t head;	/* the builder's: the first of its places, 0 = none yet */
	uint32_t group; /* that it was made of */
};

/* What the builder chooses once, then the tree at hand. */
struct dw_growth {
	const struct dw_focus *focus;
	struct dw_totals *out;
	bool has_threads;		/* nodes have a row in out->node_threads and node_firsts */
	uint32_t *made;			/* by group: the last node made of it */
	uint32_t at;			/* the node whose children are being made, */
	uint32_t first;			/* the first of them, */
	size_t first_todo;		/* and its entry in todo */
	size_t expanded;		/* nodes, in the tree at hand */
	DW_VEC(struct dw_pending) todo; /* the next one last */
};

/* Prepare for groups below @groups. 0 or -ENOMEM, to be released in either case. */
int dw_growth_init(struct dw_growth *g, const struct dw_focus *focus, uint32_t groups);

/* Append @root, of a new tree; what was left of the one before is forgotten. Gives its index in
 * @ret. 0 or -ENOMEM. */
int dw_growth_root(struct dw_growth *g, const struct dw_node_total *root, uint32_t *ret);

/* Take away the node that was appended last. */
void dw_growth_drop(struct dw_growth *g);

/* Make the children of @node from now on. */
void dw_growth_begin(struct dw_growth *g, uint32_t node);

/* The child of @group, made with @function and @thread when new, borrowed until the next is asked
 * for. Its values are the builder's to add. NULL without memory. */
struct dw_pending *dw_growth_child(struct dw_growth *g, uint32_t group, uint32_t function,
				   uint32_t thread);

/* All children of the node are made, with their values: leave out those that nobody will look at.
 */
void dw_growth_end(struct dw_growth *g);

/* Take a node to expand. False when no more are wanted: what is still in todo has no children. */
bool dw_growth_next(struct dw_growth *g, struct dw_pending *ret);

/* Free everything. */
void dw_growth_release(struct dw_growth *g);
