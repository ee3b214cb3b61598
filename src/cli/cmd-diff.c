/*
 * dwell diff: what has changed between two builds of a program, or two of its runs.
 *
 * Sessions are loaded one after the other, so that memory is that of one, and of the rows.
 * Conditions may be about other views than the one that is shown; each view is a comparison of its
 * own.
 */
#include "analysis/filter.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/process-setup.h"
#include "cli/command.h"
#include "cli/diff-across.h"
#include "cli/diff-runs.h"
#include "cli/hints.h"
#include "cli/terminal.h"
#include "compare/columns.h"
#include "compare/condition.h"
#include "format/diff.h"
#include "format/text.h"
#include "record/finish.h"
#include "session/read.h"

#include <errno.h>
#include <string.h>

enum { CONDITIONS_MAX = DWELL_WANTED_MAX, RUNS_DEFAULT = 8, RELEVANT_DEFAULT = -1 };

#define RELEVANT_PCT 1.

struct diff_options {
	const char *format, *sort, *output, *method, *keep;
	struct dw_option_list base, now, commands, conditions;
	struct dw_filter_options filter;
	struct dw_my_code_options my_code;
	uint64_t top, runs;
	double relevant_pct;
	bool all;
};

struct condition {
	struct dw_condition condition;
	size_t comparison; /* that it is about: index */
	struct dw_condition_finding finding;
};

struct diff {
	const struct diff_options *options;
	const struct dw_diff_format *format;
	const char *function;				      /* of the view, NULL = none */
	struct dw_comparison comparisons[1 + CONDITIONS_MAX]; /* the first one is shown */
	size_t comparisons_n;
	struct condition conditions[CONDITIONS_MAX];
	size_t conditions_n;
	struct dw_diff_runs recorded;
	bool is_resolved; /* columns are found */
};

#define FIELD(name) offsetof(struct diff_options, name)

static const struct dw_option table[] = {
	{"base", 0, "FILE", dw_option_list, FIELD(base),
	 "a session of what it was; several are runs of the same"},
	{"new", 0, "FILE", dw_option_list, FIELD(now), "likewise of what it is now"},
	{"run", 0, "COMMAND", dw_option_list, FIELD(commands),
	 "record this command, first that of the base, then the new one"},
	{"runs", 'n', "N", dw_option_count, FIELD(runs), "record each so often (8)"},
	{"method", 0, "METHOD", dw_option_text, FIELD(method),
	 "record by sample, instrument (default) or memory"},
	{"keep", 0, "FOLDER", dw_option_text, FIELD(keep), "leave what was recorded here"},
	{"fail-if", 0, "CONDITION", dw_option_list, FIELD(conditions),
	 "exit with 3 if so: 'calls > 0 %', 'functions:parse*:application_inclusive > 5 %'"},
	{"least-change", 0, "PCT", dw_option_percent, FIELD(relevant_pct),
	 "smaller differences do not matter, but of exact counts (1)"},
	{"all", 0, NULL, dw_option_flag, FIELD(all), "show rows that have not changed, too"},
	{"format", 'f', "FORMAT", dw_option_text, FIELD(format),
	 "table (default), csv, json or markdown"},
	{"output", 'o', "FILE", dw_option_text, FIELD(output), "write to FILE instead of stdout"},
	{"sort", 's', "COLUMN", dw_option_text, FIELD(sort), "compare by this column of the view"},
	{"top", 0, "N", dw_option_count, FIELD(top), "show the first N rows only"},
	DW_FILTER_OPTIONS(FIELD(filter)),
	DW_MY_CODE_OPTIONS(FIELD(my_code)),
	{NULL},
};

/* Views whose rows are about what other sessions have, too. */
static const struct dw_view_ops *const views[] = {
	&dw_view_functions, &dw_view_calltree,	  &dw_view_callers,
	&dw_view_modules,   &dw_view_lines,	  &dw_view_waits,
	&dw_view_file_io,   &dw_view_allocations, &dw_view_lifetime,
};

enum { VIEWS_N = sizeof views / sizeof *views };

static bool is_comparable(const struct dw_view_ops *view)
{
	for (size_t i = 0; i < VIEWS_N; i++)
		if (views[i] == view)
			return true;
	return false;
}

static int unknown_view(const char *name, struct dw_error *err)
{
	struct dw_candidates candidates = DW_CANDIDATES_INIT;

	if (dw_view_find(name))
		return dw_misuse(err, "the rows of the view %s cannot be compared", name);
	dw_candidates_begin(&candidates, name, strlen(name));
	for (size_t i = 0; i < VIEWS_N; i++)
		dw_candidates_offer(&candidates, views[i]->name);
	return dw_candidates_unknown(&candidates, "view", err);
}

