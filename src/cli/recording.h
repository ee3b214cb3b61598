/*
 * What commands that record have in common: where their helpers and caches are, the line that shows
 * a recording running, what is said when it ends or fails, and what they exit with.
 */
#pragma once

#include "base/error.h"
#include "base/out.h"
#include "record/record.h"

#include <stdbool.h>
#include <stddef.h>

struct dw_instrument_result;
struct dw_module_image;

/* The path of the agent's file @name, beside this program or where it is installed; the caller
 * frees it. NULL = nowhere. */
char *dw_agent_file(const char *name);

/*
 * The folder for what dwell can make again, $XDG_CACHE_HOME/dwell, else ~/.cache/dwell, made with
 * mode 0700 when absent. The caller frees it. NULL: there is no place, or no memory, which is no
 * error: everything works without a cache.
 */
char *dw_cache_folder(void);

/*
 * From now on this process ends with DWELL_EXIT_FAILED and one line on stderr where SIGSEGV,
 * SIGBUS, SIGILL, SIGFPE or SIGABRT would have ended it; a core file is made as without that. The
 * line names what is in @session.partial by then; NULL = nothing is written. A target goes on, and
 * processes that are forked end by these signals as usual. Signals that are handled or ignored
 * already stay so. [main-thread]
 */
void dw_crash_report(const char *session);

/* The one quiet line that shows a recording running, on a terminal that nobody else writes to. */
struct dw_progress_line {
	bool shown; /* something stands on the terminal's current line */
};

/* Whether a line on stderr would disturb nobody: it is a terminal, and the target's output goes
 * elsewhere. */
bool dw_progress_wanted(void);

/* Show how the recording stands. @ctx is a struct dw_progress_line. Fits
 * dw_record_options.progress. */
void dw_progress_show(void *ctx, const struct dw_record_progress *p);

/* Show how long a run without samples takes. @ctx is a struct dw_progress_line. */
void dw_progress_show_time(void *ctx, const struct dw_record_progress *p);

/* Take the line away. */
void dw_progress_clear(struct dw_progress_line *line);

/* "COMMAND.dwell" in the current folder, the caller frees it. NULL without memory. */
char *dw_recorded_path(const char *command);

/* Print the screenful at the end to stderr. What goes wrong here costs the summary only: the
 * session at @path is finished. */
void dw_recorded_summary(const char *path);

/* Print one line: what failed and, when the command was recorded for a while, where that is. */
void dw_recorded_failure(struct dw_error *err, const struct dw_record_result *result,
			 const char *path);

/*
 * What to exit with after a recording: the command's own status, which is waited for if it outlived
 * its recording; 128 + N when signal N ended it; 126 and 127 as env(1) when it could not be
 * executed; 125 when dwell failed (@rc is not 0, or it was never started).
 */
int dw_exit_status(const struct dw_record_result *result, int rc);

/* What instrumentation did, as text. Names are foreign and are escaped as each format wants it. */

/* The formats of dw_list_functions(). */
enum dw_list_format { DWELL_LIST_TABLE, DWELL_LIST_CSV, DWELL_LIST_JSON };

/* What ran from clones, what was left alone and why, which processes had no agent. With a session,
 * whose own summary was printed before, only what went wrong. */
void dw_instrumented_summary(struct dw_out *out, const struct dw_instrument_result *r,
			     bool has_session);

/* The titles of dw_instrumented_calls(), with the end of the line. */
extern const char dw_calls_titles[];

/*
 * Write the functions of all modules that were called, as CSV, most calls first. 0, -ENOMEM,
 * -errno of naming.
 */
int dw_instrumented_calls(struct dw_out *out, const struct dw_instrument_result *r,
			  struct dw_error *err);

/*
 * Write what would be cloned of the modules of @images (@n), and what not and why. Modules without
 * an image are left out. 0, -ENOMEM, -errno.
 */
int dw_list_functions(struct dw_out *out, struct dw_module_image *const *images, size_t n,
		      enum dw_list_format format, struct dw_error *err);
