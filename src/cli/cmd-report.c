/*
 * dwell report: one view of a session in one format.
 *
 * The user's words (view, format) are checked before the session is read, so that a slip costs no
 * time and is told apart (exit 2) from bad input (exit 1). Columns depend on the session's method.
 */
#include "analysis/disassembly.h"
#include "analysis/filter.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/process-setup.h"
#include "cli/command.h"
#include "cli/hints.h"
#include "cli/terminal.h"
#include "format/format.h"
#include "record/finish.h"
#include "session/read.h"
#include "view/source-text.h"
#include "view/view.h"

#include <errno.h>
#include <string.h>

enum { TRIM_DEFAULT = -1 };

#define ALLOC_PATHS_TRIM_PCT .01 /* of bytes, in machine formats */

struct report_options {
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
	double trim_pct; /* TRIM_DEFAULT = what suits the format */
	bool hot_path, fold, no_fold, intel, source, details;
};

/* What the words come to. */
struct report {
	const struct report_options *options;
	const char *path;
	const struct dw_format_ops *format;
	const struct dw_view_ops *view;
	enum dw_by by;
	unsigned parts; /* of totals, that the view reads of the session */
	enum dw_column all[DWELL_COLUMNS_N], defaults[DWELL_COLUMNS_N]; /* the view's, for it */
	const char *function; /* callers, slowest, file-io */
	enum dw_column columns[DWELL_COLUMNS_N];
	struct dw_source_text sources;
	struct dw_view_request request;
};

#define FIELD(name) offsetof(struct report_options, name)

static const struct dw_option table[] = {
	{"format", 'f', "FORMAT", dw_option_text, FIELD(format),
	 "table (default), csv, json or xml"},
	{"output", 'o', "FILE", dw_option_text, FIELD(output), "write to FILE instead of stdout"},
	{"sort", 's', "COLUMN", dw_option_text, FIELD(sort),
	 "sort by a column; -COLUMN turns it round"},
	{"columns", 'c', "A,B,...", dw_option_text, FIELD(columns),
	 "show these columns ('all': every one)"},
	{"top", 'n', "N", dw_option_count, FIELD(top), "show the first N rows only"},
	{"by", 0, "WHAT", dw_option_text, FIELD(by),
	 "split rows by process, thread or command, in place of adding them up"},
	DW_FILTER_OPTIONS(FIELD(filter)),
	{"to", 0, "TIME", dw_option_time_ns, FIELD(filter.to_ns), NULL}, /* what it was called */
	DW_MY_CODE_OPTIONS(FIELD(my_code)),
	{"intervals", 0, "RULE", dw_option_text, FIELD(intervals),
	 "instrumentation: what ends an interval: event (default) or probe"},
	{"details", 0, NULL, dw_option_flag, FIELD(details),
	 "summary: also slowest calls, and how far to trust the numbers"},
	{"root", 0, "FUNCTION", dw_option_text, FIELD(root), "calltree: start at this function"},
	{"order", 0, "ORDER", dw_option_text, FIELD(order),
	 "calltree of calls: siblings by time (default) or first-call"},
	{"hot-path", 0, NULL, dw_option_flag, FIELD(hot_path),
	 "calltree: nothing but the hot path"},
	{"source", 0, NULL, dw_option_flag, FIELD(source),
	 "lines, function: show the text of the source, with what is between"},
	{"source-dir", 0, "DIR", dw_option_list, FIELD(source_dirs),
	 "lines: look for source below DIR first; implies --source"},
	{"intel", 0, NULL, dw_option_flag, FIELD(intel),
	 "instructions: write them as Intel's assemblers do"},
	{"trim", 0, "PCT", dw_option_percent, FIELD(trim_pct),
	 "calltree, allocations: hide what is below PCT percent (table: 1)"},
	{"fold", 0, NULL, dw_option_flag, FIELD(fold),
	 "calltree, allocations: join chains of calls (table: on)"},
	{"no-fold", 0, NULL, dw_option_flag, FIELD(no_fold),
	 "calltree, allocations: a row for every call; modules, file-io: their functions, too"},
	{NULL},
};

