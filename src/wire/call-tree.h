/*
 * Call trees: what the probes of instrumented programs measure, in the region.
 *
 * All threads of a process share one arena of 64-byte lines, mapped contiguously in the target and
 * made of the region's chunks of kind DWELL_REGION_CHUNK_ARENA in their order. A line is named by
 * its index in the arena; line 0 is never used. Each thread has a struct dw_tree_thread and nodes
 * of its own: one writer each, plain stores. A node's parent has a smaller index than the node, but
 * a cell's need not. Ticks are those of the TSC; the collector knows its rate.
 *
 * The collector walks the lines in their order and tells them apart so: those of threads stand in
 * the region's header; a line whose last 8 bytes are a mark is what the mark says; one with a
 * parent is a node; roots have none and stand in their threads; all else is not in use yet. So the
 * mark of a new line is stored first and the parent of a new node last.
 *
 * A node is an activation path: (parent, callee, call site). Its values are exclusive: an interval
 * between two events of a thread belongs to the node that was current at its end. Inclusive values
 * are sums over subtrees. Keyed by the call site too, other than the design has it: so lines and
 * instructions are exact and cost a probe nothing, where counters of their own would cost two
 * cache lines a call. Recursion is folded: what a node calls may hang below an ancestor of the same
 * callee instead, where the paths to both hold the same callees, edges and sites
 * (agent/calls/tree.h); so what is counted once per path stays exact.
 *
 * When a thread finds no room for a node it goes over to cells, once and for good: one for each
 * call (caller, site, callee), whatever the path to it was. What was open goes on as cells from
 * then on, so what a function took is what its nodes say and what its cells say. There are as many
 * cells as calls in the program's text that were made, so their values are exact at any length of a
 * run; only paths are lost. Where many threads have more calls than there is room for, what is new
 * goes to a cell of its callee alone: the root calls it, from DWELL_SITE_NONE.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
	DWELL_LINE_BYTES = 64,
	DWELL_TREE_WAYS = 4, /* children that a node remembers for the trampolines */
};

/* Bytes of lines beside the budget for nodes, which the agent is told; a collector reads no more.
 */
enum {
	DWELL_ROOM_CELLS = 12 << 20,
	DWELL_ROOM_OTHER = 16 << 20, /* cells among it */
	DWELL_ROOM_PATHS = 8 << 20,  /* drawn ones */
	DWELL_ROOM_FILES = 8 << 20,  /* names of files, and what was read and written */
	/* What each thread beyond the first ones brings, and of that what nodes may take, and cells
	 * with them; of so many threads. */
	DWELL_ROOM_THREAD = 640 << 10,
	DWELL_ROOM_THREAD_NODES = 160 << 10,
	DWELL_ROOM_THREAD_CELLS = 416 << 10,
	DWELL_ROOM_THREADS = 240,
};

/*
 * What a node's key names. Below 2^32: a function (struct dw_region_module: first_id + its index in
 * the image), or an import (first_id + functions.n + its index): a callee that the module calls by
 * name or that was left alone. With the highest bit: the address of a callee that was called
 * through a pointer. With the second highest: a statement (first_id + functions.n + imports.n + its
 * index), whose node hangs below that of its function and has the time from when control came to
 * the statement until it came to another; what is called meanwhile hangs below. The rest are no
 * callees.
 */
#define DWELL_KEY_ADDRESS (1ull << 63)
#define DWELL_KEY_LINE	  (1ull << 62)
#define DWELL_KEY_ROOT	  0xfffffff0ull /* a thread before its first function and between them */

/* In place of the call site: of statements, and of callees in cells of whatever calls them. */
#define DWELL_SITE_NONE 0

/* Whether @key names a statement. */
static inline int dw_key_is_line(uint64_t key)
{
	return key >> 62 == 1;
}

/* In the last 8 bytes of lines that are no nodes: no node has a parent of this number. */
#define DWELL_MARK_OS	    0xffffffffull
#define DWELL_MARK_CALLEE   0xfffffffeull /* this line and the next */
#define DWELL_MARK_EXTREMES 0xfffffffdull /* likewise */
#define DWELL_MARK_SLOW	    0xfffffffcull /* likewise */
#define DWELL_MARK_OPEN	    0xfffffffbull /* likewise */
#define DWELL_MARK_INNER    0xfffffffaull /* this line and the two that follow */

