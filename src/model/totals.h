/*
 * Totals: what analysis makes of the samples, or of the calls, that pass a filter, ready for views
 * and for the session's SQL tables.
 *
 * Each row has an amount of every measure of the session (amounts.h). Inclusive
 * counts a sample or an interval once per row however often the row's subject is on its stack. Rows
 * without anything are absent, but for processes and threads, which are all there.
 *
 * With calls, functions and nodes also have root rows: a thread's time with no function on its
 * stack, threads of one lane and one name together.
 */
#pragma once

#include "base/vec.h"
#include "model/amounts.h"
#include "model/calls.h"
#include "model/wait.h"

#include <stdbool.h>
#include <stdint.h>

/* What rows are split by. What is not told apart is added up in one row. */
enum dw_by { DWELL_BY_NONE = 0, DWELL_BY_PROCESS, DWELL_BY_THREAD, DWELL_BY_COMMAND };

/* Threads whose rows are added up together: all, or those of one process, or of one command, or a
 * single one. Rows name theirs by its index in dw_totals.lanes; split by process that is the
 * process's id, by thread the thread's. */
struct dw_lane {
	uint32_t process; /* the only one of its processes that has anything, 0 = there are several
			   */
	uint32_t thread;  /* by thread: it, else 0 */
	uint32_t command; /* string, by command: what its processes are called, else 0 */
};

/* In a row, @amounts is the number of its row in dw_totals.amounts. */
struct dw_function_total {
	uint32_t lane;
	uint32_t function;
	uint32_t thread; /* DWELL_FUNCTION_ROOT: one of its threads, else 0 */
	uint32_t amounts;
	uint32_t extremes;    /* of single calls: index in dw_totals.extremes + 1, 0 = not known */
	uint32_t disabled_at; /* index in the profile's calls.disabled + 1, 0 = measured to the end
			       */
};

struct dw_module_total {
	uint32_t lane;
	uint32_t module; /* 0 = code in no known module, DWELL_MODULE_ROOT = in no function */
	uint32_t amounts;
	uint32_t extremes; /* as that of functions */
};

/* A node of the call tree by functions. Parents come before children, siblings are neighbours. Its
 * amounts are the row of dw_totals.node_amounts with its own index. */
struct dw_node_total {
	uint32_t parent; /* index of the parent in the array, UINT32_MAX for a lane's root node */
	uint32_t lane;
	uint32_t function; /* 0 in a lane's root node */
	uint32_t level;	   /* 0 = root */
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
	uint32_t lane;
	uint32_t caller; /* function id, 0 = none: the callee was outermost */
	uint32_t callee;
	uint32_t amounts;
};

/* A statement of a function. */
struct dw_line_total {
	uint32_t lane;
	uint32_t function;
	uint32_t file; /* string */
	uint32_t line;
	uint32_t column;
	uint32_t line_end;
	uint32_t column_end;
	uint32_t function_row; /* index of its function's total, if functions were asked for too;
				  UINT32_MAX = an inlined function, of which calls know nothing */
	bool is_site;	       /* of calls: where something was called, without a time of its own */
	uint32_t amounts;
};

/* An instruction: frames of one address that differ in being a return address or not are one row.
 */
struct dw_instruction_total {
	uint32_t lane;
	uint32_t frame; /* frame id, 0 = samples without a frame: gives module and svma, and through
			   locations the innermost function and line */
	uint32_t line_row; /* index of its statement's total, if lines were asked for too */
	uint32_t amounts;
};

struct dw_process_total {
	uint32_t process;
	uint32_t amounts;
};

struct dw_thread_total {
	uint32_t thread;
	uint32_t amounts;
};

/* One of the slowest activations. */
struct dw_slow_total {
	uint32_t slow; /* index in the profile's calls.slow */
	uint32_t process;
	uint32_t function;
	uint32_t amounts;
};

/* What was read from a file and written to it: all of it, or by one function, behind that. */
struct dw_file_total {
	uint32_t parent; /* index of the file's, UINT32_MAX = this is it */
	uint32_t lane;
	uint32_t file;	   /* string, 0 = files that had no room */
	uint32_t function; /* of a part: id, or DWELL_FUNCTION_ROOT, DWELL_FUNCTION_UNKNOWN */
	uint32_t thread;   /* DWELL_FUNCTION_ROOT: one of its threads, else 0 */
	struct dw_io_sums sums;
};