static int unknown_view(const char *name, struct dw_error *err)
{
	struct dw_candidates candidates = DW_CANDIDATES_INIT;

	dw_candidates_begin(&candidates, name, strlen(name));
	for (const struct dw_view_ops *const *v = dw_views; *v; v++)
		dw_candidates_offer(&candidates, (*v)->name);
	return dw_candidates_unknown(&candidates, "view", err);
}

static int unknown_format(const char *name, struct dw_error *err)
{
	struct dw_candidates candidates = DW_CANDIDATES_INIT;

	dw_candidates_begin(&candidates, name, strlen(name));
	for (const struct dw_format_ops *const *f = dw_formats; *f; f++)
		dw_candidates_offer(&candidates, (*f)->name);
	return dw_candidates_unknown(&candidates, "format", err);
}

/* Whether the column called @name tells lanes apart. */
static bool is_of_lanes(const char *name, size_t n)
{
	static const enum dw_column lanes[] = {DWELL_COLUMNS_PROCESS, DWELL_COLUMN_THREAD_ID,
					       DWELL_COLUMN_THREAD_NAME, DWELL_COLUMN_END};

	return dw_column_find(lanes, name, n) != DWELL_COLUMN_END;
}

static int unknown_column(const struct report *r, const char *name, size_t n, struct dw_error *err)
{
	struct dw_candidates candidates = DW_CANDIDATES_INIT;
	char keys[DWELL_COLUMNS_N][DWELL_KEY_MAX_BYTES];

	dw_candidates_begin(&candidates, name, n);
	for (const enum dw_column *c = r->all; *c; c++) {
		dw_column_key(*c, keys[*c]);
		dw_candidates_offer(&candidates, keys[*c]);
	}
	if (r->view->splits && r->by == DWELL_BY_NONE && is_of_lanes(name, n))
		return dw_misuse(err,
				 "rows are those of all processes: --by process, thread or "
				 "command splits them and has the column '%.*s'",
				 (int)n, name);
	return dw_candidates_unknown(&candidates, "column", err);
}

/* The view and its argument from the operands behind the file. */
static int read_view(struct report *r, char **operands, struct dw_error *err)
{
	const char *name = *operands ? *operands++ : dw_views[0]->name;

	r->view = dw_view_find(name);
	if (!r->view)
		return unknown_view(name, err);
	if (r->view->function == DWELL_FUNCTION_MUST && !*operands)
		return dw_misuse(err, "the view %s needs a function", name);
	if (r->view->function && *operands)
		r->function = *operands++;
	if (r->function && r->view->with_function)
		r->view = r->view->with_function;
	if (*operands)
		return dw_misuse(err, "what is '%s' for?", *operands);
	return 0;
}

static int read_columns(struct report *r, const struct dw_profile *p, struct dw_error *err)
{
	const char *list = r->options->columns;
	const enum dw_column *own = r->format->human_readable ? r->defaults : r->all;
	size_t n = 0;

	if (list && !strcmp(list, "all"))
		own = r->all;
	else
		own = list ? NULL : own;
	while (own && *own)
		r->columns[n++] = *own++;
	for (; !own && list && n + 1 < DWELL_COLUMNS_N; list = strchr(list, ',')) {
		size_t len = strcspn(list += *list == ',', ",");

		r->columns[n] = dw_view_find_column(p, r->all, list, len);
		if (!r->columns[n++])
			return unknown_column(r, list, len, err);
	}
	r->columns[n] = DWELL_COLUMN_END;
	if (!list && !r->format->human_readable)
		dw_columns_drop_derived(r->columns);
	return 0;
}

static int read_sort(struct report *r, const struct dw_profile *p, struct dw_error *err)
{
	const char *sort = r->options->sort;

	if (!sort)
		return 0;
	r->request.reverse = *sort == '-';
	sort += *sort == '-';
	r->request.sort = dw_view_find_column(p, r->all, sort, strlen(sort));
	return r->request.sort ? 0 : unknown_column(r, sort, strlen(sort), err);
}

