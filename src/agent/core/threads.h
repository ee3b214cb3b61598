/*
 * The threads of a process as the probes see them: a line in the region, and what is the agent's
 * own beside it.
 *
 * A thread gets both at its first probe. Until then its word (thread-local, read by the gates)
 * leads to a line that sends every probe to the slow path. What a task that has ended left is
 * used again, but for its line and nodes. A task that shares another's thread-local storage
 * (vfork's child, raw clone) is told by its id and its stack, and not counted.
 */
#pragma once

#include "agent/core/os-events.h"
#include "wire/call-tree.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * One open activation; one line. The array of a thread is its shadow stack; entry 0 is the root's.
 * The times are of the thread's own clock, but for @began: see each.h.
 */
struct dw_shadow {
	struct dw_tree_node *node; /* current while it is on top */
	uint64_t record; /* rsp as the gate sees it at the entry; of calls out 4 less; odd values
			    send the leaving probe to the slow path */
	struct dw_tree_node *function; /* the activation's own; @node is that of the statement it
					  is at, if that has one */
	uint64_t start;
	uint64_t spent; /* @start and the inclusive times of callees that have ended */
	uint64_t began; /* TSC; of cells the highest two bits say what it adds to: cells.h */
	uint64_t inclusive, probes; /* of cells: cells.h */
} __attribute__((aligned(DWELL_LINE_BYTES)));

/* In dw_shadow.spent: its end is for the slow path. */
#define DWELL_SHADOW_SLOW (1ull << 63)
/* In dw_shadow.start, SLOW beside it: nobody knows how long it takes. */
#define DWELL_SHADOW_LEFT_OUT (1ull << 63)

/* In dw_shadow.began: another activation of its callee is open below it on its stack, and what it
 * adds to is its cell's struct dw_tree_inner; without the latter it adds to nothing. */
#define DWELL_SHADOW_INNER    (1ull << 63)
#define DWELL_SHADOW_REPEATED (1ull << 62)

/* When the activation of @e began: TSC. */
#define dw_shadow_began(e) ((e)->began & ~(DWELL_SHADOW_INNER | DWELL_SHADOW_REPEATED))

/* The word that gates read: fs:offset. */
extern __thread struct dw_tree_thread *dw_thread_word __attribute__((tls_model("initial-exec")));

/* The line of threads that have none yet, for the word: every probe of theirs goes the slow way. */
extern struct dw_tree_thread dw_thread_none;

/* The offset of dw_thread_word from %fs:0, for DWELL_RELOC_THREAD. */
int32_t dw_thread_offset(void);

struct dw_thread;

/*
 * The calling thread (core/thread.h), made at its first probe, whose record is @record. NULL: it is
 * not measured. What keeps a thread from being made may pass, so it is tried again, at more and
 * more probes each time; after the last try its gates do nothing.
 */
struct dw_thread *dw_thread_self(uint64_t record);

/* The calling thread is not measured from now on: its gates do nothing. */
void dw_thread_off(void);

/* The calling thread is about to end: others may have what it has. */
void dw_thread_end_self(void);

/* The process is about to end: note which threads have ended before it. */
void dw_threads_end(void);

/* Wait, for some ms at most, until no slow path goes on that began when the agent might make system
 * calls: it may not any more. */
void dw_threads_settle(void);

/* The calling thread if it has been made, of this process's own region. [async-signal-safe] */
struct dw_thread *dw_thread_known(void);

/* Inside dw_agent_enter(), when a fork's child has a region of its own: its thread begins again. */
void dw_threads_forked(void);
