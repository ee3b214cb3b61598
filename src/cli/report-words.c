/*
 * What the user's words for a report come to; see report.h. All but columns is known before the
 * session is read, so that a slip costs no time.
 */
#include "cli/report.h"

#include <string.h>

#define ALLOC_PATHS_TRIM_PCT .01 /* of bytes, in machine formats */

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

static int unknown_column(const struct dw_report *r, const char *name, size_t n,
			  struct dw_error *err)
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
static int read_view(struct dw_report *r, char **operands, struct dw_error *err)
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

static int read_sort(struct dw_report *r, const struct dw_profile *p, struct dw_error *err)
{
	const char *sort = r->options->sort;

	if (!sort)
		return 0;
	r->request.reverse = *sort == '-';
	sort += *sort == '-';
	r->request.sort = dw_view_find_column(p, r->all, sort, strlen(sort));
	return r->request.sort ? 0 : unknown_column(r, sort, strlen(sort), err);
}

int dw_report_read_columns(struct dw_report *r, const struct dw_profile *p, struct dw_error *err)
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
	if (!r->options->columns && !r->format->human_readable)
		dw_columns_drop_derived(r->columns);
	return read_sort(r, p, err);
}

/* Whether tables leave out what is below the rows of @view. */
static bool has_parts(const struct dw_view_ops *view)
{
	return view == &dw_view_modules || view == &dw_view_file_io;
}

/* Whether @view is a tree of calls, of which tables leave out small branches and join chains. */
static bool has_noise(const struct dw_view_ops *view)
{
	return view == &dw_view_allocations || view == &dw_view_calltree;
}

/* Whether --trim is for @view. */
static bool takes_trim(const struct dw_view_ops *view)
{
	return has_noise(view) || view->trims || view == &dw_view_details;
}

/* Of allocation paths there may be as many as groups of objects times the depth of stacks. */
static double trim_default(const struct dw_report *r)
{
	if (takes_trim(r->view) && !has_noise(r->view))
		return 0;
	if (r->format->human_readable)
		return 1;
	return r->view == &dw_view_allocations ? ALLOC_PATHS_TRIM_PCT : 0;
}

static int check_pruning(const struct dw_report *r, struct dw_error *err)
{
	const struct dw_report_options *o = r->options;
	if ((o->root || o->hot_path) && r->view != &dw_view_calltree)
		return dw_misuse(err, "--root and --hot-path are for the view calltree");
	if ((o->fold || o->no_fold) && !has_noise(r->view) &&
	    !(has_parts(r->view) && o->no_fold && !o->fold))
		return dw_misuse(err, "--fold is for the views calltree and allocations");
	if (o->trim_pct >= 0 && !takes_trim(r->view))
		return dw_misuse(err, "--trim is not for the view %s%s: it shows all that it has",
				 r->view->name, r->function ? " of a function" : "");
	if (o->details && (r->view != &dw_view_summary || !r->format->human_readable))
		return dw_misuse(err, "--details is for the view summary, as a table");
	if (o->order && strcmp(o->order, "time") != 0 && strcmp(o->order, "first-call") != 0)
		return dw_misuse(err, "--order takes time or first-call, not '%s'", o->order);
	if (o->order && (r->view != &dw_view_calltree || o->sort || o->hot_path))
		return dw_misuse(err, "--order is for the view calltree, without --sort and "
				      "--hot-path");
	return 0;
}

/* What only some views have, and its defaults: noise is taken out for human-readable formats alone.
 */
static void set_pruning(struct dw_report *r)
{
	const struct dw_report_options *o = r->options;
	const bool takes = has_noise(r->view), has = has_parts(r->view);

	r->request.collapsed = has && r->format->human_readable && !o->no_fold;
	r->request.by_first_call = o->order && !strcmp(o->order, "first-call");
	r->request.hot_path = o->hot_path;
	r->request.pruning.fold = (takes && o->fold) ||
				  (r->format->human_readable && !((takes || has) && o->no_fold));
	r->request.pruning.trim_pct =
		takes_trim(r->view) && o->trim_pct >= 0 ? o->trim_pct : trim_default(r);
}

/* How @view splits its rows, as --by says. 0 or DWELL_ERR_USAGE. */
static int read_by(const struct dw_view_ops *view, const char *by, enum dw_by *ret,
		   struct dw_error *err)
{
	*ret = DWELL_BY_NONE;
	return by ? dw_view_read_by(view, "--by", by, ret, err) : 0;
}

/* Whether the view tells nothing of a part of the time: when files were read is not known. */
static bool is_whole_only(const struct dw_report *r)
{
	const struct dw_filter_options *f = &r->options->filter;

	return r->view == &dw_view_file_io && (f->from_ns || f->to_ns);
}

static int read_format(struct dw_report *r, const char *name, struct dw_error *err)
{
	r->format = dw_format_find(name);
	return r->format ? 0 : unknown_format(name, err);
}

static int check_intervals(const struct dw_report_options *o, struct dw_error *err)
{
	if (!o->intervals || !strcmp(o->intervals, "event") || !strcmp(o->intervals, "probe"))
		return 0;
	return dw_misuse(err, "unknown rule '%s'; intervals end at every event or at a probe",
			 o->intervals);
}

int dw_report_read_words(struct dw_report *r, char **operands, struct dw_error *err)
{
	const struct dw_report_options *o = r->options;

	if (!*operands)
		return dw_misuse(err, "which session? (a FILE.dwell)");
	r->path = *operands;
	if (read_format(r, o->format ? o->format : dw_formats[0]->name, err) ||
	    read_view(r, operands + 1, err) || read_by(r->view, o->by, &r->by, err))
		return DWELL_ERR_USAGE;
	if (is_whole_only(r))
		return dw_misuse(err, "--from and --until are not for the view file-io: "
				      "when files were read is not known");
	if (check_intervals(o, err) || check_pruning(r, err))
		return DWELL_ERR_USAGE;
	set_pruning(r);
	return 0;
}

int dw_report_read_words_of_all(struct dw_report *r, char **operands, struct dw_error *err)
{
	const struct dw_report_options *o = r->options;
	const struct {
		const char *name;
		bool is_given;
	} of_one[] = {
		{"columns", o->columns},   {"sort", o->sort},	{"root", o->root},
		{"hot-path", o->hot_path}, {"order", o->order}, {"details", o->details},
	};
	enum dw_by by;

	if (!*operands)
		return dw_misuse(err, "which session? (a FILE.dwell)");
	r->path = *operands;
	if (operands[1])
		return dw_misuse(err, "--all writes every view: what is '%s' for?", operands[1]);
	if (!o->output)
		return dw_misuse(err, "--all needs a folder to write to (-o FOLDER)");
	for (size_t i = 0; i < sizeof of_one / sizeof *of_one; i++)
		if (of_one[i].is_given)
			return dw_misuse(err, "--%s is for one view, and --all writes all of them",
					 of_one[i].name);
	if (read_format(r, o->format ? o->format : dw_format_csv.name, err) ||
	    read_by(&dw_view_functions, o->by, &by, err))
		return DWELL_ERR_USAGE;
	return check_intervals(o, err);
}

bool dw_report_choose_view(struct dw_report *r, const struct dw_view_ops *view)
{
	r->view = view;
	r->request = (struct dw_view_request){0};
	if (read_by(view, view->splits ? r->options->by : NULL, &r->by, NULL))
		return false;
	set_pruning(r);
	return view->function != DWELL_FUNCTION_MUST && !is_whole_only(r);
}