static int unknown_format(const char *name, struct dw_error *err)
{
	struct dw_candidates candidates = DW_CANDIDATES_INIT;

	dw_candidates_begin(&candidates, name, strlen(name));
	for (const struct dw_diff_format *f = dw_diff_formats; f->name; f++)
		dw_candidates_offer(&candidates, f->name);
	return dw_candidates_unknown(&candidates, "format", err);
}

static int read_view(struct diff *d, char **operands, struct dw_error *err)
{
	const struct dw_view_ops *view = *operands ? dw_view_find(*operands) : &dw_view_functions;
	struct dw_comparison *c = &d->comparisons[0];

	if (!view || !is_comparable(view))
		return unknown_view(*operands, err);
	operands += *operands != NULL;
	if (view->function == DWELL_FUNCTION_MUST && !*operands)
		return dw_misuse(err, "the view %s needs a function", view->name);
	if (view->function && !view->with_function && *operands)
		d->function = *operands++;
	if (*operands)
		return dw_misuse(err, "what is '%s' for?", *operands);
	c->view = view;
	d->comparisons_n = 1;
	return 0;
}

static int read_condition(struct diff *d, const char *text, struct dw_error *err)
{
	struct condition *g = &d->conditions[d->conditions_n];
	size_t i = 0;
	int rc;

	if (d->conditions_n == CONDITIONS_MAX)
		return dw_misuse(err, "more than %d --fail-if", CONDITIONS_MAX);
	d->conditions_n++;
	rc = dw_condition_parse(&g->condition, text, err);
	if (rc || !g->condition.view)
		return rc;
	if (!is_comparable(g->condition.view) || g->condition.view->function == DWELL_FUNCTION_MUST)
		return dw_misuse(err,
				 "--fail-if '%s': there is nothing to hold rows of the view %s "
				 "against",
				 text, g->condition.view->name);
	while (i < d->comparisons_n && d->comparisons[i].view != g->condition.view)
		i++;
	g->comparison = i;
	if (i == d->comparisons_n)
		d->comparisons[d->comparisons_n++].view = g->condition.view;
	return 0;
}

static int read_recording(const struct diff_options *o, struct dw_error *err)
{
	static const char *const methods[] = {"sample", "instrument", "memory"};

	if (!o->commands.n && (o->method || o->keep || o->runs))
		return dw_misuse(err, "--runs, --method and --keep are for --run");
	if (o->commands.n && o->commands.n != 2)
		return dw_misuse(err,
				 "--run is to be given twice: the base's command, the new one");
	if (o->commands.n && (o->base.n || o->now.n))
		return dw_misuse(err, "either --run or sessions");
	if (o->runs > DWELL_RUNS_MAX)
		return dw_misuse(err, "--runs takes %d at most", DWELL_RUNS_MAX);
	if (o->method && dw_option_index(o->method, methods, 3) < 0)
		return dw_misuse(err, "--method takes sample, instrument or memory, not '%s'",
				 o->method);
	return 0;
}

/* Check all words. 0 or DWELL_ERR_USAGE. *@operands is moved behind the sessions. */
static int read_words(struct diff *d, char ***operands, struct dw_error *err)
{
	const struct diff_options *o = d->options;
	int rc = read_recording(o, err);

	d->format = dw_diff_format_find(o->format ? o->format : dw_diff_formats[0].name);
	if (rc)
		return rc;
	if (!d->format)
		return unknown_format(o->format, err);
	if (!o->base.n != !o->now.n)
		return dw_misuse(err, "--base and --new go together");
	if (!o->commands.n && !o->base.n) {
		if (!**operands || !(*operands)[1])
			return dw_misuse(err, "which two sessions? (BASE.dwell NEW.dwell)");
		*operands += 2;
	}
	rc = read_view(d, *operands, err);
	for (size_t i = 0; i < o->conditions.n && !rc; i++)
		rc = read_condition(d, o->conditions.v[i], err);
	for (size_t i = 0; i < d->comparisons_n && !rc; i++) {
		d->comparisons[i].relevant_pct =
			o->relevant_pct < 0 ? RELEVANT_PCT : o->relevant_pct;
		d->comparisons[i].all = o->all && !i;
	}
	return rc;
}

