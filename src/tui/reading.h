/*
 * A session that is being read: its profile, what part of it is shown, and the places where one
 * was.
 *
 * It knows nothing of screens and keys. One thread.
 */
#pragma once

#include "analysis/filter.h"
#include "base/error.h"
#include "model/profile.h"
#include "tui/place.h"
#include "tui/timeline.h"
#include "view/source-text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dw_filter_kind {
	DWELL_FILTER_PROCESS = 0,
	DWELL_FILTER_THREAD,
	DWELL_FILTER_MODULE,
	DWELL_FILTER_TYPE,
	DWELL_FILTER_KINDS,
};

/* The session, and what of it to begin with. */
struct dw_reading_start {
	const char *path;		     /* as the user wrote it; not opened here */
	const struct dw_filter_words *words; /* what part of it to show at first */
	const char *const *source_dirs;	     /* where source is looked for first */
	size_t source_dirs_n;
	/* Load it into @p, which is empty, for one range of time (@to_ns 0 = no end). */
	int (*load)(const char *path, uint64_t from_ns, uint64_t to_ns, struct dw_profile *p,
		    struct dw_error *err);
};

/* Words of one kind; several widen. */
struct dw_filter_list {
	DW_VEC(char *) words;
};

/* That somebody came to a place. */
struct dw_visit {
	struct dw_place *place; /* borrowed */
	/* What going back takes back, if it is still there: */
	char *word; /* a filter, NULL = none, */
	enum dw_filter_kind kind;
	struct dw_filter_list before; /* and what was in its place */
};

struct dw_reading {
	const struct dw_reading_start *start;
	struct dw_profile profile;
	bool has_told_instructions;
	struct dw_source_text source;
	struct dw_timeline timeline; /* of all of the session */
	struct dw_filter_list lists[DWELL_FILTER_KINDS];
	uint64_t from_ns, to_ns;
	struct dw_filter_owned filter;
	struct dw_totals_store totals;
	DW_VEC(struct dw_place *) tabs;	   /* of the session's views, in their order */
	DW_VEC(struct dw_place *) details; /* all others */
	DW_VEC(struct dw_visit) history;   /* the last one is where we are */
};

/* Load the session. 0, or errors of loading and of finding what the words mean. To be released in
 * any case. */
int dw_reading_open(struct dw_reading *r, const struct dw_reading_start *start,
		    struct dw_error *err);

/* Where we are. */
struct dw_place *dw_reading_here(const struct dw_reading *r);

/* What places are made of. */
struct dw_place_sources dw_reading_sources(struct dw_reading *r);

/* Make the rows of the place where we are. 0, or why not. */
int dw_reading_prepare(struct dw_reading *r, struct dw_error *err);

/* The tab that shows @ops, -1 = none does. */
int dw_reading_find_tab(const struct dw_reading *r, const struct dw_view_ops *ops);

/* Go to tab @i, which exists. 0 or -ENOMEM. */
int dw_reading_go_to_tab(struct dw_reading *r, size_t i);

/* Go to a view of @function, or of the call tree below @root. 0 or -ENOMEM. */
int dw_reading_go(struct dw_reading *r, const struct dw_view_ops *ops, uint32_t function,
		  uint32_t root);

/* Show only what fits @word, as dw_reading_set_filter() does, in tab @i (-1 = where we are):
 * dw_reading_back() takes both back. 0, or why that cannot be: then all stays as it was. */
int dw_reading_enter(struct dw_reading *r, enum dw_filter_kind kind, const char *word, int i,
		     struct dw_error *err);

/* Go back to where we were before, and to the filter that dw_reading_enter() found there, unless
 * somebody has set another one since. 0, why the filter cannot be, or DWELL_ERR_NOT_FOUND with @err
 * left alone: that was the first place. */
int dw_reading_back(struct dw_reading *r, struct dw_error *err);

/* Show only what fits @word, which replaces others of the kind ("" = all). 0, or why it fits
 * nothing: then all stays as it was. */
int dw_reading_set_filter(struct dw_reading *r, enum dw_filter_kind kind, const char *word,
			  struct dw_error *err);

/* Show only what happened from @from_ns to @to_ns (0 = the end). As dw_reading_set_filter(). */
int dw_reading_set_range(struct dw_reading *r, uint64_t from_ns, uint64_t to_ns,
			 struct dw_error *err);

/* Show everything. 0, or why not. */
int dw_reading_clear_filters(struct dw_reading *r, struct dw_error *err);

/* Whether a range of time is shown alone. */
bool dw_reading_is_ranged(const struct dw_reading *r);

/* Whether a part of the session is left out. */
bool dw_reading_is_filtered(const struct dw_reading *r);

/* Show @columns, which end with DWELL_COLUMN_END, wherever the view at hand is shown; none = the
 * view's own. */
void dw_reading_choose_columns(struct dw_reading *r, const enum dw_column *columns);

/* Write to @ret the command whose report has the rows of the place where we are. 0 or -ENOMEM. */
int dw_reading_command(const struct dw_reading *r, struct dw_buf *ret);

/* Write the rows of the place where we are to @path, as its ending says: .csv, else .json.
 * DWELL_ERR_REFUSED when something is there already. */
int dw_reading_save(struct dw_reading *r, const char *path, struct dw_error *err);

/* Free everything. */
void dw_reading_release(struct dw_reading *r);