/* Of allocation paths there may be as many as groups of objects times the depth of stacks. */
static double trim_default(const struct report *r)
{
	if (r->format->human_readable)
		return 1;
	return r->view == &dw_view_allocations ? ALLOC_PATHS_TRIM_PCT : 0;
}

/* Whether tables leave out what is below the rows of @view. */
static bool has_parts(const struct dw_view_ops *view)
{
	return view == &dw_view_modules || view == &dw_view_file_io;
}

/* What only call trees have, and its defaults: noise is taken out for human-readable formats alone.
 */
static int read_pruning(struct report *r, struct dw_error *err)
{
	const struct report_options *o = r->options;
	bool asked = o->root || o->hot_path || o->fold || o->no_fold || o->trim_pct >= 0;

	r->request.collapsed = has_parts(r->view) && r->format->human_readable && !o->no_fold;
	if ((o->root || o->hot_path) && r->view != &dw_view_calltree)
		return dw_misuse(err, "--root and --hot-path are for the view calltree");
	if (asked && r->view != &dw_view_allocations && r->view != &dw_view_calltree &&
	    !(has_parts(r->view) && o->no_fold && !o->fold && o->trim_pct < 0))
		return dw_misuse(err,
				 "--trim and --fold are for the views calltree and allocations");
	if (o->details && (r->view != &dw_view_summary || !r->format->human_readable))
		return dw_misuse(err, "--details is for the view summary, as a table");
	if (o->order && strcmp(o->order, "time") != 0 && strcmp(o->order, "first-call") != 0)
		return dw_misuse(err, "--order takes time or first-call, not '%s'", o->order);
	r->request.by_first_call = o->order && !strcmp(o->order, "first-call");
	if (o->order && (r->view != &dw_view_calltree || o->sort || o->hot_path))
		return dw_misuse(err, "--order is for the view calltree, without --sort and "
				      "--hot-path");
	r->request.hot_path = o->hot_path;
	r->request.pruning.fold = o->fold || (r->format->human_readable && !o->no_fold);
	r->request.pruning.trim_pct = o->trim_pct >= 0 ? o->trim_pct : trim_default(r);
	return 0;
}

/* Check all words but the columns. 0 or DWELL_ERR_USAGE. */
static int read_words(struct report *r, char **operands, struct dw_error *err)
{
	const struct report_options *o = r->options;

	if (!*operands)
		return dw_misuse(err, "which session? (a FILE.dwell)");
	r->path = *operands;
	r->format = dw_format_find(o->format ? o->format : dw_formats[0]->name);
	if (!r->format)
		return unknown_format(o->format, err);
	if (read_view(r, operands + 1, err) ||
	    (o->by && dw_view_read_by(r->view, "--by", o->by, &r->by, err)))
		return DWELL_ERR_USAGE;
	if (r->view == &dw_view_file_io && (o->filter.from_ns || o->filter.to_ns))
		return dw_misuse(err, "--from and --until are not for the view file-io: "
				      "when files were read is not known");
	if (o->intervals && strcmp(o->intervals, "event") && strcmp(o->intervals, "probe"))
		return dw_misuse(err,
				 "unknown rule '%s'; intervals end at every event or at a probe",
				 o->intervals);
	return read_pruning(r, err);
}

/* Write the opened @v to where it should go. A reader that has seen enough is no failure. */
static int write_view(struct report *r, const struct dw_view *v, struct dw_error *err)
{
	struct dw_format_job job = {
		.view = v,
		.columns = r->columns,
		.chosen = r->options->columns,
		.rows = r->options->top,
		.path = r->path,
		.details = r->options->details,
	};
	struct dw_terminal terminal;
	struct dw_out out;
	int rc = dw_terminal_check(r->options->output, r->path, err), closed;

	if (!rc)
		rc = dw_terminal_open(&terminal, r->options->output, r->format->human_readable,
				      err);
	if (rc)
		return rc;
	if (r->format->human_readable && !r->options->columns)
		dw_view_drop_waits(v, r->columns);
	if (terminal.width && !r->options->columns)
		dw_view_tell_processes_apart(v, r->columns);
	job.width = terminal.width;
	job.colour = terminal.colour;
	dw_out_init_fd(&out, terminal.fd);
	r->format->write(&job, &out);
	rc = dw_out_close(&out);
	closed = dw_terminal_close(&terminal);
	rc = rc ? rc : closed;
	if (rc && rc != -EPIPE)
		return dw_error_set_errno(err, -rc, "cannot write the report");
	return 0;
}

