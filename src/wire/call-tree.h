/*
 * Call trees: what the probes of instrumented programs measure, in the region.
 *
 * All threads of a process share one arena of 64-byte lines, mapped contiguously in the target and
 * made of the region's chunks of kind DWELL_CHUNK_ARENA in their order. A line is named by its
 * index in the arena; line 0 is never used. Each thread has a struct dw_tree_thread and nodes of
 * its own: one writer each, plain stores. A node's parent has a smaller index than the node. Ticks
 * are those of the TSC; the collector knows its rate.
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
 * (agent/core/tree.h); so what is counted once per path stays exact.
 *
 * When the arena is full, nodes that would be new give way: the activation goes to an overflow node
 * (keyed by caller, callee, site and whether it is the outermost of its function, module, edge and
 * site), which has inclusive values of its own, and its time also to the `truncated` child of the
 * last node on the path that the tree has, so that sums over the tree stay right.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
	DWELL_LINE_BYTES = 64,
	DWELL_TREE_WAYS = 4, /* children that a node remembers for the gates */
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
#define DWELL_KEY_ADDRESS   (1ull << 63)
#define DWELL_KEY_LINE	    (1ull << 62)
#define DWELL_KEY_ROOT	    0xfffffff0ull /* a thread before its first function and between them */
#define DWELL_KEY_TRUNCATED 0xfffffff1ull

/* Whether @key names a statement. */
static inline int dw_key_is_line(uint64_t key)
{
	return key >> 62 == 1;
}

/* In the last 8 bytes of lines that are no nodes: no node has a parent of this number. */
#define DWELL_MARK_OS	    0xffffffffull
#define DWELL_MARK_OVERFLOW 0xfffffffeull /* this line and the next */
#define DWELL_MARK_EACH	    0xfffffffdull /* likewise */
#define DWELL_MARK_SLOW	    0xfffffffcull /* likewise */
#define DWELL_MARK_OPEN	    0xfffffffbull /* likewise */

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
	uint16_t tags[DWELL_TREE_WAYS]; /* the gates' own, as the next: meaningless to others */
	uint32_t children[DWELL_TREE_WAYS];
	uint32_t parent; /* line */
	uint32_t os;	 /* line of its struct dw_tree_os, 0 = no OS event yet; UINT32_MAX = this
			    node is a mark of the gates and no activation */
};

/* What the operating system did in a node's intervals; one line. */
struct dw_tree_os {
	uint64_t ticks;	      /* of the node's elapsed: OS intervals. Application = the rest */
	uint64_t probe_ticks; /* of whole probe-to-probe intervals that had an OS event (the classic
				 rule) */
	uint64_t cpu_ticks;   /* of @ticks on the processor: inside system calls */
	uint64_t blocked_ticks; /* of @ticks off the processor */
	uint32_t switches;
	uint32_t io_calls;
	uint64_t blocking_calls;
	uint64_t unused;
	uint64_t mark; /* DWELL_MARK_OS */
};

/* Beyond the tree; two lines. Values of activations that no node had room for. */
struct dw_tree_overflow {
	uint64_t elapsed; /* as a node's */
	uint64_t calls;
	uint64_t key;
	uint32_t site;
	uint32_t overhead;  /* as a node's */
	uint64_t caller;    /* key */
	uint32_t thread;    /* line of its struct dw_tree_thread */
	uint32_t outermost; /* enum dw_tree_outermost bits */
	uint32_t active;    /* the agent's own */
	uint32_t os;
	uint64_t mark;	       /* DWELL_MARK_OVERFLOW */
	uint64_t inclusive_os; /* of ended activations: as struct dw_tree_os, as the next */
	uint64_t inclusive_probe;
	uint64_t inclusive_cpu;
	uint64_t inclusive_blocked;
	uint64_t inclusive_calls; /* calls below, for probe overhead */
	uint32_t inclusive_switches, inclusive_io, inclusive_blocking;
	uint32_t inclusive_overhead; /* as @overhead */
	uint64_t inclusive;	     /* ticks, of ended activations */
};

