/*
 * A place: one view as somebody looks at it, with its order and where in it they are.
 *
 * Its rows are made when it is first seen, from totals that all places share, and forgotten when
 * the filter changes. One thread.
 */
#pragma once

#include "base/buf.h"
#include "format/format.h"
#include "format/units.h"
#include "analysis/compute.h"
#include "view/unfold.h"
#include "view/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_line {
	size_t at; /* of its text */
	size_t indent;
};

/* Lines of text, and which of them are about rows of a view. */
struct dw_lines {
	struct dw_buf text;	       /* a NUL behind each line */
	DW_VEC(struct dw_line) rows;   /* in their order */
	struct dw_summary_marks marks; /* .at is a line */
	size_t width;		       /* that it was made for */
};

/* What tells a row from others of its view, also when the session was loaded anew: functions and
 * files have other ids then, and debug information may tell more of them. */
struct dw_row_about {
	enum dw_row_name name;
	enum dw_row_type type;
	uint64_t id;	/* of the process, thread, module or type; of a function its name */
	uint64_t entry; /* of the function, among those that are called alike */
	uint64_t file;
	uint32_t line, column;
	uint64_t place; /* address, or time */
};

struct dw_place {
	const struct dw_view_ops *ops;
	uint32_t function; /* that it is about, 0 = none */
	uint32_t root;	   /* function that a call tree begins at, 0 = the processes */
	enum dw_column sort;
	bool reverse;
	enum dw_column chosen[DWELL_COLUMNS_N]; /* what its table shows; none = the view's own */
	size_t cursor, top; /* rows: the chosen one, the first on the screen; of lines likewise */
	size_t scrolled;    /* columns of numbers that are out of sight on the left */
	enum dw_time_unit unit[DWELL_COLUMNS_N]; /* that fits all times seen so far, */
	size_t width[DWELL_COLUMNS_N];		 /* and the widest cells, */
	size_t seen_rows, seen_columns;		 /* on a screen of this size */
	bool is_open;
	struct dw_view view;
	struct dw_unfold tree;		 /* of a view with a tree */
	struct dw_lines lines;		 /* of a view with notes */
	DW_VEC(struct dw_row_about) was; /* remember.h: rows from the root to the cursor, */
	size_t was_cursor, was_top;	 /* which number it had, and the first one on the screen */
	bool is_kept;			 /* when it is opened again all is as it was, */
	DW_VEC(uint64_t) unfolded;	 /* and these paths of a tree are unfolded */
};

/* What places are made of. */
struct dw_place_sources {
	const struct dw_profile *profile;
	const struct dw_selection *selection;
	struct dw_source_text *source;
	struct dw_totals_store *totals;
	bool shows_all_code; /* nothing of the system's code is folded */
};

/* Whether the system's code can be folded in it, as in tables of reports. */
bool dw_place_may_fold(const struct dw_place *p, const struct dw_place_sources *s);

/* The totals that it is made of. */
struct dw_totals_wanted dw_place_wants(const struct dw_place *p, const struct dw_place_sources *s);

/* Make the rows of @p, unless they are there. 0, -EAGAIN while there are no totals that it can be
 * made of, or what views may fail with. */
int dw_place_open(struct dw_place *p, const struct dw_place_sources *s);

/* Forget the rows, keep the order. */
void dw_place_close(struct dw_place *p);

/* Forget the rows where they lack what is to be seen of them. */
void dw_place_renew(struct dw_place *p);

/* Whether its rows unfold. */
bool dw_place_is_tree(const struct dw_place *p);

/* Put its rows in another order, from the first one on. As dw_place_open(). */
int dw_place_sort(struct dw_place *p, enum dw_column column, bool reverse,
		  const struct dw_place_sources *s);

/* The column that decides the order. */
enum dw_column dw_place_sorted_by(const struct dw_place *p);

/* The row at the cursor, until @scratch changes. False: there is none. */
bool dw_place_row(const struct dw_place *p, struct dw_buf *scratch, struct dw_row *ret);

/* Make the lines of a view with notes, to fit @width columns. 0 or -ENOMEM. */
int dw_place_write_lines(struct dw_place *p, size_t width);

/* Line @i, borrowed. */
const char *dw_lines_get(const struct dw_lines *l, size_t i);

/* Take the text of @out, which is a buffer, apart into lines; those wider than @width are broken
 * between words. 0 or -ENOMEM. */
int dw_lines_set(struct dw_lines *l, struct dw_out *out, size_t width);

/* Free everything but @p itself. */
void dw_place_release(struct dw_place *p);

/* Free everything. */
void dw_lines_release(struct dw_lines *l);