static bool wants_source(const struct report_options *o)
{
	return o->source || o->source_dirs.n;
}

/* Say that source was not found, where that leaves holes. */
static void tell_missing(const struct report *r)
{
	const struct dw_source_text *s = &r->sources;

	if (s->missing_n)
		dw_warn("report",
			"no source of %zu file%s, '%s' among them; --source-dir tells where it is",
			s->missing_n, s->missing_n > 1 ? "s" : "",
			dw_strings_get(&s->profile->strings, s->missing));
}

static int show(struct report *r, struct dw_profile *p, const struct dw_filter *filter,
		struct dw_error *err)
{
	struct dw_totals totals = {0};
	struct dw_view view = {0};
	dw_auto_free char *packages = NULL;
	int rc = r->parts & DWELL_TOTALS_INSTRUCTIONS ? dw_disassembly_tell(p) : 0;

	if (!rc)
		rc = dw_totals_compute(p, filter, r->parts, &totals);
	r->request.profile = p;
	r->request.intel = r->options->intel;
	dw_source_text_init(&r->sources, p, r->options->source_dirs.v, r->options->source_dirs.n);
	if (wants_source(r->options))
		r->request.source = &r->sources;
	r->request.rows = r->options->top;
	r->request.totals = &totals;
	r->request.filter = filter;
	if (!rc && r->view->has_notes && r->format->human_readable)
		r->request.debug_packages = packages = dw_hint_packages(p, &totals);
	if (!rc)
		rc = dw_view_open(&view, r->view, &r->request);
	if (rc)
		dw_error_set(err, rc, "cannot compute the view %s: %s", r->view->name,
			     dw_err_string(rc));
	else
		rc = write_view(r, &view, err);
	if (!rc)
		dw_hint_empty(p, filter, &totals);
	if (!rc)
		tell_missing(r);
	dw_view_release(&view);
	dw_totals_release(&totals);
	dw_source_text_release(&r->sources);
	return rc;
}

/* What of @r nobody will look at. Rows in their own order are known to be the first ones before all
 * are made; tables also count what they leave out, and a folded row is many nodes. */
static void set_focus(const struct report *r, struct dw_focus *ret)
{
	const struct dw_view_request *request = &r->request;

	ret->function = request->function;
	ret->min_pct = request->pruning.trim_pct;
	ret->hot_path = request->hot_path || r->view == &dw_view_summary;
	ret->work = !r->options->sort;
	if (!r->options->sort && !request->by_first_call && !r->format->human_readable &&
	    !request->pruning.fold)
		ret->rows = r->options->top;
}

/* False: the view is not for the session's method. */
static bool find_columns(struct report *r, const struct dw_profile *p)
{
	if (!dw_view_suits(r->view, p))
		return false;
	r->parts = dw_view_parts(r->view, p);
	dw_view_columns(r->view, p, r->by, false, r->all);
	dw_view_columns(r->view, p, r->by, true, r->defaults);
	if (!wants_source(r->options)) {
		dw_columns_drop(r->all, DWELL_COLUMN_SOURCE_TEXT);
		dw_columns_drop(r->defaults, DWELL_COLUMN_SOURCE_TEXT);
	}
	return true;
}

static bool folds_by_default(const struct report *r, const struct dw_profile *p)
{
	return r->format->human_readable &&
	       dw_view_may_fold(r->view, p, r->options->root || r->options->filter.modules.n);
}

/* As dw_match_function(), with what may be the reason where there is none. */
static int find_function(const struct dw_profile *p, const char *text, uint32_t *ret,
			 struct dw_error *err)
{
	int rc = dw_match_function(p, text, ret, err);

