/*
 * A session that is being read: its profile, what part of it is shown, and the places where one
 * was.
 *
 * It knows nothing of screens and keys. One thread; what takes long is computed in another one,
 * which reads the profile, so that this is exchanged only when nothing is computed.
 */
#pragma once

#include "base/error.h"
#include "model/profile.h"
#include "tui/follow.h"
#include "tui/place.h"
#include "analysis/selection.h"
#include "analysis/timeline.h"
#include "tui/worker.h"
#include "view/source-text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the session comes from. */
struct dw_reading_source {
	void *ctx;
	dw_load_fn *load;
	/* Of a recording that goes on, NULL of another one: what there is beside what was loaded.
	 */
	enum dw_recording_news (*look)(void *ctx);
	/* The file that reports would read now, borrowed. */
	const char *(*path)(void *ctx);
};

/* The session, and what of it to begin with. */
struct dw_reading_start {
	const char *path;		     /* as the user wrote it; not opened here */
	const struct dw_filter_words *words; /* what part of it to show at first */
	const char *const *source_dirs;	     /* where source is looked for first */
	size_t source_dirs_n;
	bool shows_all_code;  /* at first */
	uint64_t interval_ns; /* between two looks at a recording that goes on */
	uint64_t window_ns;   /* show the last part of one, this long; 0 = all of it */
	struct dw_reading_source source;
	/* Told in the end what part of it was shown last; NULL = nobody asks. */
	void (*leave)(void *ctx, const struct dw_filter_words *words);
	void *leave_ctx;
};

/* That somebody came to a place. */
struct dw_visit {
	struct dw_place *place; /* borrowed */
	/* What going back takes back, if it is still there: references, NULL = nothing. */
	struct dw_selection *entered, *before;
	enum dw_filter_kind kind; /* in which they differ */
};

struct dw_reading {
	const struct dw_reading_start *start;
	struct dw_profile profile;
	bool has_told_instructions;
	bool shows_all_code; /* nothing of the system's code is folded where it could be */
	struct dw_source_text source;
	struct dw_timeline timeline;	/* of all of the session */
	struct dw_selection *selection; /* what is shown, a reference */
	struct dw_totals_store totals;
	struct dw_worker worker;
	struct dw_job *job; /* that the worker does, NULL = none */
	struct dw_follow follow;
	bool loads; /* the session is to be loaded for this range: */
	uint64_t load_from_ns, load_to_ns;
	bool has_gone_ahead; /* as far as that goes, or there was no memory for it */
	/* Where one was when all that was to be seen was there last. */
	struct dw_selection *settled; /* a reference, NULL = nowhere yet */
	struct dw_place *settled_place;
	size_t settled_depth;		   /* of the history */
	DW_VEC(struct dw_place *) tabs;	   /* of the session's views, in their order */
	DW_VEC(struct dw_place *) details; /* all others */
	DW_VEC(struct dw_visit) history;   /* the last one is where we are */
};

enum { DWELL_READING_COMPUTES = 1 };

/* Begin to load the session. 0 or -errno. @r stays where it is, and is to be released in any case.
 */
int dw_reading_load(struct dw_reading *r, const struct dw_reading_start *start,
		    struct dw_error *err);

/* Open the session when it is loaded, for which this waits at most @wait_ms, below 0 = as long as
 * it takes. 0, or errors of loading and of finding what the words mean; DWELL_READING_COMPUTES: it
 * is not loaded yet, and r->worker.fd becomes readable when it is. Nothing else is called before.
 */
int dw_reading_open(struct dw_reading *r, int wait_ms, struct dw_error *err);

/* Where we are. */
struct dw_place *dw_reading_here(const struct dw_reading *r);

/* What places are made of. */
struct dw_place_sources dw_reading_sources(struct dw_reading *r);

/* Make the rows of the place where we are. 0, or why not; DWELL_READING_COMPUTES: that takes long,
 * and r->worker.fd becomes readable when it is time to call this again. */
int dw_reading_prepare(struct dw_reading *r, struct dw_error *err);

/* Take what is new of a recording that goes on: it is loaded beside, and shown at once when all
 * that is seen of it is there. To be called before dw_reading_prepare(); r->follow.worker.fd
 * becomes readable when it is time for that. 0, or why nothing new could be loaded: what is there
 * stays. */
int dw_reading_follow(struct dw_reading *r, struct dw_error *err);

/* When dw_reading_follow() is to be called at the latest, by CLOCK_MONOTONIC, 0 = never. */
uint64_t dw_reading_due_ns(const struct dw_reading *r);

/* How long the recording has been running, 0 = it does not run, or nobody knows. */
uint64_t dw_reading_runs_ns(const struct dw_reading *r);

/* The file that reports read, borrowed. */
const char *dw_reading_path(const struct dw_reading *r);

/* Whether the session is being loaded for another range. */
bool dw_reading_is_loading(const struct dw_reading *r);

/* Let the worker compute what may be wanted next, if it has nothing to do. */
void dw_reading_go_ahead(struct dw_reading *r);

/* Go back to the last place and part of the session that could be seen, from what is computed.
 * False: there is none. */
bool dw_reading_give_up(struct dw_reading *r);

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

/* Show only what happened from @from_ns to @to_ns (0 = the end). As dw_reading_set_filter(); what
 * has to be loaded for that is shown later, and what is wrong with it told by dw_reading_prepare().
 */
int dw_reading_set_range(struct dw_reading *r, uint64_t from_ns, uint64_t to_ns,
			 struct dw_error *err);

/* Show everything. 0, or why not. */
int dw_reading_clear_filters(struct dw_reading *r, struct dw_error *err);

/* Whether a range of time is shown alone. */
bool dw_reading_is_ranged(const struct dw_reading *r);

/* Whether a part of the session is left out. */
bool dw_reading_is_filtered(const struct dw_reading *r);

/* Whether the system's code can be folded in the place where we are. */
bool dw_reading_may_fold(struct dw_reading *r);

/* Show all code, or fold the system's where that can be. The cursor stays on its row. */
void dw_reading_show_all_code(struct dw_reading *r, bool all);

/* Show @columns, which end with DWELL_COLUMN_END, wherever the view at hand is shown; none = the
 * view's own. */
void dw_reading_choose_columns(struct dw_reading *r, const enum dw_column *columns);

/* Write to @ret the command whose report has the rows of the place where we are. 0 or -ENOMEM. */
int dw_reading_command(const struct dw_reading *r, struct dw_buf *ret);

/* Write the rows of the place where we are to @path, as its ending says: .csv, else .json.
 * DWELL_ERR_REFUSED when something is there already. */
int dw_reading_save(struct dw_reading *r, const char *path, struct dw_error *err);

/* Free everything. False: something is computed still, and all of @r must stay until the process
 * ends. */
bool dw_reading_release(struct dw_reading *r);
