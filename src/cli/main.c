/*
 * dwell: finds the command in a table and runs it.
 *
 * The signals of failing writes are ignored here, for all commands; a target gets them as dwell was
 * started with them.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/out.h"
#include "base/process-setup.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "format/text.h"
#include "view/view.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct dw_command *const commands[] = {
	&dw_cmd_sample, &dw_cmd_instrument, &dw_cmd_memory, &dw_cmd_read,   &dw_cmd_view,
	&dw_cmd_report, &dw_cmd_diff,	    &dw_cmd_merge,  &dw_cmd_export, &dw_cmd_import,
	&dw_cmd_live,	&dw_cmd_recover,    &dw_cmd_doctor, NULL,
};

static const struct dw_command *find_command(const char *name)
{
	const struct dw_command *const *c = commands;

	while (*c && strcmp((*c)->name, name))
		c++;
	return *c;
}

static void print_help(int fd)
{
	struct dw_out out;

	dw_out_init_fd(&out, fd);
	dw_out_puts(&out, "dwell finds out where a program spends its time, without a rebuild.\n\n"
			  "Commands:\n");
	for (const struct dw_command *const *c = commands; *c; c++)
		dw_out_printf(&out, "  %-12s %s\n", (*c)->name, (*c)->help);
	dw_out_printf(&out, "  %-12s %s\n  %-12s %s\n\n", "help",
		      "show this, or the help of a command", "version",
		      "say which version this is (--version)");
	dw_out_puts(&out, "'dwell FILE' is 'dwell read FILE'; 'dwell help COMMAND' says more.\n");
	dw_out_close(&out);
}

static int unknown_command(const char *name)
{
	dw_auto(dw_buf) hint = DW_BUF_INIT;
	struct dw_suggestion nearest;
	struct dw_out out;

	dw_suggestion_begin(&nearest, name, strlen(name));
	dw_out_init_fd(&out, STDERR_FILENO);
	dw_out_puts(&out, "dwell: unknown command '");
	dw_text_put(&out, name);
	for (const struct dw_command *const *c = commands; *c; c++)
		dw_suggestion_offer(&nearest, (*c)->name);
	dw_suggestion_offer(&nearest, "help");
	dw_suggestion_offer(&nearest, "version");
	if (dw_view_find(name))
		dw_buf_printf(&hint, ", which is a view: dwell report FILE %s", name);
	else
		dw_suggestion_put(&nearest, "dwell ", &hint);
	dw_out_printf(&out, "'%s; there is", dw_buf_str(&hint));
	for (const struct dw_command *const *c = commands; *c; c++)
		dw_out_printf(&out, " %s,", (*c)->name);
	dw_out_puts(&out, " help, version\n");
	dw_out_close(&out);
	return DWELL_EXIT_USAGE;
}

/* Whether @word means a file and no command, there or not. */
static bool is_file(const char *word)
{
	return *word != '-' && (strpbrk(word, "./") || !access(word, F_OK));
}

static int run_help(int argc, char **argv)
{
	const struct dw_command *c = argc > 0 ? find_command(argv[0]) : NULL;

	if (argc > 0 && !c && strcmp(argv[0], "help") && strcmp(argv[0], "version"))
		return unknown_command(argv[0]);
	if (c)
		dw_command_help(c);
	else
		print_help(STDOUT_FILENO);
	return DWELL_EXIT_OK;
}

static void print_warning(enum dw_log_level level, const char *domain, const char *message)
{
	struct dw_out out;

	if (level != DWELL_LOG_WARN)
		return;
	dw_out_init_fd(&out, STDERR_FILENO);
	dw_out_printf(&out, "dwell: %s: ", domain);
	dw_text_put(&out, message);
	dw_out_puts(&out, "\n");
	dw_out_close(&out);
}

int main(int argc, char **argv)
{
	const struct dw_command *c;

	dw_dispositions_take();
	dw_log_set(print_warning);
	if (argc < 2) {
		print_help(STDERR_FILENO);
		return DWELL_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
		puts("dwell " DWELL_VERSION);
		return DWELL_EXIT_OK;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return run_help(argc - 2, argv + 2);
	c = find_command(argv[1]);
	if (c)
		return c->run(c, argc - 1, argv + 1);
	/* A command that is left out; argv[0] is the name that it goes by. */
	if (is_file(argv[1]))
		return dw_cmd_read.run(&dw_cmd_read, argc, argv);
	return unknown_command(argv[1]);
}
