/*
 * What the lines of an arena mean: threads and nodes of a profile, found as they come.
 *
 * A line gets a meaning once and keeps it. A node whose parent is not there yet waits: it was read
 * while the target made both. Lines that break the rules of wire/call-tree.h are counted. One
 * thread.
 */
#pragma once

#include "collect/region/arena.h"
#include "collect/region/calls.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	DWELL_OVERFLOW_LINES = sizeof(struct dw_tree_overflow) / DWELL_LINE_BYTES,
	DWELL_EACH_LINES = sizeof(struct dw_tree_each) / DWELL_LINE_BYTES,
	DWELL_OPEN_LINES = sizeof(struct dw_tree_open) / DWELL_LINE_BYTES,
	DWELL_SLOW_LINES = sizeof(struct dw_tree_slow) / DWELL_LINE_BYTES,
};

enum dw_line_kind {
	DWELL_LINE_UNKNOWN,
	DWELL_LINE_THREAD,
	DWELL_LINE_ROOT, /* nodes: from here ... */
	DWELL_LINE_FUNCTION,
	DWELL_LINE_OUTSIDE,
	DWELL_LINE_STATEMENT,
	DWELL_LINE_TRUNCATED, /* ... to here */
	DWELL_LINE_OS,
	DWELL_LINE_OVERFLOW,
	DWELL_LINE_EACH,
	DWELL_LINE_SLOW,
	DWELL_LINE_OPEN,
	DWELL_LINE_REST, /* the second of two */
	DWELL_LINE_BROKEN,
};

struct dw_call_line {
	uint32_t id;	 /* nodes: node id (of overflow nodes the first of two); OS, REST: the line
			    they belong to; THREAD: index in threads; EACH, SLOW: its reader's own */
	uint32_t parent; /* line, of nodes in trees: what it said when it was found */
	uint32_t ahead;	 /* for the readers of values and of single activations */
	uint8_t kind;	 /* enum dw_line_kind */
	uint8_t passed;	 /* functions: gates around the call that have let it pass */
};

struct dw_call_thread {
	uint32_t line;
	uint32_t id; /* in the profile */
	uint32_t root_node;
	/* for the reader of values */
	bool is_gone;
	uint64_t end;	      /* TSC that its row says, 0 = it goes on */
	uint64_t ahead_until; /* TSC up to which its time was charged ahead of its events */
	uint64_t quiet_last;  /* its last event at the reading before */
	uint64_t quiet_cpu_ns;
	double quiet_ticks;   /* that it is known to have run since that event */
	bool quiet_is_exact;  /* and that it has run no longer */
	uint64_t wait_until;  /* TSC at which the system call ends that it is in, as the recording
				 does; 0 = it is in none */
	double overflow_cost; /* of this reading, ticks: of probes of calls that had no room */
	double truncated;     /* of this reading, ticks */
};

struct dw_call_lines {
	struct dw_profile *p;
	uint32_t process;
	struct dw_region_names names;
	struct dw_arena arena;
	int fd; /* of the region, while a reading goes on */
	DW_VEC(struct dw_call_line) lines;
	DW_VEC(struct dw_call_thread) threads; /* by id */
	DW_VEC(uint32_t) waiting;	       /* lines of nodes whose parents are not there yet */
	uint64_t nodes, overflow_nodes, broken;
};

/*
 * Read the arena of the region @fd and give what has come a meaning. Errors as
 * dw_region_calls_read().
 */
int dw_call_lines_read(struct dw_call_lines *s, int fd, const struct dw_region_head *head,
		       const struct dw_region_clock *clock);

/* Whether lines of @kind are nodes of a tree. */
bool dw_line_is_node(enum dw_line_kind kind);

/* The node at @line. */
struct dw_tree_node dw_call_lines_node(const struct dw_call_lines *s, uint32_t line);

/* The thread of node @id, borrowed. */
struct dw_call_thread *dw_call_lines_thread(struct dw_call_lines *s, uint32_t id);

/*
 * What the system did in the node at @line, whose member os is @os: now and at the reading before,
 * zeros where there is nothing. 0 or -ENOMEM.
 */
int dw_call_lines_os(struct dw_call_lines *s, uint32_t line, uint32_t os, struct dw_tree_os *now,
		     struct dw_tree_os *old);

/* Free everything. */
void dw_call_lines_release(struct dw_call_lines *s);