/* Find what columns mean in the first session. */
static int resolve_columns(struct diff *d, const struct dw_profile *p, struct dw_error *err)
{
	enum dw_column all[DWELL_COLUMNS_N];
	const char *sort = d->options->sort;

	d->is_resolved = true;
	for (size_t i = 0; i < d->comparisons_n; i++)
		if (!dw_view_suits(d->comparisons[i].view, p))
			return dw_misuse(err, "the view %s shows nothing of such sessions",
					 d->comparisons[i].view->name);
	for (size_t i = 0; i < d->conditions_n; i++) {
		struct dw_comparison *c = &d->comparisons[d->conditions[i].comparison];

		int rc = dw_condition_resolve(&d->conditions[i].condition, c->view, p, err);

		if (rc)
			return rc;
		dw_comparison_want(c, d->conditions[i].condition.column);
	}
	if (!sort)
		return 0;
	dw_view_columns(d->comparisons[0].view, p, DWELL_BY_NONE, false, all);
	d->comparisons[0].sort = dw_column_find(all, sort, strlen(sort));
	if (!d->comparisons[0].sort || !dw_compared_column_is_total(d->comparisons[0].sort))
		return dw_misuse(err, "the view %s has no column of sums called '%s'",
				 d->comparisons[0].view->name, sort);
	return 0;
}

static int add_to(struct diff *d, size_t i, const struct dw_compared_session *session,
		  struct dw_filter *filter, struct dw_error *err)
{
	struct dw_comparison *c = &d->comparisons[i];
	struct dw_compared_session mine = *session;
	struct dw_totals totals = {0};
	int rc = 0;

	mine.totals = &totals;
	mine.filter = filter;
	if (!i && d->function)
		rc = dw_match_function(session->profile, d->function, &mine.function, err);
	filter->focus.function = mine.function;
	filter->latency = dw_column_info(c->sort)->measure == DWELL_MEASURE_LATENCY;
	for (size_t k = 0; k < c->wanted_n; k++)
		filter->latency |= dw_column_info(c->wanted[k])->measure == DWELL_MEASURE_LATENCY;
	if (!rc)
		rc = dw_totals_compute(session->profile, filter,
				       dw_comparison_parts(c, session->profile), &totals);
	if (!rc)
		rc = dw_comparison_add(c, &mine, err);
	dw_totals_release(&totals);
	return rc;
}

static int add_profile(struct diff *d, const char *name, enum dw_side side, struct dw_profile *p,
		       struct dw_error *err)
{
	const struct diff_options *o = d->options;
	struct dw_compared_session session = {.path = name, .side = side, .profile = p};
	struct dw_filter_owned filter = {0};
	size_t folded;
	int rc = d->is_resolved ? 0 : resolve_columns(d, p, err);

	if (rc)
		return rc;
	rc = dw_filter_options_resolve(&o->filter, p, &filter, err);
	if (!rc)
		rc = dw_my_code_apply(&o->my_code, false, 0, p, &folded, err);
	for (size_t i = 0; i < d->comparisons_n && !rc; i++)
		rc = add_to(d, i, &session, &filter.filter, err);
	dw_filter_release(&filter);
	return rc;
}

/* @name: what the session is called, its path or its command. */
static int add_session(struct diff *d, const char *path, const char *name, enum dw_side side,
		       struct dw_error *err)
{
	const struct dw_filter_options *f = &d->options->filter;
	struct dw_session_range range = {f->from_ns, f->to_ns};
	struct dw_profile p = DW_PROFILE_INIT;
	int rc = dw_terminal_check(d->options->output, path, err);

	if (!rc)
		rc = dw_open_profile(path, &range, &p, err);
	if (!rc)
		rc = add_profile(d, name, side, &p, err);
	dw_profile_release(&p);
	return rc;
}

/* Sessions are loaded as they come, so that what is wrong with the words is told after the first.
 */
static int take_recorded(void *arg, const struct dw_diff_run *run, struct dw_error *err)
{
	struct diff *d = arg;

	return add_session(d, run->path, d->options->commands.v[run->side], run->side, err);
}

static int add_recorded(struct diff *d, struct dw_error *err)
{
	const struct diff_options *o = d->options;
	struct dw_diff_recording recording = {
		.commands = {o->commands.v[0], o->commands.v[1]},
		.method = o->method ? o->method : "instrument",
		.keep = o->keep,
		.runs = o->runs ? o->runs : RUNS_DEFAULT,
		.take = take_recorded,
		.arg = d,
	};
	int rc = dw_terminal_check_writable(o->output, err);

	return rc ? rc : dw_diff_runs_record(&d->recorded, &recording, err);
}

