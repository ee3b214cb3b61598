/*
 * What cells have, divided among the paths that were drawn (wire/call-tree.h).
 *
 * Path samples come by time, so each stands for as much of the program's time as any other. But
 * what a cell has is known exactly: a cell that path samples find often enough is a stratum, whose
 * time is shared by the path samples that found it. Whether others are found is chance, so all
 * others of the same callee are one stratum or, where these are too few, all others of the thread:
 * the inclusive time of a path is what path samples tell, without bias, and no function has more in
 * paths than it has. What path samples stand for beyond that is time of no known path, below the
 * caller.
 *
 * Calls of a cell are shared as often as its paths were found; those of cells that were not found
 * hang below the paths to their caller. What the system did is known for each path. Where nothing
 * was sampled of a thread in a reading all is shared as before. What is left hangs below the
 * thread. One thread.
 */
#pragma once

#include "base/map.h"
#include "collect/calls/call-lines.h"

#include <stdint.h>

/* The program's time in some cells, and ticks that path samples found for them. Of a reading. */
struct dw_drawn_stratum {
	uint64_t application_ns, delimited_ns;
	double sampled;
};

/* A path. */
struct dw_drawn_path {
	uint32_t line, cell; /* lines */
	uint32_t function;   /* the path to what calls from its end: index + 1, itself but for
				statements; 0 = a thread's root */
	uint32_t next, next_caller; /* of the same cell, of the same function: index + 1 */
	uint32_t rest_node;	    /* for what calls from here have of no known path, 0 = none */
	/* Ticks that it was found for: of earlier readings, of this one; of this one, too, those
	 * for which no room was found beyond it. */
	double ticks, more, lost;
	double below, below_more;     /* likewise, it and all that goes on from it */
	struct dw_call_values values; /* of this reading: what the system did, as it says */
	struct dw_call_values given, rest;
};

/* The paths to a cell. */
struct dw_drawn_cell {
	uint32_t first;		 /* path, index + 1 */
	uint32_t caller, callee; /* index in functions */
	double ticks, more;	 /* of its paths */
	/* of this reading, if it was found: */
	bool is_apart; /* it is a stratum */
	struct dw_drawn_stratum own;
	double left_sampled; /* by paths that have no part yet of these: */
	uint64_t calls, overhead_ns;
};

/* The paths to a function. */
struct dw_drawn_function {
	uint32_t line;	/* of its struct dw_tree_callee */
	uint32_t first; /* path, index + 1 */
	/* of this reading: calls of it in cells that are no strata, and what paths have no part of
	 * yet if they are none either */
	bool is_apart;
	struct dw_drawn_stratum others, left_others;
	struct dw_call_values left;    /* what it calls has of no known path */
	uint64_t owed, owed_delimited; /* of the program's time there, that there was no time for */
};

/* A thread in this reading. */
struct dw_drawn_thread {
	uint64_t application_ns; /* of all cells */
	double n;		 /* path samples that found a path */
	struct dw_drawn_stratum others;
};

/* Zero-initialised. */
struct dw_drawn_reader {
	DW_VEC(struct dw_drawn_path) paths; /* as dw_call_lines.drawn */
	DW_VEC(struct dw_drawn_cell) cells;
	DW_VEC(struct dw_drawn_function) functions;
	DW_VEC(struct dw_drawn_thread) threads; /* as dw_call_lines.threads */
	struct dw_pairs cell_of, function_of;	/* line -> index + 1 */
	uint64_t n;				/* how often a path was found so far */
};

/* Take what the changed lines of @s tell. 0 or -ENOMEM. */
int dw_drawn_read(struct dw_drawn_reader *r, struct dw_call_lines *s,
		  const struct dw_region_clock *clock);

/* Divide @values, which the cell at @line has more. 0 or -ENOMEM. */
int dw_drawn_share(struct dw_drawn_reader *r, struct dw_call_lines *s, uint32_t line,
		   const struct dw_call_values *values);

/* Give what paths have got. What none has is its thread's (cells). 0 or -ENOMEM. */
int dw_drawn_give(struct dw_drawn_reader *r, struct dw_call_lines *s,
		  const struct dw_region_reading *now);

/* Free everything. */
void dw_drawn_release(struct dw_drawn_reader *r);
