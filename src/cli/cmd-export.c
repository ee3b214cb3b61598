/*
 * dwell export: a session for another viewer, in that one's format.
 *
 * As for reports, the user's words are checked before the session is read.
 */
#include "export/export.h"

#include "analysis/filter.h"
#include "base/cleanup.h"
#include "base/process-setup.h"
#include "cli/command.h"
#include "cli/hints.h"
#include "cli/page-files.h"
#include "cli/terminal.h"
#include "record/finish.h"
#include "session/read.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct export_options {
	const char *format, *output, *values;
	struct dw_filter_options filter;
};

#define PAGE	    "html"
#define FIELD(name) offsetof(struct export_options, name)

static const struct dw_option table[] = {
	{"format", 'f', "FORMAT", dw_option_text, FIELD(format),
	 "html (a page for browsers), pprof, speedscope, firefox, folded or callgrind"},
	{"to", 't', "FORMAT", dw_option_text, FIELD(format), NULL}, /* what it was called */
	{"output", 'o', "FILE", dw_option_text, FIELD(output), "write to FILE instead of stdout"},
	{"values", 0, "NAME", dw_option_text, FIELD(values),
	 "what formats with one kind of values show: samples, cpu, blocked, work; elapsed, application, calls, "
	 "blocked; alloc_objects, alloc_space, inuse_objects, inuse_space"},
	DW_FILTER_OPTIONS(FIELD(filter)),
	{NULL},
};

static int read_format(const struct export_options *o, const struct dw_export_ops **ret,
		       struct dw_error *err)
{
	struct dw_candidates candidates = DW_CANDIDATES_INIT;
	int rc;

	*ret = o->format ? dw_export_find(o->format) : NULL;
	if (*ret)
		return 0;
	dw_candidates_begin(&candidates, o->format ? o->format : "",
			    o->format ? strlen(o->format) : 0);
	dw_candidates_offer(&candidates, PAGE);
	for (const struct dw_export_ops *const *e = dw_exports; *e; e++)
		dw_candidates_offer(&candidates, (*e)->name);
	if (o->format)
		return dw_candidates_unknown(&candidates, "format", err);
	rc = dw_misuse(err, "which --format? there are%s", dw_buf_str(&candidates.list));
	dw_buf_release(&candidates.list);
	return rc;
}

/* An export must not fill a terminal with bytes. */
static int check_output(const struct export_options *o, const struct dw_export_ops *format,
			const char *path, struct dw_error *err)
{
	if (!o->output && format->binary && isatty(STDOUT_FILENO))
		return dw_misuse(err, "%s is nothing for a terminal; -o FILE writes it to a file",
				 format->name);
	return dw_terminal_check(o->output, path, err);
}

/* Close both. A reader that has seen enough is no failure. */
static int close_output(struct dw_terminal *terminal, struct dw_out *out, struct dw_error *err)
{
	int failed = dw_out_close(out), closed = dw_terminal_close(terminal);

	failed = failed ? failed : closed;
	if (failed && failed != -EPIPE)
		return dw_error_set_errno(err, -failed, "cannot write the export");
	return 0;
}

/* Write to where it should go. */
static int write_out(const struct export_options *o, const struct dw_export_ops *format,
		     const struct dw_profile *p, const struct dw_filter *filter,
		     struct dw_error *err)
{
	struct dw_terminal terminal;
	struct dw_out out;
	int kind = o->values ? dw_export_find_kind(p, filter, o->values, err) : 0;
	int rc = kind < 0 ? kind : dw_terminal_open(&terminal, o->output, false, err), failed;

	if (rc)
		return rc;
	dw_out_init_fd(&out, terminal.fd);
	rc = dw_export_write(format, p, filter, (unsigned)kind, &out);
	if (rc)
		dw_error_set(err, rc, "cannot export: %s", dw_err_string(rc));
	failed = close_output(&terminal, &out, rc ? NULL : err);
	return rc ? rc : failed;
}

