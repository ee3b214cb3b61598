/*
 * The tree of a thread: nodes by (parent, callee, site), in the region's arena, found by a hash
 * table of the thread's own; each node also remembers some of its children for the trampolines.
 *
 * Recursion is folded where it shows nothing new: fib() calls itself from two places, and a node
 * for each path would be one for each call. Where the path to a node has no (caller, callee, site)
 * that the path to an ancestor of the same callee lacks, the node is that ancestor's twin: it
 * counts what is its own, but what it calls hangs below the ancestor. So the parent of a node is
 * not always the node that was current; but both have the same callee, and their paths the same
 * callees, edges and sites, so that all that is counted once per path stays exact.
 *
 * When there is no room for a node the tree's owner goes over to cells (wire/call-tree.h), which
 * are found by their caller's record in place of a node. Nodes that were made stay as they are.
 * When there is no room for a cell of a call either, it is one of its callee alone, whoever calls
 * it.
 *
 * For the thread itself, in its slow path. Makes system calls where it grows. Nodes are never
 * freed, the table is grown as long as there is memory.
 */
#pragma once

#include "agent/calls/arena.h"
#include "wire/call-tree.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_extremes;

/* Zero-initialised, then dw_tree_start(). */
struct dw_tree {
	uint64_t base;	 /* of the arena */
	uint32_t *links; /* dw_arena_links(): of a twin, its ancestor and TWIN; of others, the last
			    node on the path, itself included, whose call none above it equals */
	struct dw_lines lines;
	struct dw_tree_entry *table;
	uint32_t room;	/* entries, a power of 2 */
	uint32_t nodes; /* among them */
	struct dw_tree_quick *quick;
	uint32_t quick_room; /* likewise */
	uint32_t quick_n;    /* entries written since it was made */
	uint32_t cells;	     /* the root among cells, 0 = nodes are made */
	uint32_t thread;     /* line of the struct dw_tree_thread */
	struct dw_extremes *extremes;
};

/* A child in the trampolines' table. Two neighbours, the first at an even place, are looked at. */
struct dw_tree_quick {
	uint32_t check; /* of parent, key and site */
	uint32_t line;
};

/* A node in the table. */
struct dw_tree_entry {
	uint32_t line; /* 0 = free */
	uint32_t hash; /* of parent, key and site */
};

/* The factor by which trampolines make tags of keys: tag = low half of (key * it + site). */
enum { DWELL_TAG_FACTOR = 0x9e3b };

/* By which they make checks: parent's line * the first + key * the second + site. */
#define DWELL_NODE_FACTOR 0x85ebca6bu
#define DWELL_KEY_FACTOR  0x9e3779b1u

/* The tag by which trampolines find @node among those that its parent remembers. */
static inline uint16_t dw_tree_tag(const struct dw_tree_node *node)
{
	return (uint16_t)((uint32_t)node->key * DWELL_TAG_FACTOR + node->site);
}

/* Let no tree have more than @nodes nodes. Before there is any. */
void dw_tree_limit(uint32_t nodes);

/* Begin an empty tree for the thread of @line, whose root becomes current; the lines that @t has
 * left stay its own. The root, NULL = no memory. */
struct dw_tree_node *dw_tree_start(struct dw_tree *t, struct dw_tree_thread *line);

/*
 * Make cells from now on; @each (borrowed) has the bounds of callees. The cell of the thread's
 * root, NULL = no room, and nothing has changed.
 */
struct dw_tree_node *dw_tree_make_cells(struct dw_tree *t, struct dw_tree_thread *line,
					struct dw_extremes *extremes);

/* The record of the callee of @cell. */
static inline struct dw_tree_callee *dw_tree_callee_of(const struct dw_tree_thread *line,
						       const struct dw_tree_node *cell)
{
	return dw_arena_line(line->arena, ((const struct dw_tree_cell *)cell)->callee);
}

/* The node of a call by the one of @parent, for @key and @site, made if it is new: a cell, by
 * another one, once cells are made. NULL = no room. */
struct dw_tree_node *dw_tree_child(struct dw_tree *t, struct dw_tree_node *parent, uint64_t key,
				   uint32_t site);

/* The line of the path of @parent (a line, 0 = none) and the cell at line @cell behind it, made if
 * it is new. Recursion is folded. 0 = no room. */
uint32_t dw_tree_drawn(struct dw_tree *t, uint32_t parent, uint32_t cell);

/* Let trampolines find @child below @parent, which was current when it was called. @line is told
 * where the table for that is. */
void dw_tree_remember(struct dw_tree *t, struct dw_tree_thread *line, struct dw_tree_node *parent,
		      const struct dw_tree_node *child);

/* Add @more to @to. */
static inline void dw_tree_os_add(struct dw_tree_os *to, const struct dw_tree_os *more)
{
	to->ticks += more->ticks;
	to->probe_ticks += more->probe_ticks;
	to->cpu_ticks += more->cpu_ticks;
	to->blocked_ticks += more->blocked_ticks;
	to->ready_ticks += more->ready_ticks;
	to->switches += more->switches;
	to->io_calls += more->io_calls;
	to->blocking_calls += more->blocking_calls;
}

/* What the operating system did in @node, made if it is new. NULL = no room. */
struct dw_tree_os *dw_tree_os(struct dw_tree *t, struct dw_tree_node *node);

/* Give the table back, of a thread that has ended. From any thread. */
void dw_tree_end(struct dw_tree *t);
