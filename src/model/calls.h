/*
 * Calls: what instrumentation measured, exactly, as trees of activations by thread.
 *
 * A node is one path: (parent, callee, call site). Its values are exclusive and come in slices of
 * time: a row for each (slice, node) in which something happened, their sum is the node's value.
 * Inclusive values are made by src/analysis/. Parents have smaller ids than children, all nodes of
 * a thread hang on its root. Times are nanoseconds, probe cost already subtracted.
 *
 * Where a target's memory for its trees was used up, nodes with DWELL_CALL_OVERFLOW stand beside
 * the trees, see there; then functions, modules and edges are exact and only paths are lost.
 */
#pragma once

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is measured of a call, or of many together, exclusive unless said otherwise. */
struct dw_call_values {
	uint64_t calls;
	uint64_t elapsed_ns;
	uint64_t application_ns; /* OS transitions end intervals */
	uint64_t delimited_ns;	 /* the classic rule: only probes end intervals, and one OS event
				    drops all of one */
	uint64_t overhead_ns;	 /* what the probes cost, subtracted from the others */
	uint64_t blocked_ns;	 /* off the processor */
	uint64_t ready_ns;	 /* of that only because no processor was free; older sessions: 0 */
	uint64_t os_cpu_ns;	 /* on the processor, inside system calls that count */
	uint64_t switches;
	uint64_t io_calls;
	uint64_t blocking_calls;
	uint64_t left_out_ns; /* blocked, in waits that a filter leaves out; not stored */
};

/* What of @v's time off the processor was waiting for one: all of those who asked the system for
 * nothing. */
static inline uint64_t dw_call_values_ready(const struct dw_call_values *v)
{
	bool is_all = !v->io_calls && !v->blocking_calls;

	return is_all || v->ready_ns > v->blocked_ns ? v->blocked_ns : v->ready_ns;
}

/* Add @more to @sum. */
static inline void dw_call_values_add(struct dw_call_values *sum, const struct dw_call_values *more)
{
	sum->calls += more->calls;
	sum->elapsed_ns += more->elapsed_ns;
	sum->application_ns += more->application_ns;
	sum->delimited_ns += more->delimited_ns;
	sum->overhead_ns += more->overhead_ns;
	sum->blocked_ns += more->blocked_ns;
	sum->ready_ns += more->ready_ns;
	sum->left_out_ns += more->left_out_ns;
	sum->os_cpu_ns += more->os_cpu_ns;
	sum->switches += more->switches;
	sum->io_calls += more->io_calls;
	sum->blocking_calls += more->blocking_calls;
}

/* What most rows have: application and whole time are the elapsed one. */
struct dw_call_plain {
	uint64_t calls;
	uint64_t elapsed_ns;
	uint64_t overhead_ns;
};

/* Values of very many rows, numbered from 0: those in which the system had no part take a third of
 * the room. One thread while rows are added. */
struct dw_call_store {
	DW_VEC(struct dw_call_plain) plain;   /* by row */
	DW_VEC(uint32_t) system_of;	      /* by row: index in system + 1, 0 = none */
	DW_VEC(struct dw_call_values) system; /* in place of the plain ones */
};

/* Make @n rows, new ones with nothing in them. 0 or -ENOMEM. */
int dw_call_store_extend(struct dw_call_store *s, size_t n);

/* Add @more to @row, which is there. 0 or -ENOMEM. */
int dw_call_store_add(struct dw_call_store *s, size_t row, const struct dw_call_values *more);

/* What @row has. */
static inline struct dw_call_values dw_call_store_get(const struct dw_call_store *s, size_t row)
{
	const struct dw_call_plain *p = &s->plain.v[row];

	if (s->system_of.v[row])
		return s->system.v[s->system_of.v[row] - 1];
	return (struct dw_call_values){
		.calls = p->calls,
		.elapsed_ns = p->elapsed_ns,
		.application_ns = p->elapsed_ns,
		.delimited_ns = p->elapsed_ns,
		.overhead_ns = p->overhead_ns,
	};
}

