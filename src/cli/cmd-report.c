/*
 * dwell report: one view of a session in one format, or all of them in a folder.
 *
 * The user's words (view, format) are checked before the session is read, so that a slip costs no
 * time and is told apart (exit 2) from bad input (exit 1). Columns depend on the session's method.
 */
#include "analysis/filter.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/process-setup.h"
#include "cli/command.h"
#include "cli/hints.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "record/finish.h"
#include "session/read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FIELD(name) offsetof(struct dw_report_options, name)

static const struct dw_option table[] = {
	{"format", 'f', "FORMAT", dw_option_text, FIELD(format),
	 "table (default), csv, json or xml"},
	{"output", 'o', "FILE", dw_option_text, FIELD(output), "write to FILE instead of stdout"},
	{"all", 0, NULL, dw_option_flag, FIELD(all),
	 "write every view that has rows, as a file each in the folder -o (csv, json, xml)"},
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
	 "hide what is below PCT percent (tables of calltree, allocations: 1)"},
	{"fold", 0, NULL, dw_option_flag, FIELD(fold),
	 "calltree, allocations: join chains of calls (table: on)"},
	{"no-fold", 0, NULL, dw_option_flag, FIELD(no_fold),
	 "calltree, allocations: a row for every call; modules, file-io: their functions, too"},
	{NULL},
};

/* Write to where it should go. A reader that has seen enough is no failure. */
static int write_rows(struct dw_report *r, const struct dw_report_rows *rows, struct dw_error *err)
{
	struct dw_terminal terminal;
	struct dw_out out;
	int rc = dw_terminal_check(r->options->output, r->path, err), closed;

	if (!rc)
		rc = dw_terminal_open(&terminal, r->options->output, r->format->human_readable,
				      err);
	if (rc)
		return rc;
	dw_out_init_fd(&out, terminal.fd);
	dw_report_write(r, rows, terminal.width, terminal.colour, &out);
	rc = dw_out_close(&out);
	closed = dw_terminal_close(&terminal);
	rc = rc ? rc : closed;
	if (rc && rc != -EPIPE)
		return dw_error_set_errno(err, -rc, "cannot write the report");
	return 0;
}

static int show(struct dw_report *r, struct dw_profile *p, struct dw_filter *filter,
		struct dw_error *err)
{
	struct dw_report_rows rows;
	int rc = dw_report_open(r, p, filter, &rows, err);

	if (!rc)
		rc = write_rows(r, &rows, err);
	if (!rc) {
		dw_hint_empty(p, filter, &rows.totals);
		dw_report_tell_missing(&rows);
	}
	dw_report_rows_release(&rows);
	return rc;
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
static int resolve_and_show(struct dw_report *r, struct dw_profile *p, struct dw_error *err)
{
	const struct dw_report_options *o = r->options;
	struct dw_filter_owned filter;
	int rc;

	if (!dw_report_find_columns(r, p))
		return unsuited_view(r->view, err);
	if (dw_report_check_method(r, p, err) || dw_report_read_columns(r, p, err))
		return DWELL_ERR_USAGE;
	rc = dw_filter_options_resolve(&o->filter, p, &filter, err);
	if (!rc && r->function)
		rc = find_function(p, r->function, &r->request.function, err);
	if (!rc && o->root)
		rc = find_function(p, o->root, &filter.filter.focus.root, err);
	if (!rc)
		rc = dw_my_code_apply(&o->my_code, dw_report_folds_by_default(r, p),
				      r->request.function, p, &r->request.folded, err);
	rc = rc ? rc : dw_filter_options_save(&o->filter, err);
	if (!rc)
		rc = show(r, p, &filter.filter, err);
	dw_filter_release(&filter);
	return rc;
}

/* Write all views, and say what was written. */
static int write_all(struct dw_report *r, struct dw_profile *p, struct dw_error *err)
{
	dw_auto(dw_buf) written = DW_BUF_INIT;
	int rc = dw_report_check_method(r, p, err);

	rc = rc ? rc : dw_report_write_all(r, p, &written, err);
	rc = rc ? rc : dw_filter_options_save(&r->options->filter, err);
	if (!rc)
		printf("wrote to '%s' as %s:%s\n", r->options->output, r->format->name,
		       dw_buf_str(&written));
	return rc;
}

static int report(const struct dw_command *self, const struct dw_report_options *o, char **operands)
{
	struct dw_report r = {.options = o};
	struct dw_error err = DW_ERROR_INIT;
	struct dw_profile p = DW_PROFILE_INIT;
	int exit_code = DWELL_EXIT_OK;
	int rc = o->all ? dw_report_read_words_of_all(&r, operands, &err)
			: dw_report_read_words(&r, operands, &err);

	if (!rc) {
		struct dw_session_range range = {o->filter.from_ns, o->filter.to_ns};

		rc = dw_open_profile(r.path, &range, &p, &err);
	}
	if (!rc)
		rc = o->all ? write_all(&r, &p, &err) : resolve_and_show(&r, &p, &err);
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
	struct dw_report_options o = {.trim_pct = DWELL_TRIM_DEFAULT};
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