#define DWELL_MARK_DRAWN   0xfffffff9ull /* this line and the next */
#define DWELL_MARK_COUNTED 0xfffffff8ull
#define DWELL_MARK_POINTER 0xfffffff7ull
#define DWELL_MARK_FILE	   0xfffffff6ull /* lines of DWELL_MARK_NAME follow, as its name needs */
#define DWELL_MARK_NAME	   0xfffffff5ull
#define DWELL_MARK_FILE_IO 0xfffffff4ull

/* The unit of overhead in trees. */
#define DWELL_OVERHEAD_TICKS 256

/* A node of the tree; one line. */
struct dw_tree_node {
	uint64_t elapsed; /* ticks, exclusive, those of OS intervals included */
	uint64_t calls;
	uint64_t key;
	uint32_t site;		/* low half of the return address at a function's entry; of the call
				   instruction's own address for imports and addresses; 0 = none, as
				   with statements */
	uint32_t overhead : 31; /* what slow paths took off @elapsed: DWELL_OVERHEAD_TICKS each;
				   begins anew at 0, which takes minutes of them */
	uint32_t is_inner : 1;	/* a node above it on the path has the same key */
	uint16_t tags[DWELL_TREE_WAYS]; /* the trampolines' own, as the next: meaningless to others
					 */
	uint32_t children[DWELL_TREE_WAYS];
	uint32_t parent; /* line */
	uint32_t os;	 /* line of its struct dw_tree_os, 0 = no OS event yet; UINT32_MAX = this
			    node is a mark of the trampolines and no activation */
};

/* What the operating system did in a node's intervals, or on a path, or inclusive in activations;
 * one line. */
struct dw_tree_os {
	uint64_t ticks;	      /* of the node's elapsed: OS intervals. Application = the rest */
	uint64_t probe_ticks; /* of whole probe-to-probe intervals that had an OS event (the classic
				 rule) */
	uint64_t cpu_ticks;   /* of @ticks on the processor: inside system calls */
	uint64_t blocked_ticks; /* of @ticks off the processor */
	uint64_t ready_ticks;	/* of those only because no processor was free */
	uint32_t switches;	/* this and the next begin anew at 0 when they have no room */
	uint32_t io_calls;
	uint32_t blocking_calls;
	uint32_t unused;
	uint64_t mark; /* DWELL_MARK_OS; 0 where it is a part of other lines */
};

/*
 * All calls of one callee from one site, on whatever path; one line. To trampolines it is a node
 * that knows its children by its callee's record.
 *
 * The inclusive values are of activations that have ended and were the outermost of their callee on
 * their stack, by the stack's clock (struct dw_tree_open): ticks without what probes were
 * taken to cost. With @probes they come to elapsed time as nodes have it.
 */
struct dw_tree_cell {
	uint64_t elapsed; /* as a node's */
	uint64_t calls;	  /* those that were DWELL_OUTERMOST; @inner has the others */
	uint64_t key;
	uint32_t site;
	uint32_t overhead;
	uint64_t inclusive;
	uint64_t probes;      /* what pairs of probes were taken to cost inside: pair_ticks */
	uint32_t callee;      /* line of its struct dw_tree_callee */
	uint32_t inner;	      /* line of its struct dw_tree_inner, 0 = none yet */
	uint32_t caller;      /* line of the caller's struct dw_tree_callee */
	uint32_t os;	      /* as a node's */
} __attribute__((may_alias)); /* a node, where both are meant */

/* A callee of cells, as their callers' record too; two lines. */
struct dw_tree_callee {
	uint64_t unused[2];
	uint64_t key;
	uint32_t site;			/* 0 */
	uint32_t thread;		/* line of its struct dw_tree_thread */
	uint16_t tags[DWELL_TREE_WAYS]; /* of cells that it calls, as a node's, as the next */
	uint32_t children[DWELL_TREE_WAYS];
	uint64_t mark;	    /* DWELL_MARK_CALLEE */
	uint64_t bounds[4]; /* the agent's own, as the next */
	uint64_t outermost; /* the cell of its outermost open activation, 0 = none is open */
	uint64_t unused_more[3];
} __attribute__((may_alias));

/* Of a cell, what is inclusive of activations: DWELL_OUTERMOST of their callee; DWELL_REPEATED,
 * below another activation of the callee, but the outermost of the cell. */
enum { DWELL_OUTERMOST, DWELL_REPEATED, DWELL_INNER_KINDS };

