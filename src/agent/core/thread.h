/*
 * What the agent keeps of a thread beside its line: its stacks, its tree, its source of switches.
 * For slow paths of the thread itself; private memory, which a fork's child gets a copy of.
 */
#pragma once

#include "agent/core/drawn.h"
#include "agent/core/each.h"
#include "agent/core/os-events.h"
#include "agent/core/stacks.h"
#include "agent/core/threads.h"
#include "agent/core/tree.h"

struct dw_thread {
	struct dw_tree_thread *line;
	struct dw_tree tree;
	struct dw_stacks stacks;
	struct dw_each each;
	struct dw_os_state os;
	struct dw_drawer drawer;
	struct dw_thread *next; /* of all, those of ended threads among them */
	uint32_t forks;		/* the process's own at its start: others are from before a fork */
	uint32_t use;		/* enum dw_thread_use, atomic */
	const void *word;	/* its thread's: a thread with the same one has come after it */
	uint64_t own_stack;	/* own-stack.h */
	uint64_t published;	/* TSC: dw_cells_publish() */
	uint64_t overhead_rest; /* ticks that make no unit of overhead yet */
	uint32_t more_pointers; /* line of the first of its further pointers, probe/counted.c */
	bool has_no_counters;	/* there was no memory for them, likewise */
};

enum dw_thread_use {
	DWELL_THREAD_BUSY, /* whoever has made it so begins or ends it */
	DWELL_THREAD_USED,
	DWELL_THREAD_UNUSED, /* its thread has ended: another may have it */
};

/* Add @elapsed ticks without an OS event and @overhead (in units) to the current node of @t. */
void dw_thread_charge_plain(struct dw_thread *t, uint64_t elapsed, uint32_t overhead);

/* Add what an interval was to the current node of @t. */
void dw_thread_charge(struct dw_thread *t, const struct dw_interval *interval);
