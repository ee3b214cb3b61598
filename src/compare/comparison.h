/*
 * A view of several sessions, run beside run: the rows that any of them has, and what each run has
 * in them.
 *
 * Sessions are added one after the other and can be released after that. Rows are joined by what
 * they are about (compare/names.h), in trees by the path of that. When all runs are there,
 * dw_comparison_finish() pairs what is called differently and decides which differences are real
 * (compare/verdict.h). One thread.
 */
#pragma once

#include "base/error.h"
#include "compare/names.h"
#include "compare/statistics.h"
#include "view/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DWELL_WANTED_MAX = 16,	 /* columns that somebody asks for, */
	DWELL_COMPARED_MAX = 24, /* and all of a comparison */
	DWELL_MAIN = 0,		 /* the one that rows are compared by, */
	DWELL_CALLS = 1,	 /* and how often it happened, if that was counted */
};

/* What is compared: a column of the view. */
struct dw_compared_column {
	enum dw_column column;
	bool is_count; /* exact, unless runs differ */
};

/* What a row does differently: bits. */
enum dw_happened {
	DWELL_HAS_APPEARED = 1,
	DWELL_HAS_GONE = 2,
	DWELL_MORE_CALLS = 4,
	DWELL_FEWER_CALLS = 8,
	DWELL_SLOWER = 16, /* each call, or all of it where calls are not counted */
	DWELL_FASTER = 32,
	DWELL_CALLS_VARY = 64,	/* from run to run */
	DWELL_AS_CALLERS = 128, /* its calls have changed as those of its callers */
	DWELL_IS_INLINED = 256, /* gone, and inlined now */
	DWELL_NO_LONGER_INLINED = 512,
};

#define DWELL_DIFFERENT                                                               \
	(DWELL_HAS_APPEARED | DWELL_HAS_GONE | DWELL_MORE_CALLS | DWELL_FEWER_CALLS | \
	 DWELL_SLOWER | DWELL_FASTER)

/* How far a difference can be trusted. */
enum dw_trust {
	DWELL_NOT_TESTED = 0, /* too little of all, or too few runs */
	DWELL_TESTED,
	DWELL_COUNTED, /* the same in all runs of a side: exact */
};

struct dw_verdict {
	enum dw_trust trust;
	float p; /* adjusted; 1 = not tested */
};

struct dw_compared_row {
	uint32_t parent; /* row, UINT32_MAX = a root */
	uint32_t name;	 /* of dw_comparison.names */
	uint32_t what; /* else: what tells rows of a name apart, a string of the names; 0 = nothing
			*/
	uint32_t line; /* lines: as the newer side has it */
	uint32_t level;
	uint16_t happened; /* enum dw_happened */
	uint8_t count;	   /* column that more or fewer calls are told of */
	uint8_t varying;   /* the first one whose counts differ from run to run */
	bool has[DWELL_SIDES];
	bool is_above;		       /* likewise: something below it is different */
	bool is_shown;		       /* a tree's: it or something below it is different */
	struct dw_verdict cost, calls; /* of the main column; of the count */
};

/* A run: a session. */
struct dw_compared_run {
	enum dw_side side;
	char *path;	   /* owned */
	uint32_t program;  /* what was run, a string of the names; 0 = not known */
	uint32_t recorded; /* what there is of it, "samples of time": likewise */
	uint64_t *values;  /* by row, then column */
	uint64_t *weights; /* likewise, the calls that averages are of; NULL = none is one */
	size_t rows;	   /* that it has values for */
	uint64_t all[DWELL_COMPARED_MAX]; /* what shares are shares of */
	uint64_t duration_ns;
	uint32_t processes, threads;
	double sample; /* what one stands for: ns, bytes of drawn objects, itself; 0 = all is seen
			*/
};

struct dw_compared_edge {
	uint32_t caller, callee;      /* names */
	uint64_t weight[DWELL_SIDES]; /* of the first run of each side: calls, else the main column
				       */
};