/* A type of objects; of a lane with several processes one of the types that are the same there. */
struct dw_type_total {
	uint32_t type; /* type id */
	uint32_t lane;
	uint32_t amounts;
};

/* The rows that matter most, by what decides. */
enum dw_hot_list {
	DWELL_HOT_WORK,		   /* of functions */
	DWELL_HOT_WAITS,	   /* likewise; none without waits */
	DWELL_HOT_TYPES_BYTES,	   /* of types */
	DWELL_HOT_TYPES_OBJECTS,   /* likewise */
	DWELL_HOT_TYPES_OLD_BYTES, /* likewise: collected in generation 2 */
	DWELL_HOT_LISTS,
};

enum { DWELL_HOT_MAX = 8 };

struct dw_hot_row {
	uint32_t row;	    /* index in dw_totals.functions, or .types */
	uint32_t processes; /* that have it */
};

/* The one with most first; for work alone also rows that have nothing of what decides. */
struct dw_hot_rows {
	unsigned n;
	struct dw_hot_row v[DWELL_HOT_MAX];
};

/* Waits of a kind, those that are left out, too. */
struct dw_wait_total {
	uint64_t ns;
	uint32_t threads;
	/* If asked for: the function where most of it is, the user's if it is known, and how much.
	 * 0 = none is known. */
	uint32_t function;
	uint64_t function_ns;
};

struct dw_totals {
	enum dw_measure main;	      /* by which rows are trimmed and left out: samples, elapsed
					 time, bytes */
	uint64_t all[DWELL_MEASURES]; /* what passed the filter: what shares are shares of */
	enum dw_by by;		      /* what rows are split by */
	DW_VEC(struct dw_lane) lanes;
	bool delimited_intervals; /* of calls: only probes end intervals, the classic rule */
	uint64_t from_ns, to_ns; /* of calls and allocations: the slices that were asked for; 0, 0 =
				    no range was */
	/* Of calls, if asked for: the heaviest module without probes, 0 = none, and the program's
	 * own time there. */
	uint32_t external_module;
	uint64_t external_ns;
	struct dw_amounts amounts;	/* of all rows but nodes */
	struct dw_amounts node_amounts; /* by node */
	DW_VEC(struct dw_extreme_values) extremes;
	uint64_t stacks_cut;
	uint32_t processes_seen;    /* processes that have samples */
	uint64_t branches_left_out; /* subtrees that are not among the nodes because nobody asked */
	uint64_t weight_left_out;   /* what these have together, of dw_totals_order() */
	DW_VEC(struct dw_function_total) functions;
	DW_VEC(struct dw_module_total) modules;
	DW_VEC(struct dw_node_total) nodes;
	DW_VEC(uint32_t) node_threads; /* of a node DWELL_FUNCTION_ROOT: one of its threads */
	DW_VEC(uint32_t) node_firsts;  /* of calls: rise with the first call, among siblings */
	/* The nodes are allocation paths: a root is a type, its id in place of the function's,
	 * and callers are below their callees. */
	bool nodes_by_type;
	DW_VEC(struct dw_edge_total) edges;
	DW_VEC(struct dw_line_total) lines;
	DW_VEC(struct dw_instruction_total) instructions;
	DW_VEC(struct dw_process_total) processes;
	DW_VEC(struct dw_thread_total) threads;
	DW_VEC(struct dw_slow_total) slow;
	uint32_t pathless_threads; /* that made calls which no path is known of: none of these is
				      among the slow ones */
	DW_VEC(struct dw_file_total) files;
	DW_VEC(struct dw_type_total) types;
	struct dw_hot_rows hot[DWELL_HOT_LISTS];
	struct dw_wait_total waits[DWELL_WAIT_KINDS]; /* by kind */
	struct dw_wait_total
		holders[DWELL_WAIT_KINDS]; /* of OTHERS_WAITED, by what they waited for */
	dw_wait_kinds waits_left_out;	   /* of these nothing is in the other rows */
	DW_VEC(uint32_t) gcs;		   /* indices in the profile's allocations.gcs */
};