/* What few cells have; three lines. */
struct dw_tree_inner {
	uint64_t inclusive; /* of DWELL_REPEATED, as the cell's own, as the next */
	uint64_t probes;
	uint64_t open;	   /* the agent's own: not 0 while such an activation is open */
	uint64_t repeated; /* calls that were DWELL_REPEATED */
	uint64_t unused;   /* the trampolines' own */
	uint64_t others;   /* calls below others of the same cell, neither of these */
	uint64_t unused_more;
	uint64_t mark;				 /* DWELL_MARK_INNER */
	struct dw_tree_os os[DWELL_INNER_KINDS]; /* of both */
};

/*
 * A path of cells that was seen when the stack of its thread was sampled, by time; two lines.
 * Recursion is folded as in trees: what goes on from a path may stand below an earlier part of it
 * that leads to the same callee. What the system did is known exactly.
 */
struct dw_tree_drawn {
	uint64_t ticks;	 /* of the program's own time that was found here */
	uint64_t n;	 /* how often */
	uint64_t cell;	 /* line of the last cell */
	uint32_t parent; /* line of the path without it, 0 = it is that of the thread's root */
	uint32_t thread; /* line of its struct dw_tree_thread */
	uint64_t lost;	 /* ticks that were found for a path beyond this one, which had no room */
	uint64_t unused[2];
	uint64_t mark; /* DWELL_MARK_DRAWN */
	struct dw_tree_os os;
};

enum { DWELL_COUNTERS = 6, DWELL_POINTERS = 3, DWELL_POINTER_SETS = 128 };

/*
 * Calls of what is measured no more (struct dw_region_disabled), which are counted without a clock
 * and without their path: of functions and imports whose number is @first or follows it. Lines of
 * one thread stand in a row, and where it needed more later ones have what came since.
 */
struct dw_tree_counted {
	uint64_t calls[DWELL_COUNTERS];
	uint32_t thread; /* line of its struct dw_tree_thread */
	uint32_t first;
	uint64_t mark; /* DWELL_MARK_COUNTED */
};

/* Where the probes of number @n find its counter: negative, so that it is nothing else that may
 * stand there. */
static inline int32_t dw_counter(uint32_t n)
{
	return INT32_MIN + (int32_t)(n / DWELL_COUNTERS * DWELL_LINE_BYTES +
				     n % DWELL_COUNTERS * sizeof(uint64_t));
}

/* The number whose counter is at @place. */
static inline uint32_t dw_counter_number(int32_t place)
{
	uint32_t at = (uint32_t)place - (uint32_t)INT32_MIN;

	return at / DWELL_LINE_BYTES * DWELL_COUNTERS + at % DWELL_LINE_BYTES / sizeof(uint64_t);
}

/* Likewise of callees that are called through pointers. */
struct dw_tree_pointers {
	struct {
		uint64_t address; /* 0 = not in use */
		uint64_t calls;	  /* with DWELL_POINTER_PROBED: counted by the callee's own probe */
	} callees[DWELL_POINTERS];
	uint64_t thread;
	uint64_t mark; /* DWELL_MARK_POINTER */
};

#define DWELL_POINTER_PROBED (1ull << 63)

/*
 * A file that a thread has read or written, by the name that the kernel had for it then, without a
 * NUL at its end: what does not fit here stands in lines that follow, in a row. Its mark is stored
 * last, behind all of them.
 */
struct dw_tree_file {
	uint32_t bytes; /* of the name, DWELL_FILE_NAME_MAX at most */
	uint32_t next;	/* the agent's own, as the next */
	uint32_t rows;
	char name[44];
	uint64_t mark; /* DWELL_MARK_FILE */
};

struct dw_tree_name {
	char name[56];
	uint64_t mark; /* DWELL_MARK_NAME */
};

enum { DWELL_FILE_NAME_MAX = 1024 }; /* bytes; longer ones are cut */

/*
 * What a thread has read from a file and written to it in calls that have ended, by the innermost
 * function with probes that called. Calls that failed and such of no bytes are counted. One that
 * moves bytes from one file to another reads of the one and writes to the other, which has its
 * time. The mark is stored last.
 */
struct dw_tree_file_io {
	uint64_t reads, writes; /* calls */
	uint64_t bytes_read, bytes_written;
	uint64_t ticks;	   /* in these calls */
	uint32_t function; /* key, or DWELL_KEY_ROOT: below 2^32 */
	uint32_t file;	   /* line of its struct dw_tree_file; 0 = of files that had no room, all
			      together, of functions too */
	uint32_t thread;   /* line of its struct dw_tree_thread */
	uint32_t next;	   /* the agent's own */
	uint64_t mark;	   /* DWELL_MARK_FILE_IO */
};