struct dw_comparison {
	const struct dw_view_ops *view;
	enum dw_method method;
	enum dw_column sort;			 /* asked for; DWELL_COLUMN_END = the view's own */
	bool all;				 /* rows that are no different are listed, too */
	double relevant_pct;			 /* smaller differences of time do not matter */
	enum dw_column wanted[DWELL_WANTED_MAX]; /* beside those of the view */
	size_t wanted_n;
	struct dw_compared_column columns[DWELL_COMPARED_MAX];
	size_t columns_n;  /* 0 = no session was added yet */
	size_t counts_n;   /* of them, from DWELL_CALLS on: those that say how often */
	bool has_averages; /* among the columns */
	bool is_estimated; /* counts are estimates, too: of a part of the objects */
	struct dw_names names;
	DW_VEC(struct dw_compared_row) rows; /* parents first */
	struct dw_pairs row_of;		     /* parent and name, what: id - 1 is the row */
	DW_VEC(struct dw_compared_run) runs;
	size_t runs_n[DWELL_SIDES];
	struct dw_pairs edge_of;	       /* caller, callee: names */
	DW_VEC(struct dw_compared_edge) edges; /* at the end in the order of callees */
	size_t tests;			       /* rows that are large enough to be tested */
	size_t runs_wanted;		       /* a side, for so many */
	size_t outside;			       /* dw_shift_outside() of the runs */
	DW_VEC(uint32_t)
	order; /* rows to show, those that matter most first; of a tree in its
		  order */
};

/* A session to be added. */
struct dw_compared_session {
	const char *path;
	enum dw_side side;
	const struct dw_profile *profile;
	const struct dw_totals *totals; /* with dw_comparison_parts() */
	const struct dw_filter *filter;
	uint32_t function; /* of the view, 0 = none */
};

/* Also compare @column, which sessions must have, beside those of the view; DWELL_WANTED_MAX times
 * at most, before the first session. */
void dw_comparison_want(struct dw_comparison *c, enum dw_column column);

/* The parts of totals that are read of @p. */
unsigned dw_comparison_parts(const struct dw_comparison *c, const struct dw_profile *p);

/*
 * Add a session. 0, -ENOMEM, or with a line in @err: DWELL_ERR_REFUSED (of another method or event
 * than the first one, or without what is compared), DWELL_ERR_LIMIT (too many runs of its side).
 */
int dw_comparison_add(struct dw_comparison *c, const struct dw_compared_session *session,
		      struct dw_error *err);

/* Add what @edge has to the one of its caller and callee. 0 or -ENOMEM. */
int dw_comparison_add_edge(struct dw_comparison *c, const struct dw_compared_edge *edge);

/* The row of @key, added when new. UINT32_MAX = no memory. */
uint32_t dw_comparison_add_row(struct dw_comparison *c, const struct dw_compared_row *key);

/*
 * All sessions were added: pair names, decide, put in order. 0, -ENOMEM, or with a line in @err:
 * DWELL_ERR_REFUSED (the sides have nothing in common, or one has nothing at all).
 */
int dw_comparison_finish(struct dw_comparison *c, struct dw_error *err);

/* What @run has of @column (an index) in @row. */
static inline uint64_t dw_comparison_value(const struct dw_comparison *c,
					   const struct dw_compared_run *run, size_t row,
					   size_t column)
{
	return row < run->rows ? run->values[row * c->columns_n + column] : 0;
}

/* Whether calls, or else objects, are compared (DWELL_CALLS), and the main column is what these
 * cost. What is done to files has several counts, and they are not what its time is made of. */
static inline bool dw_comparison_has_calls(const struct dw_comparison *c)
{
	return c->counts_n == 1;
}

/* What is told of @row by its name: text, "" for none. Borrowed. */
const char *dw_comparison_text(const struct dw_comparison *c, size_t row);

/* Likewise the module's name, without a folder. */
const char *dw_comparison_module(const struct dw_comparison *c, size_t row);

/* What the base calls @row where the newer side calls it differently, else NULL. */
const struct dw_compared_name *dw_comparison_other(const struct dw_comparison *c, size_t row);

/* Append the names of the callers of @row to @ret, outermost first, "main > load": of the path on
 * which its calls, or its main column, have changed most. Nothing if none are known. */
void dw_comparison_path(const struct dw_comparison *c, size_t row, struct dw_buf *ret);

/* Free everything. */
void dw_comparison_release(struct dw_comparison *c);