/* Whether rows have @measure. */
static inline bool dw_totals_has(const struct dw_totals *t, enum dw_measure measure)
{
	return dw_amounts_has(&t->amounts, measure);
}

/* Whether these are totals of samples and of waits. */
static inline bool dw_totals_has_waits(const struct dw_totals *t)
{
	return t->main == DWELL_MEASURE_SAMPLES && dw_totals_has(t, DWELL_MEASURE_BLOCKED);
}

/* The main measure of the row with @amounts. Borrowed. */
static inline const struct dw_values *dw_totals_values(const struct dw_totals *t, uint32_t amounts)
{
	return dw_amounts_common(&t->amounts, amounts, t->main);
}

/* The measure of what the program did: of calls without waits that do not count, of samples of time
 * with waits that do. */
static inline enum dw_measure dw_totals_work(const struct dw_totals *t)
{
	return dw_totals_has(t, DWELL_MEASURE_WORK) ? DWELL_MEASURE_WORK : t->main;
}

/* That by which rows of the tables stand, which every row has. */
static inline enum dw_measure dw_totals_order(const struct dw_totals *t)
{
	return t->amounts.sample_ns ? DWELL_MEASURE_WORK : t->main;
}

/* By how much @node, an index, is before others. */
static inline struct dw_values dw_totals_node_weight(const struct dw_totals *t, size_t node)
{
	return *dw_amounts_common(&t->node_amounts, node, dw_totals_order(t));
}

/* How heavy @node, an index, is on the hot path. */
static inline uint64_t dw_totals_node_work(const struct dw_totals *t, size_t node)
{
	const struct dw_values *left_out =
		t->amounts.sample_ns ? NULL
				     : dw_amounts_pair(&t->node_amounts, node, DWELL_MEASURE_WORK);

	return dw_totals_node_weight(t, node).inclusive - (left_out ? left_out->inclusive : 0);
}

/* Rows stand lane by lane: the first one of @lane or a later one in @rows, a vector with .lane. */
#define dw_lane_first(rows, of)                                     \
	({                                                          \
		size_t low_ = 0, high_ = (rows)->n;                 \
                                                                    \
		while (low_ < high_) {                              \
			size_t middle_ = low_ + (high_ - low_) / 2; \
                                                                    \
			if ((rows)->v[middle_].lane < (of))         \
				low_ = middle_ + 1;                 \
			else                                        \
				high_ = middle_;                    \
		}                                                   \
		low_;                                               \
	})

/* What row @amounts of rows has. */
static inline struct dw_measured dw_totals_measured(const struct dw_totals *t, uint32_t amounts)
{
	return (struct dw_measured){.table = &t->amounts, .row = amounts};
}

/* Likewise of a function. */
struct dw_measured dw_totals_function_measured(const struct dw_totals *t,
					       const struct dw_function_total *f);

/* Likewise of a module. */
struct dw_measured dw_totals_module_measured(const struct dw_totals *t,
					     const struct dw_module_total *m);

/* Likewise of a line, which may be a call site. */
static inline struct dw_measured dw_totals_line_measured(const struct dw_totals *t,
							 const struct dw_line_total *l)
{
	return (struct dw_measured){.table = &t->amounts, .row = l->amounts, .is_site = l->is_site};
}

/* Likewise of an instruction, which is a call site in a session of calls. */
struct dw_measured dw_totals_instruction_measured(const struct dw_totals *t,
						  const struct dw_instruction_total *i);

/* Likewise of @node, an index. */
static inline struct dw_measured dw_totals_node_measured(const struct dw_totals *t, size_t node)
{
	return (struct dw_measured){.table = &t->node_amounts, .row = node};
}

/* Make @t, which is zero, totals of a profile that has @set, and samples of @sample_ns each as
 * dw_amounts_init() takes them. */
void dw_totals_init(struct dw_totals *t, dw_measures set, uint64_t sample_ns);

/* Free everything. */
void dw_totals_release(struct dw_totals *t);