static int add_all(struct diff *d, char **operands, struct dw_error *err)
{
	const struct diff_options *o = d->options;
	int rc = 0;

	if (o->commands.n)
		return add_recorded(d, err);
	if (!o->base.n) {
		rc = add_session(d, operands[0], operands[0], DWELL_SIDE_BASE, err);
		return rc ? rc : add_session(d, operands[1], operands[1], DWELL_SIDE_NEW, err);
	}
	for (size_t i = 0; i < o->base.n && !rc; i++)
		rc = add_session(d, o->base.v[i], o->base.v[i], DWELL_SIDE_BASE, err);
	for (size_t i = 0; i < o->now.n && !rc; i++)
		rc = add_session(d, o->now.v[i], o->now.v[i], DWELL_SIDE_NEW, err);
	return rc;
}

static int write_diff(const struct diff *d, struct dw_error *err)
{
	struct dw_diff_job job = {.comparison = &d->comparisons[0], .rows = d->options->top};
	struct dw_terminal terminal;
	struct dw_out out;
	int rc = dw_terminal_open(&terminal, d->options->output, d->format->human_readable, err);
	int closed;

	if (rc)
		return rc;
	job.width = terminal.width;
	job.colour = terminal.colour;
	dw_out_init_fd(&out, terminal.fd);
	d->format->write(&job, &out);
	rc = dw_out_close(&out);
	closed = dw_terminal_close(&terminal);
	rc = rc ? rc : closed;
	return rc && rc != -EPIPE ? dw_error_set_errno(err, -rc, "cannot write the report") : 0;
}

/* Say on stderr why a condition is met or cannot be decided. */
static void tell_condition(const struct diff *d, size_t i, const struct dw_condition_finding *f)
{
	const struct dw_comparison *c = &d->comparisons[d->conditions[i].comparison];
	enum dw_column is = d->conditions[i].condition.column;
	dw_auto(dw_buf) line = DW_BUF_INIT;
	struct dw_out out;
	size_t column = dw_compared_column_find(c, is);

	dw_buf_printf(&line, "dwell: %s: --fail-if '%s': ",
		      f->result == DWELL_IS_MET ? "regression" : "undecided",
		      d->options->conditions.v[i]);
	dw_diff_put_name(&line, c, f->row);
	dw_buf_printf(&line, ": %s ", dw_column_info(is)->title);
	dw_diff_put_amount(&line, c, column, f->base, false);
	dw_buf_puts(&line, " -> ");
	dw_diff_put_amount(&line, c, column, f->now, false);
	if (f->base > 0)
		dw_buf_printf(&line, " (%+.1f %%)", 100 * (f->now - f->base) / f->base);
	if (f->meeting > 1)
		dw_buf_printf(&line, ", and %zu more", f->meeting - 1);
	if (f->runs_wanted)
		dw_buf_printf(&line, "; it takes %zu runs a side to tell", f->runs_wanted);
	dw_out_init_fd(&out, STDERR_FILENO);
	dw_text_put(&out, dw_buf_str(&line));
	dw_out_puts(&out, "\n");
	dw_out_close(&out);
}

/* Hold the comparisons against the conditions. */
static int check_conditions(struct diff *d, struct dw_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < d->conditions_n && !rc; i++)
		rc = dw_condition_check(&d->conditions[i].condition,
					&d->comparisons[d->conditions[i].comparison],
					&d->conditions[i].finding, err);
	return rc;
}

/* Say what the conditions came to, and return the exit code for it. */
static int tell_conditions(const struct diff *d)
{
	enum dw_condition_result worst = DWELL_IS_NOT_MET;

	for (size_t i = 0; i < d->conditions_n; i++) {
		const struct dw_condition_finding *finding = &d->conditions[i].finding;

		if (finding->result)
			tell_condition(d, i, finding);
		worst = finding->result > worst ? finding->result : worst;
	}
	if (worst == DWELL_IS_MET)
		return DWELL_EXIT_REGRESSION;
	return worst == DWELL_IS_UNDECIDED ? DWELL_EXIT_UNDECIDED : DWELL_EXIT_OK;
}

/* Whether two sessions are given that are of two methods. */
static bool is_across(const struct diff_options *o, char **operands, const char *paths[2])
{
	if (o->commands.n || o->base.n > 1 || o->now.n > 1)
		return false;
	paths[0] = o->base.n ? o->base.v[0] : operands[0];
	paths[1] = o->now.n ? o->now.v[0] : operands[1];
	return dw_diff_is_across(paths);
}

