/*
 * What cells have, divided among the paths that were drawn (wire/call-tree.h).
 *
 * What the program did in a cell since the last reading is shared by the paths to it that were
 * found since then, in proportion to how often; where none was, by all that were found before. What
 * the system did is known for each path. What is left hangs below the paths to the caller, as time
 * of no known path, or below the thread where none of these is known. One thread.
 */
#pragma once

#include "base/pairs.h"
#include "collect/region/call-lines.h"

#include <stdint.h>

/* A path. */
struct dw_drawn_path {
	uint32_t line, cell;	      /* lines */
	uint32_t next, next_caller;   /* of the same cell, of the same function: index + 1 */
	uint32_t rest_node;	      /* for what calls from here have of no known path, 0 = none */
	double ticks;		      /* that it was found for, of all readings */
	double more;		      /* and of this one */
	double below;		      /* that it and those below it were found for */
	struct dw_call_values values; /* of this reading, as the next */
	struct dw_call_values rest;
};

/* The paths to a cell. */
struct dw_drawn_cell {
	uint32_t first; /* path, index + 1 */
	double ticks, more;
};

/* The paths to a function, and what its calls have of no known path. */
struct dw_drawn_caller {
	uint32_t line;		    /* of its struct dw_tree_callee */
	uint32_t first;		    /* path, index + 1 */
	struct dw_call_values left; /* of this reading */
	uint64_t owed, owed_whole;  /* of the program's time, that there was no time for */
};

/* Zero-initialised. */
struct dw_drawn_reader {
	DW_VEC(struct dw_drawn_path) paths; /* as dw_call_lines.drawn */
	DW_VEC(struct dw_drawn_cell) cells;
	DW_VEC(struct dw_drawn_caller) callers;
	struct dw_pairs cell_of, caller_of; /* line -> index + 1 */
	uint64_t n;			    /* how often a path was found so far */
};

/* Take what the changed lines of @s tell. 0 or -ENOMEM. */
int dw_drawn_read(struct dw_drawn_reader *r, struct dw_call_lines *s,
		  const struct dw_region_clock *clock);

/* Divide @values, which the cell at @line has more. 0 or -ENOMEM. */
int dw_drawn_share(struct dw_drawn_reader *r, const struct dw_call_lines *s, uint32_t line,
		   const struct dw_call_values *values);

/* Give what paths have got. What none has is its thread's (cells). 0 or -ENOMEM. */
int dw_drawn_give(struct dw_drawn_reader *r, struct dw_call_lines *s,
		  const struct dw_region_reading *now);

/* Free everything. */
void dw_drawn_release(struct dw_drawn_reader *r);
