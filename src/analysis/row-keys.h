/*
 * Row keys: what each frame stands for (its functions, innermost first, and their statements), as
 * dense ids that totals can be counted by.
 *
 * Built once per computation from the locations of a profile; ids are checked here, so that the
 * walks over stacks need not. Read-only afterwards.
 */
#pragma once

#include "analysis/totals.h"
#include "model/profile.h"
#include "model/totals.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_row_keys {
	uint32_t frames_n;  /* frame ids are below this */
	uint32_t *first;    /* slots of a frame: first[frame] .. first[frame + 1]; at least one */
	uint32_t *function; /* by slot: function id, 0 = unknown, or dw_row_keys_cut() */
	uint32_t *line;	    /* by slot: index into lines; NULL unless asked for */
	uint32_t *module;   /* by frame: module id, 0 = in no known module */
	uint32_t *instruction; /* by frame: the frame that stands for its instruction */
	uint32_t functions_n;  /* function ids are below this */
	uint32_t modules_n;    /* module ids are below this */
	DW_VEC(struct dw_line_total) lines; /* 0 = the statement of what is unknown */
	bool splits_lines;
	struct dw_idset line_set;
	/* Of calls (calls.h): a thread of each root row, whose ids are behind all others. */
	DW_VEC(uint32_t) roots;
};

/* What is a row of lines. */
enum dw_line_keys {
	DWELL_LINE_KEYS_NONE, /* nobody asks for lines */
	DWELL_LINE_KEYS_LINE, /* a line of a function, whatever stands in it */
	DWELL_LINE_KEYS_STATEMENT,
};

/* Which rows of lines a filter asks for, if @parts (enum dw_totals_part) has lines. */
static inline enum dw_line_keys dw_row_keys_lines(unsigned parts, const struct dw_filter *filter)
{
	if (!(parts & DWELL_TOTALS_LINES))
		return DWELL_LINE_KEYS_NONE;
	return filter->splits_lines ? DWELL_LINE_KEYS_STATEMENT : DWELL_LINE_KEYS_LINE;
}

/* Build from @p, lines as @lines says. 0 or -ENOMEM, to be released in either case. */
int dw_row_keys_init(struct dw_row_keys *s, const struct dw_profile *p, enum dw_line_keys lines);

/* Free everything. */
void dw_row_keys_release(struct dw_row_keys *s);

/* What functions_n stands for: frames that could not be read. */
static inline uint32_t dw_row_keys_cut(const struct dw_row_keys *s)
{
	return s->functions_n;
}

/* The first id behind that: of callers none, of callees a thread outside its functions. */
static inline uint32_t dw_row_keys_none(const struct dw_row_keys *s)
{
	return s->functions_n + 1;
}

/* Behind root rows: callees that the target had no memory for. */
static inline uint32_t dw_row_keys_truncated(const struct dw_row_keys *s)
{
	return dw_row_keys_none(s) + (uint32_t)s->roots.n;
}

/* What rows give for @function, of a root row with its thread, else 0 there. */
static inline uint32_t dw_row_keys_function(const struct dw_row_keys *s, uint32_t function,
					    uint32_t *thread)
{
	*thread = 0;
	if (function < dw_row_keys_cut(s))
		return function ? function : (uint32_t)DWELL_FUNCTION_UNKNOWN;
	if (function == dw_row_keys_cut(s))
		return (uint32_t)DWELL_FUNCTION_CUT;
	if (function == dw_row_keys_truncated(s))
		return (uint32_t)DWELL_FUNCTION_TRUNCATED;
	*thread = s->roots.v[function - dw_row_keys_none(s)];
	return (uint32_t)DWELL_FUNCTION_ROOT;
}