	if (rc == DWELL_ERR_NOT_FOUND && !err->lines)
		dw_hint_unmeasured(p, err);
	return rc;
}

/* The session has nothing that @view shows. */
static int unsuited_view(const struct dw_view_ops *view, struct dw_error *err)
{
	if (view->needs == DWELL_MEASURE_BLOCKED)
		return dw_misuse(err,
				 "the view %s needs a session with waits: dwell sample "
				 "and dwell instrument record them",
				 view->name);
	return dw_misuse(err, "the view %s is for sessions of %s", view->name,
			 view->needs == DWELL_MEASURE_CALLS ? "dwell instrument" : "dwell memory");
}

/* Find what columns, filters and function names mean in @p, then show. */
static int resolve_and_show(struct report *r, struct dw_profile *p, struct dw_error *err)
{
	const struct report_options *o = r->options;
	struct dw_filter_owned filter;
	int rc;

	if (!find_columns(r, p))
		return unsuited_view(r->view, err);
	if (o->intervals && !dw_profile_has_calls(p))
		return dw_misuse(err, "--intervals is for sessions of dwell instrument");
	if (o->order && !dw_profile_has_calls(p))
		return dw_misuse(err, "--order is for sessions of dwell instrument");
	if (read_columns(r, p, err) || read_sort(r, p, err))
		return DWELL_ERR_USAGE;
	rc = dw_filter_options_resolve(&o->filter, p, &filter, err);
	if (!rc && r->function)
		rc = find_function(p, r->function, &r->request.function, err);
	if (!rc && o->root)
		rc = find_function(p, o->root, &filter.filter.focus.root, err);
	if (!rc)
		rc = dw_my_code_apply(&o->my_code, folds_by_default(r, p), r->request.function, p,
				      &r->request.folded, err);
	filter.filter.by = r->by;
	filter.filter.splits_lines = dw_columns_show_statements(r->columns);
	filter.filter.delimited_intervals = o->intervals && !strcmp(o->intervals, "probe");
	set_focus(r, &filter.filter.focus);
	if (!rc)
		rc = show(r, p, &filter.filter, err);
	dw_filter_release(&filter);
	return rc;
}

static int report(const struct dw_command *self, const struct report_options *o, char **operands)
{
	struct report r = {.options = o};
	struct dw_error err = DW_ERROR_INIT;
	struct dw_profile p = DW_PROFILE_INIT;
	int rc = read_words(&r, operands, &err), exit_code = DWELL_EXIT_OK;

	if (!rc) {
		struct dw_session_range range = {o->filter.from_ns, o->filter.to_ns};

		rc = dw_open_profile(r.path, &range, &p, &err);
		rc = rc ? rc : resolve_and_show(&r, &p, &err);
	}
	if (rc == DWELL_ERR_USAGE)
		exit_code = dw_command_misuse(self, &err);
	else if (rc)
		exit_code = dw_command_fail(&err, DWELL_EXIT_BAD);
	dw_profile_release(&p);
	dw_error_clear(&err);
	return exit_code;
}

static int run(const struct dw_command *self, int argc, char **argv)
{
	struct report_options o = {.trim_pct = TRIM_DEFAULT};
	int first, exit_code = dw_command_parse(self, argv, &o, &first);

	(void)argc;
	dw_large_heap();
	if (exit_code < 0)
		exit_code = report(self, &o, argv + first);
	dw_filter_options_release(&o.filter);
	dw_my_code_options_release(&o.my_code);
	dw_vec_release(&o.source_dirs);
	return exit_code;
}

static void list_views(struct dw_out *out)
{
	dw_out_puts(out, "\nViews:\n");
	for (const struct dw_view_ops *const *v = dw_views; *v; v++)
		dw_out_printf(out, "  %-26s %s\n", (*v)->name, (*v)->help);
}

const struct dw_command dw_cmd_report = {
	.name = "report",
	.help = "show where the time of a recorded session went",
	.synopsis = "FILE [VIEW [FUNCTION]] [OPTIONS]",
	.list = list_views,
	.options = table,
	.misuse = DWELL_EXIT_USAGE,
	.run = run,
};
