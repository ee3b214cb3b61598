/*
 * What the lines of an arena mean: threads and nodes of a profile, found as they come, and what has
 * changed since the reading before.
 *
 * A line gets a meaning once and keeps it. A node whose parent is not there yet waits: it was read
 * while the target made both. Lines that break the rules of wire/call-tree.h are counted.
 *
 * There may be millions of nodes, so of these no more is kept than what is compared and what leads
 * to their names: key and thread stand in a row that all nodes of one callee share. Lines of other
 * kinds are few, and kept whole. One thread.
 */
#pragma once

#include "base/map.h"
#include "collect/calls/arena.h"
#include "collect/calls/calls.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	DWELL_CALLEE_LINES = sizeof(struct dw_tree_callee) / DWELL_LINE_BYTES,
	DWELL_DRAWN_LINES = sizeof(struct dw_tree_drawn) / DWELL_LINE_BYTES,
	DWELL_INNER_LINES = sizeof(struct dw_tree_inner) / DWELL_LINE_BYTES,
	DWELL_EXTREMES_LINES = sizeof(struct dw_tree_extremes) / DWELL_LINE_BYTES,
	DWELL_OPEN_LINES = sizeof(struct dw_tree_open) / DWELL_LINE_BYTES,
	DWELL_SLOW_LINES = sizeof(struct dw_tree_slow) / DWELL_LINE_BYTES,
};

enum dw_line_kind {
	DWELL_LINE_UNKNOWN,
	DWELL_LINE_THREAD,
	DWELL_LINE_ROOT, /* nodes: from here ... */
	DWELL_LINE_FUNCTION,
	DWELL_LINE_EXTERNAL,
	DWELL_LINE_STATEMENT, /* ... to here */
	DWELL_LINE_CELL,      /* and these, of no tree: from here ... */
	DWELL_LINE_CELL_EXTERNAL,
	DWELL_LINE_CELL_STATEMENT, /* ... to here */
	DWELL_LINE_CALLEE,
	DWELL_LINE_INNER,
	DWELL_LINE_DRAWN,
	DWELL_LINE_OS,
	DWELL_LINE_EXTREMES,
	DWELL_LINE_SLOW,
	DWELL_LINE_OPEN,
	DWELL_LINE_COUNTED,
	DWELL_LINE_POINTERS,
	DWELL_LINE_FILE,
	DWELL_LINE_NAME,
	DWELL_LINE_FILE_IO,
	DWELL_LINE_REST, /* what follows the first of several */
	DWELL_LINE_BROKEN,
};

struct dw_call_line {
	uint32_t id; /* nodes: node id (of cells the first of two); OS, INNER, REST: the line they
			belong to, 0 = not known yet; THREAD, COUNTED, POINTERS: index in threads;
			FILE: string; EXTREMES, SLOW, FILE_IO: its reader's own */
	union {
		uint32_t parent; /* nodes in trees: line, as it said when it was found; of cells'
				    root: of its CALLEE; CALLEE: of a statement, its function's */
		uint32_t whole;	 /* others that are kept: index in wholes */
	};
	union {
		uint32_t callee; /* nodes, cells, CALLEE: index in callees + 1 */
		uint32_t state;	 /* EXTREMES, SLOW: their reader's own; DRAWN: index in drawn + 1,
				    which others may share; INNER: node id */
	};
	uint32_t site;	 /* nodes and cells, as in struct dw_tree_node */
	uint32_t change; /* index in changes, if that is of this line */
	uint8_t kind;	 /* enum dw_line_kind */
	uint8_t passed;	 /* functions: trampolines around the call that have let it pass */
};

/* What a node or a cell counts. */
struct dw_call_counts {
	uint64_t elapsed, calls;
	uint32_t overhead : 31;
	uint32_t is_inner : 1;
	uint32_t os; /* line */
};

/* A line that is kept. */
struct dw_whole_line {
	struct dw_arena_line now;
	uint32_t old; /* index in olds + 1, 0 = it has not changed since the reading before */
};

/* What a line was at the reading before, that has changed since: zeros, where it is new. */
struct dw_old_line {
	struct dw_arena_line line;
	uint32_t whole; /* index in wholes */
};

/* A line that the last reading found changed, or that was touched since. */
struct dw_call_change {
	uint32_t line;
	/* What it counted at the reading before; it is the reader of values that puts there what it
	 * has counted since. */
	uint32_t overhead : 31;
	uint32_t is_apart : 1; /* the reader's own, as what follows @calls, from 0 */
	uint64_t elapsed, calls;
	double cost;  /* ticks of probes: at first of those that calls from here took */
	double moved; /* ticks of skid */
};

/* A callee in a thread; (key, index of the thread) in callee_keys. */
struct dw_call_callee {
	uint32_t entry; /* frame, 0 = nothing is known of it */
	bool is_external;
};

struct dw_call_thread {
	uint32_t line;
	uint32_t id; /* in the profile */
	uint32_t root_node;
	/* for the reader of values */
	bool is_gone;
	uint64_t end;		/* TSC that its row says, 0 = it goes on */
	uint64_t ahead_until;	/* TSC up to which its time was charged ahead of its events */
	uint64_t silent_last;	/* its last event at the reading before, if it has had none since */
	uint64_t silent_cpu_ns; /* its CPU clock then */
	double silent_ticks;	/* that it is known to have run since that event */
	bool silent_is_exact;	/* and that it has run no longer */
	uint64_t wait_until;	/* TSC at which the system call ends that it is in, as the recording
				   does; 0 = it is in none */
	uint32_t cells_node;	/* has what all its cells have; 0 = none yet */
	struct dw_call_values cells; /* of this reading */
};