/* Ticks; least > most: none yet. */
struct dw_tree_range {
	uint64_t least, most;
};

/* Skid: how late the work was done that stood before readings of the clock. */
struct dw_tree_skid {
	uint64_t n;	/* readings that were looked at, one in some thousand */
	uint64_t ticks; /* after them, until it was done */
};

/* Readings where an activation begins, and where it ends. */
enum { DWELL_SKID_BEGIN, DWELL_SKID_END, DWELL_SKIDS };

/*
 * What the ended activations of one callee in one thread were like, each for itself; two lines.
 * Ticks without the cost of probes, which is taken off as a mean, so that the shortest calls may
 * have none left; what a reader makes of sums can lie outside by as much. Inclusive: of outermost
 * activations. Callees called through pointers (DWELL_KEY_ADDRESS) have none of these.
 */
struct dw_tree_extremes {
	struct dw_tree_range elapsed_inclusive, elapsed_exclusive;
	uint64_t key;	 /* of the callee */
	uint32_t thread; /* line of its struct dw_tree_thread */
	uint32_t unused;
	uint64_t unused_more;
	uint64_t mark; /* DWELL_MARK_EXTREMES */
	struct dw_tree_range application_inclusive, application_exclusive;
	struct dw_tree_skid skid[DWELL_SKIDS];
};

/* What OS intervals are told apart by. */
enum dw_os_kind {
	DWELL_OS_IO,	   /* in an I/O call */
	DWELL_OS_BLOCKING, /* in another system call that counts */
	DWELL_OS_SWITCHED, /* switched away */
	DWELL_OS_KINDS
};

/*
 * One outermost activation among the slowest of its callee in its thread; two lines. Ticks without
 * the cost of probes, inclusive unless said otherwise. @serial is raised before and after each
 * change: odd while it lasts.
 */
struct dw_tree_slow {
	uint64_t start; /* TSC */
	uint64_t elapsed;
	uint64_t below;	   /* of @elapsed: in its callees */
	uint64_t cost;	   /* what else lay between its start and its end: probes, other stacks */
	uint32_t node;	   /* line; 0 = beyond the tree */
	uint32_t extremes; /* line of its callee's struct dw_tree_extremes */
	uint64_t own_os;   /* exclusive: of elapsed - below, OS intervals */
	uint64_t serial;
	uint64_t mark;		     /* DWELL_MARK_SLOW */
	uint64_t os[DWELL_OS_KINDS]; /* OS intervals by their kind */
	uint64_t cpu_ticks;	     /* of these on the processor */
	uint64_t blocked_ticks;	     /* and off it */
	uint32_t switches, io_calls, blocking_calls, unused;
	uint64_t own_blocked; /* exclusive */
};

/*
 * One activation that is open while its thread is in a system call that counts; two lines. What it
 * was like when the call began: what comes after is the call's. Times by its stack's clock, which
 * is the TSC less the thread's @cost.
 */
struct dw_tree_open {
	uint64_t start;		      /* TSC */
	uint64_t clock;		      /* at its start */
	uint64_t spent;		      /* @clock and what callees that have ended took */
	uint32_t node;		      /* line of its node or cell, 0 = not known */
	uint32_t index;		      /* on its stack; 0 = the line is not in use */
	uint32_t below;		      /* index of the activation that it was called by, 0 = none */
	uint32_t is_kept : 1;	      /* the slowest of its callee are kept */
	uint32_t has_sums : 1;	      /* what follows is not 0; the agent's own */
	uint32_t adds : 2;	      /* to which values of its cell it will add: DWELL_OUTERMOST or
					 DWELL_REPEATED, + 1; 0 = to none */
	uint64_t own_os, own_blocked; /* of callees, too, what follows on the other line */
	uint64_t mark;		      /* DWELL_MARK_OPEN */
	uint64_t os[DWELL_OS_KINDS], cpu_ticks, blocked_ticks; /* as in struct dw_tree_slow */
	uint32_t switches, io_calls, blocking_calls, unused;
	uint64_t sums; /* with @adds: what @inclusive and @probes come to there as it ends, less the
			  TSC without the thread's @other_cost */
};

