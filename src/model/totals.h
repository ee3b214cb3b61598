/*
 * Totals: what analysis makes of the samples, or of the calls, that pass a filter, ready for views
 * and for the session's SQL tables.
 *
 * Counts are samples; of a session with calls, nanoseconds; with allocations, bytes. Inclusive
 * counts a sample or an interval once per row however often the row's subject is on its stack. Rows
 * without anything are absent, but for processes and threads, which are all there.
 *
 * With calls, functions and nodes also have root rows: a thread's time with no function on its
 * stack, threads of one process and one start routine together.
 */
#pragma once

#include "base/vec.h"
#include "model/allocations.h"
#include "model/calls.h"

#include <stdbool.h>
#include <stdint.h>

/* What a row is sorted, trimmed and followed by: samples, of calls elapsed nanoseconds, of
 * allocations bytes. */
struct dw_values {
	uint64_t inclusive;
	uint64_t exclusive;
};

/*
 * All of what instrumentation says of a row. The rows' member `amounts` is an index into each of
 * dw_totals.calls, .allocs and .blocked that is not empty.
 */
struct dw_call_total {
	struct dw_call_values inclusive, exclusive; /* calls: the same in both */
	uint64_t outer_calls; /* outermost activations, by which inclusive averages divide */
	uint64_t counted;     /* of the calls: those of what was switched off, of unknown time */
	uint32_t ranges;      /* of functions and modules: index in dw_totals.ranges + 1, 0 = not
				 known */
	uint32_t mute;	/* of functions: index in the profile's calls.mutes + 1, 0 = measured to
			   the end */
	uint32_t flags; /* enum dw_call_total_flag */
};

/* All of what the memory method says of a row: what died and what lives is of the inclusive part.
 */
struct dw_alloc_total {
	struct dw_alloc_values inclusive;
	struct dw_alloc_count exclusive;
};

enum dw_call_total_flag {
	DWELL_CALLS_NO_EXCLUSIVE = 1, /* call sites: nobody measured what is theirs alone */
};

struct dw_function_total {
	uint32_t process;
	uint32_t function;
	uint32_t thread;  /* DWELL_FUNCTION_ROOT: one of its threads, else 0 */
	uint32_t amounts; /* index of its amounts */
	struct dw_values values;
};

struct dw_module_total {
	uint32_t process;
	uint32_t module;  /* 0 = code in no known module, DWELL_MODULE_ROOT = in no function */
	uint32_t amounts; /* index of its amounts */
	struct dw_values values;
};

/* A node of the call tree by functions. Parents come before children, siblings are neighbours. */
struct dw_node_total {
	uint32_t
		parent; /* index of the parent in the array, UINT32_MAX for a process's root node */
	uint32_t process;
	uint32_t function; /* 0 in a process's root node */
	uint32_t level;	   /* 0 = root */
	struct dw_values values;
};

/* In place of a function id, as uint32_t. */
enum {
	DWELL_FUNCTION_CUT = -1,       /* nodes, callers: frames that could not be read */
	DWELL_FUNCTION_UNKNOWN = -2,   /* everywhere: a frame nothing is known of, or none at all */
	DWELL_FUNCTION_ROOT = -3,      /* functions, nodes: a thread outside its functions */
	DWELL_FUNCTION_TRUNCATED = -4, /* nodes: callees that the target had no memory for */
	DWELL_MODULE_ROOT = -1,	       /* in place of a module id */
};

/* How much of @callee's values came from calls by @caller. */
struct dw_edge_total {
	uint32_t process;
	uint32_t caller; /* function id, 0 = none: the callee was outermost */
	uint32_t callee;
	uint32_t amounts; /* index of its amounts */
	struct dw_values values;
};

/* A statement of a function. */
struct dw_line_total {
	uint32_t process;
	uint32_t function;
	uint32_t file; /* string */
	uint32_t line;
	uint32_t column;
	uint32_t line_end;
	uint32_t column_end;
	uint32_t function_row; /* index of its function's total, if functions were asked for too;
				  UINT32_MAX = an inlined function, of which calls know nothing */
	uint32_t amounts;      /* index of its amounts */
	struct dw_values values;
};

/* An instruction: frames of one address that differ in being a return address or not are one row.
 */
struct dw_instruction_total {
	uint32_t process;
	uint32_t frame; /* frame id, 0 = samples without a frame: gives module and svma, and through
			   locations the innermost function and line */
	uint32_t line_row; /* index of its statement's total, if lines were asked for too */
	uint32_t amounts;  /* index of its amounts */
	struct dw_values values;
};

struct dw_process_total {
	uint32_t process;
	uint32_t amounts; /* index of its amounts */
	struct dw_values values;
};

