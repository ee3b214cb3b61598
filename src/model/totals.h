/*
 * Totals: what analysis makes of the samples that pass a filter, ready for views and for the
 * session's SQL tables.
 *
 * Counts are samples. Inclusive counts a sample once per row however often the row's subject is on
 * its stack. Rows without any sample are absent, but for processes and threads, which are all
 * there.
 */
#pragma once

#include "base/vec.h"

#include <stdint.h>

struct dw_values {
	uint64_t inclusive;
	uint64_t exclusive;
};

struct dw_function_total {
	uint32_t process;
	uint32_t function;
	struct dw_values values;
};

struct dw_module_total {
	uint32_t process;
	uint32_t module; /* 0 = code in no known module */
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
	DWELL_FUNCTION_CUT = -1,     /* nodes, callers: frames that could not be read */
	DWELL_FUNCTION_UNKNOWN = -2, /* everywhere: a frame nothing is known of, or none at all */
};

/* How much of @callee's values came from calls by @caller. */
struct dw_edge_total {
	uint32_t process;
	uint32_t caller; /* function id, 0 = none: the callee was outermost */
	uint32_t callee;
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
	uint32_t function_row; /* index of its function's total, if functions were asked for too */
	struct dw_values values;
};

/* An instruction: frames of one address that differ in being a return address or not are one row.
 */
struct dw_instruction_total {
	uint32_t process;
	uint32_t frame; /* frame id, 0 = samples without a frame: gives module and svma, and through
			   locations the innermost function and line */
	uint32_t line_row; /* index of its statement's total, if lines were asked for too */
	struct dw_values values;
};

struct dw_process_total {
	uint32_t process;
	struct dw_values values;
};

struct dw_thread_total {
	uint32_t thread;
	struct dw_values values;
};

struct dw_totals {
	uint64_t samples; /* that passed the filter: the denominator of every percentage */
	uint64_t stacks_cut;
	uint32_t processes_seen;    /* processes that have samples */
	uint64_t branches_left_out; /* subtrees that are not among the nodes because nobody asked */
	DW_VEC(struct dw_function_total) functions;
	DW_VEC(struct dw_module_total) modules;
	DW_VEC(struct dw_node_total) nodes;
	DW_VEC(struct dw_edge_total) edges;
	DW_VEC(struct dw_line_total) lines;
	DW_VEC(struct dw_instruction_total) instructions;
	DW_VEC(struct dw_process_total) processes;
	DW_VEC(struct dw_thread_total) threads;
};

/* Free everything. */
void dw_totals_release(struct dw_totals *t);
