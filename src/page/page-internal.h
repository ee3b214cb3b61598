/*
 * What the parts of the engine share: views that are open, and writing rows.
 */
#pragma once

#include "analysis/compute.h"
#include "analysis/selection.h"
#include "analysis/timeline.h"
#include "format/format.h"
#include "page/page.h"
#include "page/request.h"
#include "view/source-text.h"
#include "view/unfold.h"
#include "view/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All that decides which rows a view has, and their order. */
struct dw_page_key {
	const struct dw_view_ops *ops;
	struct dw_selection *selection; /* a reference in views that are open */
	struct dw_totals_wanted totals;
	uint32_t function;
	enum dw_column sort;
	bool reverse;
	bool unfolding;	    /* a tree of which nodes are asked for one by one */
	bool by_first_call; /* likewise, siblings by their first call */
	bool intel;
	bool inverted; /* of a call tree */
	bool source;   /* with the text of lines, also of those between */
};

/* Longest times, by column. */
struct dw_page_most {
	bool is_there[DWELL_COLUMNS_N];
	uint64_t ns[DWELL_COLUMNS_N];
};

/* A view that is open. */
struct dw_page_view {
	struct dw_page_key key;
	struct dw_view view;
	struct dw_totals inverted; /* if key.inverted: what the view shows */
	struct dw_unfold tree;	   /* if key.unfolding */
	char *search;		   /* NULL = nothing was searched for */
	DW_VEC(uint32_t) found;	   /* rows in which it stands */
	struct dw_page_most most;
	uint64_t used; /* when, by page.clock */
};

struct dw_page {
	struct dw_page_source source;
	struct dw_profile profile;
	enum dw_recording_state state;
	bool has_told_instructions;
	uint64_t loaded_from_ns, loaded_to_ns; /* of calls and objects */
	struct dw_source_text text;
	struct dw_timeline timeline;
	struct dw_totals_store totals;
	DW_VEC(struct dw_selection *) selections; /* the one used last is the last, references */
	struct dw_selection *selected;		  /* by the request at hand: one of these */
	DW_VEC(struct dw_page_view *) views;
	uint64_t clock; /* of requests */
};

/* Set page.selected to the part of the session that @r chooses; other times of calls and objects
 * are loaded first. 0 or why not. */
int dw_page_select(struct dw_page *page, const struct dw_page_request *r, struct dw_error *err);

/* Open the view @ops as @r wants it, or find it open. @unfolding: as a tree. Borrowed until the
 * next request. 0 or why not. */
int dw_page_view(struct dw_page *page, const struct dw_page_request *r,
		 const struct dw_view_ops *ops, bool unfolding, struct dw_page_view **ret,
		 struct dw_error *err);

/* The view that @r names. 0, or DWELL_ERR_USAGE: there is none, or it shows nothing of the
 * session. */
int dw_page_find_view(const struct dw_page *page, const struct dw_page_request *r,
		      const struct dw_view_ops **ret, struct dw_error *err);

/* How @r wants rows of @ops to be split. 0 or DWELL_ERR_USAGE. */
int dw_page_by(const struct dw_page_request *r, const struct dw_view_ops *ops, enum dw_by *ret,
	       struct dw_error *err);

/* The columns of @ops that @r wants: those that it names, else all that files have. @ret has room
 * for DWELL_COLUMNS_N. 0 or DWELL_ERR_USAGE. */
int dw_page_columns(const struct dw_page *page, const struct dw_page_request *r,
		    const struct dw_view_ops *ops, enum dw_column *ret, struct dw_error *err);

/* The function that @r asks for by its id or name. 0 or why not. */
int dw_page_function(const struct dw_page *page, const struct dw_page_request *r, uint32_t *ret,
		     struct dw_error *err);

/* Answers: append all but what the answer to every request has to @out, a buffer. 0 or why not,
 * then what was written is of no use. */
typedef int dw_page_op_fn(struct dw_page *page, const struct dw_page_request *r, struct dw_out *out,
			  struct dw_error *err);

dw_page_op_fn dw_page_op_open;
dw_page_op_fn dw_page_op_summary;
dw_page_op_fn dw_page_op_report;
dw_page_op_fn dw_page_op_rows;
dw_page_op_fn dw_page_op_tree;
dw_page_op_fn dw_page_op_hotpath;
dw_page_op_fn dw_page_op_flame;
dw_page_op_fn dw_page_op_function;
dw_page_op_fn dw_page_op_word;
dw_page_op_fn dw_page_op_annotate;
dw_page_op_fn dw_page_op_timeline;

/* Open the tree that @r names, of none the call tree, or that of allocations. 0 or why not; its
 * node exists. */
int dw_page_tree(struct dw_page *page, const struct dw_page_request *r, struct dw_page_view **ret,
		 struct dw_error *err);

/* Write the longest times of the first rows of @v by column, by which a page chooses units; null
 * for other columns. @known: those of the same rows that were looked for before. */
void dw_page_put_most(const struct dw_view *v, const enum dw_column *columns,
		      struct dw_page_most *known, struct dw_out *out);

/* Write the keys of @columns as a member of an answer. */
void dw_page_put_columns(const enum dw_column *columns, struct dw_out *out);

/* Whether a flame graph can have @column of a call tree as its width. */
bool dw_page_is_width(enum dw_column column);

/* Write ", " unless @i is 0. */
static inline void dw_page_comma(struct dw_out *out, size_t i)
{
	if (i)
		dw_out_puts(out, ", ");
}

/* Write the facts of the session with the totals of @v, an object. */
void dw_page_put_session(const struct dw_view *v, struct dw_out *out);

/* Write @n rows of @v as arrays of cells: those that @rows names, of NULL from @first on. 0 or
 * -ENOMEM. */
int dw_page_put_rows(const struct dw_view *v, const enum dw_column *columns, const uint32_t *rows,
		     size_t first, size_t n, struct dw_out *out);

/* The function that @row is about or in, 0 = none. */
uint32_t dw_page_function_id(const struct dw_view *v, const struct dw_row *row);

/* Write the function that each of @n rows of @v is about or in, as an array; rows as in
 * dw_page_put_rows(). */
void dw_page_put_functions(const struct dw_view *v, const uint32_t *rows, size_t first, size_t n,
			   struct dw_out *out);

/* Write rows @first to before @end of @v as objects, as reports do. 0 or -ENOMEM. */
int dw_page_put_objects(const struct dw_view *v, const enum dw_column *columns, size_t first,
			size_t end, struct dw_out *out);