enum dw_call_flag {
	DWELL_CALL_ROOT = 1, /* a thread before its first function, and between them */
	/* The callee is not instrumented: its time was taken by the caller. */
	DWELL_CALL_EXTERNAL = 2,
	/* Stands for callees that had no room: has the time below its parent, and no function. */
	DWELL_CALL_TRUNCATED = 4,
	/*
	 * Outside the tree, parent = the thread's root: all activations that had no room, of one
	 * caller, callee, site and set of the flags that follow. Exclusive values, which count for
	 * function, module, edge and site, but not for the thread: the truncated nodes have them.
	 */
	DWELL_CALL_OVERFLOW = 8,
	/* With OVERFLOW, more nodes: the inclusive values of those of the same activations that
	 * were outermost as the flags say, and their number. They count nowhere else. */
	DWELL_CALL_INCLUSIVE = 16,
	DWELL_CALL_OUTERMOST_FUNCTION = 32,
	DWELL_CALL_OUTERMOST_MODULE = 64,
	DWELL_CALL_OUTERMOST_EDGE = 128,
	DWELL_CALL_OUTERMOST_SITE = 256,
	/*
	 * A statement of its parent's function, not of one that the parent calls: @entry is its
	 * first instruction, its calls are how often control came to it, its time is the function's
	 * own, and what was called from there hangs below.
	 */
	DWELL_CALL_LINE = 512,
	/*
	 * A path that was found by looking at the stack now and then, once the thread's memory for
	 * paths was used up. Its time is a share, in proportion to how often it was found, of what
	 * the nodes with OVERFLOW of its callee, site and caller have; they count for functions,
	 * modules, edges and sites. What no path was found for is in the thread's node with
	 * TRUNCATED.
	 */
	DWELL_CALL_ESTIMATED = 1024,
	/*
	 * With OVERFLOW: calls of what was switched off, which were counted but not measured, by
	 * whomever. They have no time, which is their callers' own.
	 */
	DWELL_CALL_COUNTED = 2048,
	DWELL_CALL_FLAGS = 4095, /* all of them */
};

struct dw_call_node {
	uint32_t thread; /* thread id */
	uint32_t parent; /* node id, 0 for roots */
	uint32_t entry;	 /* frame id of the callee's first instruction; 0 = root, truncated */
	uint32_t site;	 /* frame id of the call, 0 = not known */
	uint32_t caller; /* OVERFLOW: frame id of the caller's first instruction, 0 = the root */
	uint32_t flags;	 /* enum dw_call_flag bits */
};

/* A piece of the recording's time: from the end of the slice before to @end_ns. */
struct dw_call_slice {
	uint64_t end_ns; /* since the start of the recording */
};

struct dw_call_delta {
	uint32_t slice; /* index in slices, rising */
	uint32_t node;
	struct dw_call_values values;
};

/* The shortest and the longest of something; least > most: none yet. */
struct dw_range_ns {
	uint64_t min_ns, max_ns;
};

/* What activations of a function were like. Inclusive: of outermost ones. Of those that had not
 * ended those count that waited, until the recording ended. */
struct dw_extreme_values {
	struct dw_range_ns elapsed_inclusive, elapsed_exclusive;
	struct dw_range_ns application_inclusive, application_exclusive;
};

/* The shortest and the longest activation of a function in a thread. */
struct dw_call_extremes {
	uint32_t id; /* rows rise by 1 from 1; while recording: of the row that this one replaces */
	uint32_t thread;
	uint32_t entry; /* frame id */
	struct dw_extreme_values values;
};

/* One of the slowest activations of a function. */
struct dw_call_slow {
	uint32_t id; /* as that of extremes */
	uint32_t node;
	uint64_t start_ns; /* since the start of the recording */
	/* Switches and calls: inclusive ones only. */
	struct dw_call_values inclusive, exclusive;
	/* Its inclusive time outside the program: in I/O calls, in other system calls that count,
	 * and switched away. */
	uint64_t io_ns, blocking_ns, switched_ns;
};

/* Calls that read and write, and how long they took. */
struct dw_io_sums {
	uint64_t reads, writes;
	uint64_t bytes_read, bytes_written;
	uint64_t time_ns;
};

/* Add @more to @sum. */
static inline void dw_io_sums_add(struct dw_io_sums *sum, const struct dw_io_sums *more)
{
	sum->reads += more->reads;
	sum->writes += more->writes;
	sum->bytes_read += more->bytes_read;
	sum->bytes_written += more->bytes_written;
	sum->time_ns += more->time_ns;
}

/* What a thread has read from a file and written to it, by the innermost function with probes that
 * called. */
struct dw_call_file {
	uint32_t id; /* as that of extremes */
	uint32_t thread;
	uint32_t entry; /* frame id of the function, 0 = none was open */
	uint32_t file;	/* string: its name; 0 = files that had no room, of all functions */
	struct dw_io_sums sums;
};

/* From @at_ns on, since the start of the recording, calls of a function were measured no more: what
 * they take is their callers' time. */
struct dw_call_disabled {
	uint32_t process;
	uint32_t entry; /* frame id */
	uint64_t at_ns;
	uint32_t flags; /* enum dw_call_disabled_flag */
};