/* A path that was drawn. */
struct dw_call_drawn {
	uint32_t line;
	uint32_t parent; /* index + 1, 0 = none */
	uint32_t cell;	 /* line of its last cell */
};

struct dw_call_lines {
	struct dw_profile *p;
	uint32_t process;
	struct dw_region_names names;
	struct dw_arena arena;
	/* while a reading goes on */
	int fd; /* of the region */
	uint32_t lines_end;
	const struct dw_region_clock *clock;
	const struct dw_region_reading *now;
	DW_VEC(struct dw_call_line) lines;
	DW_VEC(struct dw_call_counts) counts; /* by line */
	DW_VEC(struct dw_whole_line) wholes;
	DW_VEC(struct dw_old_line) olds; /* of the last reading */
	DW_VEC(struct dw_call_change)
	changes; /* of the last reading, by rising line; then those
		    that were touched */
	DW_VEC(struct dw_call_callee) callees;
	struct dw_pairs callee_keys;	       /* by id - 1 as callees */
	DW_VEC(struct dw_call_thread) threads; /* by id */
	DW_VEC(uint32_t) waiting;	       /* lines of nodes whose parents are not there yet */
	DW_VEC(struct dw_call_drawn) drawn;    /* paths, those that others go on from first */
	uint64_t nodes, cells, broken;
};

/*
 * Read the arena of the region @fd, whose head in @now was just read, and give what has come a
 * meaning; @now is told where that are many nodes. Errors as dw_region_calls_read().
 */
int dw_call_lines_read(struct dw_call_lines *s, int fd, const struct dw_region_reading *now);

/* Whether lines of @kind are nodes of a tree. */
bool dw_line_is_node(enum dw_line_kind kind);

/* Whether lines of @kind are cells. */
bool dw_line_is_cell(enum dw_line_kind kind);

/* Whether lines of @kind are calls of what has no probes. */
bool dw_line_is_external(enum dw_line_kind kind);

/* Whether @line means nothing yet. */
bool dw_call_lines_is_unknown(const struct dw_call_lines *s, uint32_t line);

/* Whether @line means nothing as it is a mark of the trampolines, and no activation. */
bool dw_call_lines_is_mark(const struct dw_call_lines *s, uint32_t line);

/* Give @line, which is now @from, a meaning and keep it whole, all it holds new. 0 or -ENOMEM. */
int dw_call_lines_keep(struct dw_call_lines *s, uint32_t line, enum dw_line_kind kind, uint32_t id,
		       const struct dw_arena_line *from);

/* Likewise @n lines that follow the first one, @line, and were not read yet. */
int dw_call_lines_keep_rest(struct dw_call_lines *s, uint32_t line, uint32_t n);

/* The line @line, kept whole, is @now. 0 or -ENOMEM. */
int dw_call_lines_set(struct dw_call_lines *s, uint32_t line, const struct dw_arena_line *now);

/* All that @line, kept whole, holds is new. 0 or -ENOMEM. */
int dw_call_lines_renew(struct dw_call_lines *s, uint32_t line);

/* The line of a node or cell counts @n of it now. 0 or -ENOMEM. */
int dw_call_lines_count(struct dw_call_lines *s, uint32_t line, const struct dw_tree_node *n);

/* Look at @line again at the next reading. 0 or -ENOMEM. */
int dw_call_lines_wait(struct dw_call_lines *s, uint32_t line);

/* The row of the callee @key in the thread of index @thread as index in callees + 1, made when new.
 * 0 = no memory. */
uint32_t dw_call_lines_callee(struct dw_call_lines *s, uint64_t key, uint32_t thread);

/* The key of the callee of the node or cell at @line. */
static inline uint64_t dw_call_lines_key(const struct dw_call_lines *s, uint32_t line)
{
	return s->callee_keys.v.v[s->lines.v[line].callee - 1].a;
}

/* Its thread, borrowed. */
static inline struct dw_call_thread *dw_call_lines_thread(struct dw_call_lines *s, uint32_t line)
{
	return &s->threads.v[s->callee_keys.v.v[s->lines.v[line].callee - 1].b];
}

/* The index of @line's entry in s->changes, which is added when it is not there. -ENOMEM. */
int64_t dw_call_lines_touch(struct dw_call_lines *s, uint32_t line);

/* Copy @n lines that are kept whole, from @line on, to @ret: as they are. */
void dw_call_lines_get(const struct dw_call_lines *s, uint32_t line, uint32_t n, void *ret);

/* Likewise as they were at the reading before. */
void dw_call_lines_get_old(const struct dw_call_lines *s, uint32_t line, uint32_t n, void *ret);

/* Read them once more, to @ret, newer than what is kept. Where that cannot be, as
 * dw_call_lines_get(). */
void dw_call_lines_get_newer(const struct dw_call_lines *s, uint32_t line, uint32_t n, void *ret);

/*
 * What the system did in the node at @line, whose member os is @os: now and at the reading before,
 * zeros where there is nothing.
 */
void dw_call_lines_os(struct dw_call_lines *s, uint32_t line, uint32_t os, struct dw_tree_os *now,
		      struct dw_tree_os *old);

/* Free everything. */
void dw_call_lines_release(struct dw_call_lines *s);