/* Ticks; least > most: none yet. */
struct dw_tree_range {
	uint64_t least, most;
};

/* What is known of how late the work was done that stood before readings of the clock. */
struct dw_tree_late {
	uint64_t n;	/* readings that were looked at, one in some thousand */
	uint64_t ticks; /* after them, until it was done */
};

/* Readings where an activation begins, and where it ends. */
enum { DWELL_LATE_BEGIN, DWELL_LATE_END, DWELL_LATES };

/*
 * What the ended activations of one callee in one thread were like, each for itself; two lines.
 * Ticks without the cost of probes, which is taken off as a mean, so that the shortest calls may
 * have none left; what a reader makes of sums can lie outside by as much. Inclusive: of outermost
 * activations. Callees called through pointers (DWELL_KEY_ADDRESS) have none of these.
 */
struct dw_tree_each {
	struct dw_tree_range elapsed_inclusive, elapsed_exclusive;
	uint64_t key;	 /* of the callee */
	uint32_t thread; /* line of its struct dw_tree_thread */
	uint32_t unused;
	uint64_t unused_more;
	uint64_t mark; /* DWELL_MARK_EACH */
	struct dw_tree_range application_inclusive, application_exclusive;
	struct dw_tree_late late[DWELL_LATES];
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
	uint64_t below;	 /* of @elapsed: in its callees */
	uint64_t cost;	 /* what else lay between its start and its end: probes, other stacks */
	uint32_t node;	 /* line; 0 = beyond the tree */
	uint32_t each;	 /* line of its callee's struct dw_tree_each */
	uint64_t own_os; /* exclusive: of elapsed - below, OS intervals */
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
	uint32_t node;		      /* line; 0 = beyond the tree */
	uint32_t index;		      /* on its stack; 0 = the line is not in use */
	uint32_t below;		      /* index of the activation that it was called by, 0 = none */
	uint32_t is_kept : 1;	      /* the slowest of its callee are kept */
	uint32_t has_sums : 1;	      /* what follows is not 0; the agent's own */
	uint64_t own_os, own_blocked; /* of callees, too, what follows on the other line */
	uint64_t mark;		      /* DWELL_MARK_OPEN */
	uint64_t os[DWELL_OS_KINDS], cpu_ticks, blocked_ticks; /* as in struct dw_tree_slow */
	uint32_t switches, io_calls, blocking_calls, unused[3];
};

enum {
	DWELL_OPEN_BLOCK = 32, /* of struct dw_tree_open that stand in a row */
	DWELL_OPEN_BLOCKS = 4, /* of a thread */
	DWELL_OPEN_MAX = DWELL_OPEN_BLOCK * DWELL_OPEN_BLOCKS,
};

enum dw_tree_outermost {
	DWELL_OUTERMOST_FUNCTION = 1,
	DWELL_OUTERMOST_MODULE = 2,
	DWELL_OUTERMOST_EDGE = 4,
	DWELL_OUTERMOST_SITE = 8,
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
	DWELL_PROBE_BACK,
	DWELL_PROBE_LINE,
	DWELL_PROBE_KINDS
};