enum {
	DWELL_OPEN_BLOCK = 32, /* of struct dw_tree_open that stand in a row */
	DWELL_OPEN_BLOCKS = 4, /* of a thread */
	DWELL_OPEN_MAX = DWELL_OPEN_BLOCK * DWELL_OPEN_BLOCKS,
};

/* How a thread learns that it was switched. */
enum dw_os_source {
	DWELL_OS_NONE, /* by nothing: Application is an upper bound */
	DWELL_OS_PERF, /* the page of a perf event */
	DWELL_OS_RSEQ, /* its restartable sequence */
	DWELL_OS_SOURCES
};

/* What kinds of probe cost. */
enum dw_probe_kind {
	DWELL_PROBE_ENTER,
	DWELL_PROBE_LEAVE,
	DWELL_PROBE_OUT,
	DWELL_PROBE_RETURN,
	DWELL_PROBE_LINE,
	DWELL_PROBE_CELL_ENTER, /* the first four of threads that have cells */
	DWELL_PROBE_CELL_LEAVE,
	DWELL_PROBE_CELL_OUT,
	DWELL_PROBE_CELL_RETURN,
	DWELL_PROBE_KINDS
};

/* What kind of callee a pair of probes is for. */
enum dw_pair_kind {
	DWELL_PAIR_FUNCTION, /* ENTER, LEAVE */
	DWELL_PAIR_EXTERNAL, /* OUT, RETURN */
	DWELL_PAIR_KINDS
};

/*
 * A thread; five lines. The first two hold what every probe reads: pointers of the target,
 * meaningless to others but for @last and @current.
 */
struct dw_tree_thread {
	/* hot */
	void *top;		      /* of the shadow stack */
	uint64_t last;		      /* TSC of its last event */
	struct dw_tree_node *current; /* address in the target: arena_base of the region's header */
	const uint32_t *os_word;      /* changes when the thread is switched */
	uint32_t os_seen;
	uint32_t has_cells; /* 1 = nodes are cells from now on */
	void *quick;	/* the trampolines' table of children beyond those that a node remembers */
	void *limit;	/* of the shadow stack */
	uint64_t arena; /* address of line 0 */
	/* hot too */
	uint32_t quick_mask; /* offsets in @quick */
	uint32_t window;     /* bytes: farther below the top a stack pointer goes slow */
	uint64_t cost; /* ticks so far that were not the program's: agent/calls/call-extremes.h */
	void *bounds;  /* what the trampolines expect of each callee, by key */
	uint64_t bounds_mask;
	/* Of a pair of probes, by enum dw_pair_kind, ticks: all; that which its callee is charged
	 * with. Can be negative. */
	uint64_t pair_ticks[DWELL_PAIR_KINDS], callee_ticks[DWELL_PAIR_KINDS];
	/* cold */
	int32_t tid;		   /* as the target sees it */
	uint32_t root;		   /* line */
	uint64_t start, end;	   /* TSC of its first event; of its last once it is known to have
				      ended, else 0 */
	uint64_t start_cpu_ns;	   /* its CPU clock at the first event */
	uint64_t cpu_ns;	   /* and when it was last read: at switches and at the end */
	uint32_t os_source;	   /* enum dw_os_source */
	uint32_t state;		   /* enum dw_tree_state */
	uint64_t slow_ticks;	   /* all time in slow paths */
	uint32_t extremes_lost;	   /* callees without room for their struct dw_tree_extremes */
	uint32_t line_ticks;	   /* of a statement's probe */
	uint32_t lookups, repairs; /* slow paths taken, for people who tune */
	uint64_t pointers;	   /* address of its DWELL_POINTER_SETS lines, 0 = none */
	uint32_t stacks;	   /* shadow stacks made */
	uint32_t disabled_serial;  /* of the struct dw_region_disabled that its stacks agree with */
	uint64_t io_lost;	   /* reads and writes that had no line at all */
	uint64_t cpu_at;     /* TSC of the reading in @cpu_ns; with an @os_source the thread has run
				from there to @last */
	uint64_t slow_since; /* TSC at which a slow path began that goes on, else 0: whose the time
				since @last is, is not known */
	/* The trampolines' own: a reading of the clock that is looked at closely, 0 = none, and the
	 * TSC when all that stands before it was done. */
	uint64_t read, done;
	/* In DWELL_THREAD_IN_CALL: enum dw_call_kind, and the innermost activation that is open;
	 * that of index i is entry i % DWELL_OPEN_MAX of the blocks at lines @open, if it is there.
	 */
	uint32_t call, open_top;
	uint32_t open[DWELL_OPEN_BLOCKS];
	uint64_t end_cpu_ns; /* its CPU clock at the end of the process, 0 = not read */
	uint64_t other_cost; /* of @cost, what pairs of probes had no part in */
	uint64_t draw_at;    /* clock of the current stack at which a path is drawn next */
	uint32_t drawn_lost; /* paths that had no room */
	/* Counters are found at @counted plus what dw_counter() says of their number, if that is
	 * below @counted_end. */
	int32_t counted_end;
	uint64_t counted;
};