/* What was asked for that has no meaning there. NULL = nothing. */
static const char *find_meaningless(const struct diff_options *o)
{
	const struct dw_filter_options *f = &o->filter;

	if (o->conditions.n)
		return "--fail-if";
	if (o->sort)
		return "--sort";
	if (o->relevant_pct >= 0)
		return "--least-change";
	if (f->processes.n || f->threads.n || f->modules.n || f->types.n || f->from_ns ||
	    f->to_ns || f->waits.is_given || f->save)
		return "a filter";
	return o->my_code.is_given || o->my_code.shows_all || o->my_code.mine.n ||
			       o->my_code.systems.n
		       ? "a choice of code"
		       : NULL;
}

static int compare_across(const struct diff *d, const char *const paths[2], struct dw_error *err)
{
	const char *meaningless = find_meaningless(d->options);
	const struct dw_diff_across across = {
		.paths = {paths[0], paths[1]},
		.view = d->comparisons[0].view->name,
		.format = d->format->name,
		.output = d->options->output,
		.rows = d->options->top,
		.all = d->options->all,
	};

	if (meaningless)
		return dw_misuse(err, "'%s' and '%s' are of two methods, and %s is for two of one",
				 paths[0], paths[1], meaningless);
	return dw_diff_across(&across, err);
}

static int compare(struct diff *d, char **operands, int *exit_code, struct dw_error *err)
{
	const char *paths[2];
	char **sessions = operands;
	int rc = read_words(d, &operands, err), checked;

	if (!rc && is_across(d->options, sessions, paths))
		return compare_across(d, paths, err);
	rc = rc ? rc : dw_filter_options_save(&d->options->filter, err);
	if (!rc)
		rc = add_all(d, sessions, err);
	for (size_t i = 0; i < d->comparisons_n && !rc; i++)
		rc = dw_comparison_finish(&d->comparisons[i], err);
	checked = rc ? rc : check_conditions(d, err);
	/* What was recorded for it is shown whatever a condition does not fit. */
	if (!rc && (!checked || d->recorded.v.n))
		rc = write_diff(d, checked ? NULL : err);
	rc = checked ? checked : rc;
	if (!rc)
		*exit_code = tell_conditions(d);
	if (rc && !err->message)
		dw_error_set(err, rc, "cannot compare: %s", dw_err_string(rc));
	return rc;
}

static int diff(const struct dw_command *self, const struct diff_options *o, char **operands)
{
	struct diff *d = calloc(1, sizeof *d);
	struct dw_error err = DW_ERROR_INIT;
	int exit_code = DWELL_EXIT_OK, rc;

	if (!d)
		return DWELL_EXIT_BAD;
	d->options = o;
	rc = compare(d, operands, &exit_code, &err);
	if (rc == DWELL_ERR_USAGE)
		exit_code = dw_command_misuse(self, &err);
	else if (rc == DWELL_ERR_INTERRUPTED)
		exit_code = 128 + d->recorded.signal_number;
	else if (rc)
		exit_code = dw_command_fail(&err, DWELL_EXIT_BAD);
	for (size_t i = 0; i < d->comparisons_n; i++)
		dw_comparison_release(&d->comparisons[i]);
	for (size_t i = 0; i < d->conditions_n; i++)
		dw_condition_release(&d->conditions[i].condition);
	dw_diff_runs_release(&d->recorded);
	free(d);
	dw_error_clear(&err);
	return exit_code;
}

static int run(const struct dw_command *self, int argc, char **argv)
{
	struct diff_options o = {.relevant_pct = RELEVANT_DEFAULT};
	int first, exit_code = dw_command_parse(self, argv, &o, &first);

	(void)argc;
	dw_large_heap();
	if (exit_code < 0)
		exit_code = diff(self, &o, argv + first);
	dw_filter_options_release(&o.filter);
	dw_my_code_options_release(&o.my_code);
	dw_vec_release(&o.base);
	dw_vec_release(&o.now);
	dw_vec_release(&o.commands);
	dw_vec_release(&o.conditions);
	return exit_code;
}

static void list_views(struct dw_out *out)
{
	dw_out_puts(out, "\nViews:\n");
	for (size_t i = 0; i < VIEWS_N; i++)
		dw_out_printf(out, "  %-26s %s\n", views[i]->name, views[i]->help);
}

const struct dw_command dw_cmd_diff = {
	.name = "diff",
	.help = "show what has changed between two sessions, or two commands",
	.synopsis = "BASE NEW [VIEW [FUNCTION]] [OPTIONS]",
	.list = list_views,
	.options = table,
	.misuse = DWELL_EXIT_USAGE,
	.run = run,
};