/* What kind of callee a pair of probes is for. */
enum dw_pair_kind {
	DWELL_PAIR_FUNCTION, /* ENTER, LEAVE */
	DWELL_PAIR_OUTSIDE,  /* OUT, BACK */
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
	uint32_t state; /* enum dw_tree_state */
	void *quick;	/* the gates' table of children beyond those that a node remembers */
	void *limit;	/* of the shadow stack */
	uint64_t arena; /* address of line 0 */
	/* hot too */
	uint32_t quick_mask; /* offsets in @quick */
	uint32_t window;     /* bytes: farther below the top a stack pointer goes slow */
	uint64_t cost;	     /* ticks so far that were not the program's: agent/core/each.h */
	void *bounds;	     /* what the gates expect of each callee, by key */
	uint64_t bounds_mask;
	/* Of a pair of probes, by enum dw_pair_kind, ticks: all; that which its callee is charged
	 * with. Can be negative. */
	uint64_t pair_ticks[DWELL_PAIR_KINDS], callee_ticks[DWELL_PAIR_KINDS];
	/* cold */
	int32_t tid;	       /* as the target sees it */
	uint32_t root;	       /* line */
	uint64_t start, end;   /* TSC of its first event; of its last once it is known to have
				  ended, else 0 */
	uint64_t start_cpu_ns; /* its CPU clock at the first event */
	uint64_t cpu_ns;       /* and when it was last read: at switches and at the end */
	uint32_t os_source;    /* enum dw_os_source */
	uint32_t nodes;
	uint64_t slow_ticks;	   /* all time in slow paths */
	uint32_t each_lost;	   /* callees without room for their struct dw_tree_each */
	uint32_t line_ticks;	   /* of a statement's probe */
	uint64_t lookups, repairs; /* slow paths taken, for people who tune */
	uint32_t stacks;	   /* shadow stacks made */
	uint32_t mutes;		   /* serial of struct dw_region_mutes that its stacks agree with */
	uint64_t depth_lost;	   /* activations that went to overflow nodes */
	uint64_t cpu_at;     /* TSC of the reading in @cpu_ns; with an @os_source the thread has run
				from there to @last */
	uint64_t slow_since; /* TSC at which a slow path began that goes on, else 0: whose the time
				since @last is, is not known */
	/* The gates' own: a reading of the clock that is looked at closely, 0 = none, and the TSC
	 * when all that stands before it was done. */
	uint64_t read, done;
	/* In DWELL_THREAD_IN_CALL: enum dw_call_kind, and the innermost activation that is open;
	 * that of index i is entry i % DWELL_OPEN_MAX of the blocks at lines @open, if it is there.
	 */
	uint32_t call, open_top;
	uint32_t open[DWELL_OPEN_BLOCKS];
	uint64_t end_cpu_ns; /* its CPU clock at the end of the process, 0 = not read */
	uint64_t unused[4];
};

enum { DWELL_THREAD_LINES = sizeof(struct dw_tree_thread) / DWELL_LINE_BYTES };

enum dw_tree_state {
	DWELL_THREAD_FREE,
	DWELL_THREAD_RUNNING,
	DWELL_THREAD_IN_CALL, /* in a system call that counts, since @last */
	DWELL_THREAD_ENDED,
	DWELL_THREAD_OFF, /* of the line of threads that are not measured: their gates do nothing */
};

/* What a line is stands at one place in all. */
_Static_assert(offsetof(struct dw_tree_node, parent) == 56, "where marks stand");
/* Here too. */
_Static_assert(offsetof(struct dw_tree_os, mark) == 56, "where marks stand");
/* Here too. */
_Static_assert(offsetof(struct dw_tree_overflow, mark) == 56, "where marks stand");
/* Here too. */
_Static_assert(offsetof(struct dw_tree_each, mark) == 56, "where marks stand");
/* Here too. */
_Static_assert(offsetof(struct dw_tree_slow, mark) == 56, "where marks stand");
/* Here too. */
_Static_assert(offsetof(struct dw_tree_open, mark) == 56, "where marks stand");
_Static_assert(sizeof(struct dw_tree_node) == DWELL_LINE_BYTES, "one line");
_Static_assert(sizeof(struct dw_tree_os) == DWELL_LINE_BYTES, "one line");
_Static_assert(sizeof(struct dw_tree_overflow) == 2 * DWELL_LINE_BYTES, "two lines");
_Static_assert(sizeof(struct dw_tree_each) == 2 * DWELL_LINE_BYTES, "two lines");
_Static_assert(sizeof(struct dw_tree_slow) == 2 * DWELL_LINE_BYTES, "two lines");
_Static_assert(sizeof(struct dw_tree_open) == 2 * DWELL_LINE_BYTES, "two lines");
_Static_assert(sizeof(struct dw_tree_thread) == 5 * DWELL_LINE_BYTES, "five lines");
