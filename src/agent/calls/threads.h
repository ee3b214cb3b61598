/*
 * The threads of a process as the probes see them: a line in the region, and what is the agent's
 * own beside it.
 *
 * A thread gets both at its first probe. Until then its word (thread-local, read by the
 * trampolines) leads to a line that sends every probe to the slow path. What a task that has ended
 * left is used again, but for its line and nodes. A task that shares another's thread-local storage
 * (vfork's child, raw clone) is told by its id and its stack, and not counted.
 */
#pragma once

#include "agent/calls/call-extremes.h"
#include "agent/calls/file-io.h"
#include "agent/calls/os-events.h"
#include "agent/calls/path-samples.h"
#include "agent/calls/stacks.h"
#include "agent/calls/tree.h"
#include "wire/call-tree.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_thread {
	struct dw_tree_thread *line;
	struct dw_tree tree;
	struct dw_stacks stacks;
	struct dw_extremes extremes;
	struct dw_os_state os;
	struct dw_drawer drawer;
	struct dw_file_io io;
	struct dw_thread *next; /* of all, those of ended threads among them */
	uint32_t forks;		/* the process's own at its start: others are from before a fork */
	uint32_t use;		/* enum dw_thread_use, atomic */
	const void *word;	/* its thread's: a thread with the same one has come after it */
	uint64_t own_stack;	/* dw_own_stack_make() */
	uint64_t published;	/* TSC: dw_cells_publish() */
	uint64_t overhead_rest; /* ticks that make no unit of overhead yet */
	uint32_t more_pointers; /* line of the first of its further pointers, clones/counts.c */
	bool has_no_counters;	/* there was no memory for them, likewise */
};

enum dw_thread_use {
	DWELL_THREAD_BUSY, /* whoever has made it so begins or ends it */
	DWELL_THREAD_USED,
	DWELL_THREAD_UNUSED, /* its thread has ended: another may have it */
};

/* The word that trampolines read: fs:offset. */
extern __thread struct dw_tree_thread *dw_thread_word __attribute__((tls_model("initial-exec")));

/* The line of threads that have none yet, for the word: every probe of theirs goes the slow way. */
extern struct dw_tree_thread dw_thread_none;

/* The offset of dw_thread_word from %fs:0, for DWELL_RELOC_THREAD. */
int32_t dw_thread_offset(void);

/*
 * The calling thread, made at its first probe, whose record is @record. NULL: it is
 * not measured. What keeps a thread from being made may pass, so it is tried again, at more and
 * more probes each time; after the last try its trampolines do nothing.
 */
struct dw_thread *dw_thread_self(uint64_t record);

/* The calling thread is not measured from now on: its trampolines do nothing. */
void dw_thread_off(void);

/* The calling thread is about to end: others may have what it has. */
void dw_thread_end_self(void);

/* The process is about to end: note which threads have ended before it. */
void dw_threads_end(void);

/* Whether a slow path of another thread goes on, or one in which it begins or ends. */
bool dw_threads_are_busy(void);

/* The calling thread if it has been made, of this process's own region. [async-signal-safe] */
struct dw_thread *dw_thread_known(void);

/* Inside dw_agent_enter(), when a fork's child has a region of its own: its thread begins again. */
void dw_threads_forked(void);

/* Add @elapsed ticks without an OS event and @overhead (in units) to the current node of @t. */
void dw_thread_charge_plain(struct dw_thread *t, uint64_t elapsed, uint32_t overhead);

/* Add what an interval was to the current node of @t. */
void dw_thread_charge(struct dw_thread *t, const struct dw_interval *interval);
