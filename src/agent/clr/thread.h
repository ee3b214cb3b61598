/*
 * Threads that allocate: each has memory of its own and a row of the region's table.
 */
#pragma once

#include "wire/allocations.h"

#include <stdbool.h>
#include <stdint.h>

enum { DWELL_STACK_FRAMES = 4096 }; /* of a stack, those further out are cut */

struct dw_clr_block;

/* The stack of a thread's last allocation, outermost frame first. */
struct dw_clr_path {
	uint32_t n;
	uint32_t nodes_n; /* those that have nodes: the outer ones */
	uint32_t frames[DWELL_STACK_FRAMES];
	uint32_t nodes[DWELL_STACK_FRAMES];
};

struct dw_clr_self {
	struct dw_clr_self *next; /* of all, constant */
	struct dw_clr_thread *shown;
	uint32_t use; /* enum dw_clr_use, atomic */
	uint32_t row;
	uint32_t root;	     /* node without frames */
	uint32_t truncated;  /* node of stacks that there was no room for */
	uint64_t stack_high; /* where its stack ends */
	/* rows that were taken and are not used yet */
	uint32_t nodes, nodes_end;
	uint32_t groups, groups_end;
	uint64_t last_class;
	uint32_t last_type;
	uint32_t frames_n; /* in @frames */
	uint32_t shared;   /* of @path: the stack has these further out */
	uint64_t *context; /* the runtime's allocation context of this thread, NULL = not known */
	uint64_t context_counted;     /* its user's own */
	uint32_t walks;		      /* since the last one that was compared */
	struct dw_clr_block *block;   /* of live objects, being filled */
	struct dw_snapshot *snapshot; /* memory for one, NULL = none yet */
	struct dw_overflow *overflow; /* of stacks that the tree has no room for, NULL = none yet */
	bool is_tree_full;	      /* no new stacks go to the tree */
	struct dw_memo *memo;	      /* of its last walk, NULL = none yet */
	struct dw_clr_path path;
	uint32_t frames[DWELL_STACK_FRAMES + 1]; /* innermost first: being walked */
	uint32_t folded[DWELL_STACK_FRAMES];	 /* outermost first, without recursion */
};

enum dw_clr_use {
	DWELL_CLR_UNUSED, /* its thread has ended */
	DWELL_CLR_USED,
	DWELL_CLR_BUSY, /* being looked at */
};

/* The calling thread, NULL = no room. */
struct dw_clr_self *dw_clr_self(void);

/* The first of all. The runtime's threads stand still. */
struct dw_clr_self *dw_clr_threads(void);

/* Tell where the stack of the program's first thread ends. */
void dw_clr_threads_start(void);

/*
 * The runtime's allocation contexts, made to announce every object.
 *
 * The runtime of .NET 10 announces some objects (boxes of structs, and what its own library makes
 * by the shortest way) only when a context has run out. Its compiled code compares with a limit of
 * the context; with that limit at the last object every allocation takes the way that announces.
 * Those of .NET 8 and 9 have no such limit and announce all; that is checked by their counters.
 */

/* Find what contexts are searched for in. */
void dw_context_start(void);

/* The object of @bytes at @object was announced on @t, the calling thread. */
void dw_context_announced(struct dw_clr_self *t, uint64_t object, uint64_t bytes);