enum { DWELL_THREAD_LINES = sizeof(struct dw_tree_thread) / DWELL_LINE_BYTES };

enum dw_tree_state {
	DWELL_THREAD_FREE,
	DWELL_THREAD_RUNNING,
	DWELL_THREAD_IN_CALL, /* in a system call that counts, since @last */
	DWELL_THREAD_ENDED,
	DWELL_THREAD_OFF, /* of the line of threads that are not measured: their trampolines do
			     nothing */
};

/* What a line is stands at one place in all. */
_Static_assert(offsetof(struct dw_tree_node, parent) == 56, "where marks stand");
/* Here too. */
_Static_assert(offsetof(struct dw_tree_os, mark) == 56, "where marks stand");
/* Here too. */
_Static_assert(offsetof(struct dw_tree_callee, mark) == 56, "where marks stand");
/* Here too. */
_Static_assert(offsetof(struct dw_tree_inner, mark) == 56, "where marks stand");
/* Here too. */
_Static_assert(offsetof(struct dw_tree_drawn, mark) == 56, "where marks stand");
/* Here too. */
_Static_assert(offsetof(struct dw_tree_cell, caller) == 56, "where marks stand");
/* Here too. */
_Static_assert(offsetof(struct dw_tree_extremes, mark) == 56, "where marks stand");
/* Here too. */
_Static_assert(offsetof(struct dw_tree_slow, mark) == 56, "where marks stand");
/* Here too. */
_Static_assert(offsetof(struct dw_tree_open, mark) == 56, "where marks stand");
/* Here too. */
_Static_assert(offsetof(struct dw_tree_counted, mark) == 56, "where marks stand");
/* Here too. */
_Static_assert(offsetof(struct dw_tree_pointers, mark) == 56, "where marks stand");
/* Here too. */
_Static_assert(offsetof(struct dw_tree_file, mark) == 56, "where marks stand");
/* Here too. */
_Static_assert(offsetof(struct dw_tree_name, mark) == 56, "where marks stand");
/* Here too. */
_Static_assert(offsetof(struct dw_tree_file_io, mark) == 56, "where marks stand");
_Static_assert(sizeof(struct dw_tree_node) == DWELL_LINE_BYTES, "one line");
_Static_assert(sizeof(struct dw_tree_os) == DWELL_LINE_BYTES, "one line");
_Static_assert(sizeof(struct dw_tree_cell) == DWELL_LINE_BYTES, "one line");
_Static_assert(sizeof(struct dw_tree_callee) == 2 * DWELL_LINE_BYTES, "two lines");
_Static_assert(sizeof(struct dw_tree_drawn) == 2 * DWELL_LINE_BYTES, "two lines");
_Static_assert(sizeof(struct dw_tree_inner) == 3 * DWELL_LINE_BYTES, "three lines");
_Static_assert(sizeof(struct dw_tree_extremes) == 2 * DWELL_LINE_BYTES, "two lines");
_Static_assert(sizeof(struct dw_tree_slow) == 2 * DWELL_LINE_BYTES, "two lines");
_Static_assert(sizeof(struct dw_tree_open) == 2 * DWELL_LINE_BYTES, "two lines");
_Static_assert(sizeof(struct dw_tree_counted) == DWELL_LINE_BYTES, "one line");
_Static_assert(sizeof(struct dw_tree_pointers) == DWELL_LINE_BYTES, "one line");
_Static_assert(sizeof(struct dw_tree_file) == DWELL_LINE_BYTES, "one line");
_Static_assert(sizeof(struct dw_tree_name) == DWELL_LINE_BYTES, "one line");
_Static_assert(sizeof(struct dw_tree_file_io) == DWELL_LINE_BYTES, "one line");
_Static_assert(sizeof(struct dw_tree_thread) == 5 * DWELL_LINE_BYTES, "five lines");