struct dw_thread_total {
	uint32_t thread;
	uint32_t amounts; /* index of its amounts */
	struct dw_values values;
};

/* One of the slowest activations. */
struct dw_slow_total {
	uint32_t slow; /* index in the profile's calls.slow */
	uint32_t process;
	uint32_t function;
	uint32_t amounts; /* index of its amounts */
	struct dw_values values;
};

/* A type of objects. */
struct dw_type_total {
	uint32_t type; /* type id */
	uint32_t process;
	uint32_t amounts; /* index of its amounts */
	struct dw_values values;
};

struct dw_totals {
	uint64_t samples; /* that passed the filter: the denominator of every percentage; with calls
			     the elapsed inclusive time, with allocations the bytes */
	struct dw_call_total all;	   /* of calls: everything that passed the filter */
	struct dw_alloc_values all_allocs; /* of allocations: likewise */
	bool whole_intervals;	 /* of calls: only probes end intervals, the classic rule */
	uint64_t from_ns, to_ns; /* of calls and allocations: the slices that were asked for; 0, 0 =
				    no range was */
	bool has_calls;		 /* these are totals of calls */
	/* Of calls, if asked for: the heaviest module without probes, 0 = none, and the program's
	 * own time there. */
	uint32_t outside_module;
	uint64_t outside_ns;
	bool has_blocked;    /* of samples: waits were recorded, too */
	uint64_t blocked_ns; /* of all waits that passed the filter */
	/* By the rows' member amounts; empty = nothing was measured of the kind. */
	DW_VEC(struct dw_call_total) calls;
	DW_VEC(struct dw_alloc_total) allocs;
	DW_VEC(struct dw_values) blocked; /* ns */
	DW_VEC(struct dw_call_ranges) ranges;
	uint64_t stacks_cut;
	uint32_t processes_seen;    /* processes that have samples */
	uint64_t branches_left_out; /* subtrees that are not among the nodes because nobody asked */
	DW_VEC(struct dw_function_total) functions;
	DW_VEC(struct dw_module_total) modules;
	DW_VEC(struct dw_node_total) nodes;
	/* Of calls, by node: dw_totals_node() puts them together. */
	struct dw_call_store node_inclusive, node_exclusive;
	DW_VEC(uint32_t) node_threads; /* of a node DWELL_FUNCTION_ROOT: one of its threads */
	DW_VEC(uint32_t) node_firsts;  /* of calls: rise with the first call, among siblings */
	DW_VEC(struct dw_alloc_total) node_allocs; /* of allocations: by node */
	DW_VEC(struct dw_values) node_blocked;	   /* ns, by node; empty = others */
	/* The nodes are the ways to allocate: a root is a type, its id in place of the function's,
	 * and callers are below their callees. */
	bool nodes_by_type;
	DW_VEC(struct dw_edge_total) edges;
	DW_VEC(struct dw_line_total) lines;
	DW_VEC(struct dw_instruction_total) instructions;
	DW_VEC(struct dw_process_total) processes;
	DW_VEC(struct dw_thread_total) threads;
	DW_VEC(struct dw_slow_total) slow;
	DW_VEC(struct dw_type_total) types;
	DW_VEC(uint32_t) gcs; /* indices in the profile's allocations.gcs */
};

/* Calls of @total by which exclusive averages divide. */
static inline uint64_t dw_totals_measured(const struct dw_call_total *total)
{
	uint64_t calls = total->exclusive.calls;

	return calls > total->counted ? calls - total->counted : 0;
}

/* All of what instrumentation says of @node, an index. */
static inline struct dw_call_total dw_totals_node(const struct dw_totals *t, size_t node)
{
	struct dw_call_total total = {
		.inclusive = dw_call_store_get(&t->node_inclusive, node),
		.exclusive = dw_call_store_get(&t->node_exclusive, node),
	};

	total.inclusive.calls = total.outer_calls = total.exclusive.calls;
	return total;
}

/* Whether rows stand in the order of their waits: who asked for those looks for the longest, unless
 * nobody waited. */
static inline bool dw_totals_go_by_waits(const struct dw_totals *t)
{
	return t->has_blocked && t->blocked_ns;
}

/* By how much @node, an index, is before others. */
static inline struct dw_values dw_totals_node_weight(const struct dw_totals *t, size_t node)
{
	return dw_totals_go_by_waits(t) && t->node_blocked.n ? t->node_blocked.v[node]
							     : t->nodes.v[node].values;
}

/* What is known of @total's single activations, borrowed, NULL = nothing. */
static inline const struct dw_call_ranges *dw_totals_ranges(const struct dw_totals *t,
							    const struct dw_call_total *total)
{
	return total->ranges ? &t->ranges.v[total->ranges - 1] : NULL;
}

/* Free everything. */
void dw_totals_release(struct dw_totals *t);