static int resolve_and_write(const struct export_options *o, const struct dw_export_ops *format,
			     const struct dw_profile *p, struct dw_error *err)
{
	struct dw_filter_owned filter;
	int rc;

	rc = dw_filter_options_resolve(&o->filter, p, &filter, err);
	rc = rc ? rc : dw_filter_options_save(&o->filter, err);
	if (!rc)
		rc = write_out(o, format, p, &filter.filter, err);
	if (!rc)
		rc = dw_hint_empty_export(p, &filter.filter);
	dw_filter_release(&filter);
	return rc;
}

static bool is_filtered(const struct dw_filter_options *o)
{
	return o->processes.n || o->threads.n || o->modules.n || o->types.n || o->from_ns ||
	       o->to_ns || o->waits.is_given || o->save;
}

/* The page, which has all of the session and filters by itself. */
static int export_page(const struct export_options *o, const char *path, struct dw_error *err)
{
	dw_auto(dw_buf) page = DW_BUF_INIT;
	struct dw_terminal terminal;
	struct dw_out out;
	int rc;

	if (o->values || is_filtered(&o->filter))
		return dw_misuse(err, "a page has all of a session: it filters by itself");
	if (!o->output && isatty(STDOUT_FILENO))
		return dw_misuse(err,
				 "a page is nothing for a terminal; -o FILE writes it to a file");
	rc = dw_terminal_check(o->output, path, err);
	rc = rc ? rc : dw_page_make(path, &page, err);
	rc = rc ? rc : dw_terminal_open(&terminal, o->output, false, err);
	if (rc)
		return rc;
	dw_out_init_fd(&out, terminal.fd);
	dw_out_write(&out, dw_buf_str(&page), page.len);
	return close_output(&terminal, &out, err);
}

static bool is_page(const struct export_options *o)
{
	return o->format && !strcmp(o->format, PAGE);
}

static int export_profile(const struct export_options *o, const char *path, struct dw_profile *p,
			  struct dw_error *err)
{
	struct dw_session_range range = {o->filter.from_ns, o->filter.to_ns};
	const struct dw_export_ops *format;
	int rc = read_format(o, &format, err);

	rc = rc ? rc : check_output(o, format, path, err);
	rc = rc ? rc : dw_open_profile(path, &range, p, err);
	return rc ? rc : resolve_and_write(o, format, p, err);
}

static int export(const struct dw_command *self, const struct export_options *o, char **operands)
{
	struct dw_error err = DW_ERROR_INIT;
	struct dw_profile p = DW_PROFILE_INIT;
	int rc = 0, exit_code = DWELL_EXIT_OK;

	if (!*operands)
		rc = dw_misuse(&err, "which session? (a FILE.dwell)");
	else if (operands[1])
		rc = dw_misuse(&err, "what is '%s' for?", operands[1]);
	else if (is_page(o))
		rc = export_page(o, *operands, &err);
	else
		rc = export_profile(o, *operands, &p, &err);
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
	struct export_options o = {0};
	int first, exit_code = dw_command_parse(self, argv, &o, &first);

	(void)argc;
	dw_large_heap();
	if (exit_code < 0)
		exit_code = export(self, &o, argv + first);
	dw_filter_options_release(&o.filter);
	return exit_code;
}

static void list_formats(struct dw_out *out)
{
	dw_out_puts(out, "\nFormats:\n");
	dw_out_printf(out, "  %-26s %s\n", PAGE, "one page for browsers, with all of the session");
	for (const struct dw_export_ops *const *e = dw_exports; *e; e++)
		dw_out_printf(out, "  %-26s %s\n", (*e)->name, (*e)->help);
}

const struct dw_command dw_cmd_export = {
	.name = "export",
	.help = "write a recorded session in the format of another viewer",
	.synopsis = "FILE --format FORMAT [OPTIONS]",
	.list = list_formats,
	.options = table,
	.misuse = DWELL_EXIT_USAGE,
	.run = run,
};