enum dw_call_disabled_flag {
	DWELL_DISABLED_IN_PART = 1,    /* calls by some callers only */
	DWELL_DISABLED_FROM_START = 2, /* an earlier run has found out */
};

/* What happened in a slice altogether: of calls the application time of functions, ns; of objects
 * the bytes that were allocated. */
struct dw_slice_activity {
	uint64_t end_ns; /* since the start of the recording */
	uint64_t amount;
};

struct dw_calls {
	DW_VEC(struct dw_call_node) nodes; /* by id - 1 - nodes_written */
	uint32_t nodes_written;		   /* the first ones, which were forgotten */
	DW_VEC(struct dw_call_slice) slices;
	/* While recording: those not written to a session yet, as the next. */
	DW_VEC(struct dw_call_delta) deltas;
	DW_VEC(struct dw_call_extremes) extremes;
	DW_VEC(struct dw_call_slow) slow;
	DW_VEC(struct dw_call_file) files;
	DW_VEC(struct dw_call_disabled) disabled;
	uint32_t extremes_ids, slow_ids, file_ids; /* while recording: ids in use */
	/* Of a session that was loaded for one range of time: by node id - 1, instead of deltas. */
	struct dw_call_store sums;
	/* Where it was wanted: of all slices up to the last one with anything, whichever
	 * of them were added up. */
	DW_VEC(struct dw_slice_activity) activity;
	bool wants_activity; /* set before a session is loaded; else it is not added up */
};

/* Append @node and give its id (1 and up). 0 or -ENOMEM. */
int dw_calls_add(struct dw_calls *t, const struct dw_call_node *node, uint32_t *ret);

/* The node of @id, borrowed until the next add. NULL for 0 and ids that are not here. */
const struct dw_call_node *dw_calls_get(const struct dw_calls *t, uint32_t id);

/* Forget all nodes: they are in the session. Later ones go on from their ids. */
void dw_calls_forget(struct dw_calls *t);

/* Number of nodes. Ids run from 1 to this. */
static inline uint32_t dw_calls_count(const struct dw_calls *t)
{
	return t->nodes_written + (uint32_t)t->nodes.n;
}

/* Whether nodes have sums instead of deltas. */
static inline bool dw_calls_summed(const struct dw_calls *t)
{
	return t->nodes.n && t->sums.plain.n == t->nodes.n;
}

/*
 * Choose whole slices for the range @from_ns to @to_ns (0 = no end): those between the ends that
 * are nearest to it, or where these are one and the same the slice that it begins in. Sets
 * selected[i] of slice i to 1, of others to 0, and @range to what they come to: its most is 0 when
 * there are none.
 */
void dw_calls_select(const struct dw_calls *t, uint64_t from_ns, uint64_t to_ns, uint8_t *selected,
		     struct dw_range_ns *range);

/* The program's time in callees of the activation @s. */
static inline uint64_t dw_call_slow_callees(const struct dw_call_slow *s)
{
	uint64_t all = s->inclusive.application_ns, own = s->exclusive.application_ns;

	return all > own ? all - own : 0;
}

/* Those that have nothing. */
#define DWELL_RANGE_NONE      \
	{                     \
		UINT64_MAX, 0 \
	}
#define DWELL_EXTREMES_NONE                                                            \
	{                                                                              \
		DWELL_RANGE_NONE, DWELL_RANGE_NONE, DWELL_RANGE_NONE, DWELL_RANGE_NONE \
	}

/* Whether @r has anything. */
static inline bool dw_range_known(const struct dw_range_ns *r)
{
	return r->min_ns <= r->max_ns;
}

/* Let @r have all that @more has. */
static inline void dw_range_widen(struct dw_range_ns *r, const struct dw_range_ns *more)
{
	if (!dw_range_known(more))
		return;
	if (more->min_ns < r->min_ns)
		r->min_ns = more->min_ns;
	if (more->max_ns > r->max_ns)
		r->max_ns = more->max_ns;
}

/* Likewise all four. */
static inline void dw_extreme_values_widen(struct dw_extreme_values *r,
					   const struct dw_extreme_values *more)
{
	dw_range_widen(&r->elapsed_inclusive, &more->elapsed_inclusive);
	dw_range_widen(&r->elapsed_exclusive, &more->elapsed_exclusive);
	dw_range_widen(&r->application_inclusive, &more->application_inclusive);
	dw_range_widen(&r->application_exclusive, &more->application_exclusive);
}

/* Free everything. */
void dw_calls_release(struct dw_calls *t);
