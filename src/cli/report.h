/*
 * A report, from the user's words to rows: the same steps for one view and for all of them.
 *
 * Words are checked before the session is read (report-words.c), what they mean depends on it
 * (report-view.c). To write one view is src/cli/cmd-report.c, to write all is report-all.c.
 */
#pragma once

#include "analysis/filter.h"
#include "base/error.h"
#include "base/out.h"
#include "cli/options.h"
#include "format/format.h"
#include "model/profile.h"
#include "view/source-text.h"
#include "view/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DWELL_TRIM_DEFAULT = -1 };

struct dw_report_options {
	const char *format;
	const char *sort;
	const char *columns;
	const char *root;
	const char *order;
	const char *output;
	const char *intervals;
	const char *by;
	struct dw_filter_options filter;
	struct dw_my_code_options my_code;
	struct dw_option_list source_dirs;
	uint64_t top;
	double trim_pct; /* DWELL_TRIM_DEFAULT = what suits the format */
	bool all, hot_path, fold, no_fold, intel, source, details;
};

/* What the words come to, for one view. */
struct dw_report {
	const struct dw_report_options *options;
	const char *path;
	const struct dw_format_ops *format;
	const struct dw_view_ops *view;
	enum dw_by by;
	unsigned parts; /* of totals, that the view reads of the session */
	enum dw_column all[DWELL_COLUMNS_N], defaults[DWELL_COLUMNS_N]; /* the view's, for it */
	const char *function; /* callers, slowest, file-io */
	enum dw_column columns[DWELL_COLUMNS_N];
	struct dw_view_request request;
};

/* Rows of a view that is open, with all that they are made of. */
struct dw_report_rows {
	struct dw_totals totals;
	struct dw_source_text sources;
	struct dw_view view;
	char *packages;
};

/* Check the words of a report of one view, and @operands, which begin with the session. 0 or
 * DWELL_ERR_USAGE. */
int dw_report_read_words(struct dw_report *r, char **operands, struct dw_error *err);

/* The same of a report of all views: @r has none yet. */
int dw_report_read_words_of_all(struct dw_report *r, char **operands, struct dw_error *err);

/* Make @r the report of @view: the part of the words that is for it. False: it shows nothing by
 * what was asked for. For dw_report_read_words_of_all(). */
bool dw_report_choose_view(struct dw_report *r, const struct dw_view_ops *view);

/* Find the columns that the view has for @p. False: the view is not for the session's method. */
bool dw_report_find_columns(struct dw_report *r, const struct dw_profile *p);

/* What --columns and --sort mean among these. 0 or DWELL_ERR_USAGE. */
int dw_report_read_columns(struct dw_report *r, const struct dw_profile *p, struct dw_error *err);

/* Check that the words are for sessions like @p. 0 or DWELL_ERR_USAGE. */
int dw_report_check_method(const struct dw_report *r, const struct dw_profile *p,
			   struct dw_error *err);

/* Whether tables of the view fold the system's code unless somebody asked for it. */
bool dw_report_folds_by_default(const struct dw_report *r, const struct dw_profile *p);

/* Open the view on what of @p passes @filter, which gets what the report asks of it. @ret borrows
 * all of them, and is to be released in any case. 0 or a negative code with a message. */
int dw_report_open(struct dw_report *r, struct dw_profile *p, struct dw_filter *filter,
		   struct dw_report_rows *ret, struct dw_error *err);

/* Write the rows for a terminal of @width columns, 0 = for none. */
void dw_report_write(struct dw_report *r, const struct dw_report_rows *rows, size_t width,
		     bool colour, struct dw_out *out);

/* Say that source was not found, where that leaves holes. */
void dw_report_tell_missing(const struct dw_report_rows *rows);

/* Free everything. */
void dw_report_rows_release(struct dw_report_rows *rows);

/* Write every view of @p that has rows to the folder that the words of @r name. *@written gets
 * their names, a blank before each. 0 or a negative code with a message: no file has a new name
 * then, unless naming itself failed. */
int dw_report_write_all(struct dw_report *r, struct dw_profile *p, struct dw_buf *written,
			struct dw_error *err);
