/*
 * `dwell recover`: finish the session of a collector that died. It is the ordinary finishing, with
 * the modules' files found again.
 */
#include "cli/command.h"

#include "base/cleanup.h"
#include "collect/region/folder.h"
#include "record/finish.h"
#include "session/write.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct cmd_recover {
	const char *output;
	bool no_code, source;
	struct dw_debuginfod_choice debuginfod;
};

#define AT(field) offsetof(struct cmd_recover, field)

static const struct dw_option options[] = {
	{"output", 'o', "FILE", dw_option_text, AT(output),
	 "session file (the name without .partial)"},
	{"source", 0, NULL, dw_option_flag, AT(source),
	 "put the text of source files into the session, up to 16 MB"},
	DW_DEBUGINFOD_OPTIONS(AT(debuginfod)),
	{"no-code", 0, NULL, dw_option_flag, AT(no_code),
	 "leave the functions' machine code out of the session"},
	{0},
};

/* Remove what collectors that died have left beside their sessions' files. */
static void sweep(void)
{
	dw_region_folder_sweep("/dev/shm");
	dw_region_folder_sweep(".");
}

/* @partial without ".partial", or with ".dwell" behind it when it is called otherwise. NULL without
 * memory. */
static char *default_output(const char *partial)
{
	static const char suffix[] = ".partial";
	size_t n = strlen(partial), m = sizeof suffix - 1;
	char *path;

	if (n > m && !strcmp(partial + n - m, suffix))
		return strndup(partial, n - m);
	return asprintf(&path, "%s.dwell", partial) < 0 ? NULL : path;
}

static int recover(const struct cmd_recover *c, const char *partial)
{
	dw_auto_free char *named = c->output ? NULL : default_output(partial);
	struct dw_finish_options o = {
		.partial = partial,
		.path = c->output ? c->output : named,
		.without_code = c->no_code,
		.with_source = c->source,
		.debuginfod_ms = dw_debuginfod_choice_ms(&c->debuginfod),
	};
	struct dw_error err = DW_ERROR_INIT;
	int rc, code = DWELL_EXIT_OK;

	if (!o.path)
		rc = dw_error_set(&err, -ENOMEM, "no memory");
	else
		rc = dw_session_check_target(o.path, &err);
	if (!rc)
		rc = dw_finish(&o, &err);
	if (rc)
		code = dw_command_fail(&err, DWELL_EXIT_BAD);
	else
		sweep();
	if (!rc)
		fprintf(stderr, "dwell: finished %s; next: dwell report %s\n", o.path, o.path);
	dw_error_clear(&err);
	return code;
}

static int run(const struct dw_command *self, int argc, char **argv)
{
	struct cmd_recover c = {0};
	int first, code = dw_command_parse(self, argv, &c, &first);

	if (code >= 0)
		return code;
	if (argc - first == 1)
		return recover(&c, argv[first]);
	return dw_command_wrong(self, "takes one FILE.partial");
}

const struct dw_command dw_cmd_recover = {
	.name = "recover",
	.help = "finish the session of a recording that was killed",
	.synopsis = "FILE.partial [-o FILE]",
	.options = options,
	.misuse = DWELL_EXIT_USAGE,
	.run = run,
};
