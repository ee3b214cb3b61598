/*
 * dwell import: a perf.data file as a session.
 */
#include "cli/command.h"

#include "base/cleanup.h"
#include "base/process-setup.h"
#include "cli/recording.h"
#include "format/text.h"
#include "record/record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cmd_import {
	const char *output, *event;
	bool no_code, quiet;
	struct dw_debuginfod_choice debuginfod;
};

#define AT(field) offsetof(struct cmd_import, field)

static const struct dw_option options[] = {
	{"output", 'o', "FILE", dw_option_text, AT(output),
	 "session file (perf.dwell, NAME.dwell)"},
	{"event", 'e', "NAME", dw_option_text, AT(event),
	 "samples of this event; all = of all (the first)"},
	DW_DEBUGINFOD_OPTIONS(AT(debuginfod)),
	{"no-code", 0, NULL, dw_option_flag, AT(no_code),
	 "leave the functions' machine code out of the session"},
	{"quiet", 'q', NULL, dw_option_flag, AT(quiet), "no summary"},
	{0},
};

/* The input's name with .dwell in place of .data. The caller frees it, NULL without memory. */
static char *name_output(const char *input)
{
	const char *slash = strrchr(input, '/'), *name = slash ? slash + 1 : input;
	size_t n = strlen(name);
	dw_auto_free char *stem = NULL;

	if (!strcmp(input, "-"))
		return dw_recorded_path("perf");
	if (n > 5 && !strcmp(name + n - 5, ".data"))
		n -= 5;
	stem = strndup(name, n);
	return stem ? dw_recorded_path(stem) : NULL;
}

/* What the summary of the session does not say. */
static void conclude(const struct dw_import_result *r)
{
	struct dw_out out;

	dw_out_init_fd(&out, STDERR_FILENO);
	if (r->is_cut)
		dw_out_puts(&out, "dwell: the file ends early; what was before is imported\n");
	if (r->is_kernel_nameless)
		dw_out_puts(
			&out,
			"dwell: the file does not tell the build-id of its kernel, so the "
			"kernel's functions have no names:\n"
			"record without -B (--no-buildid), and what perf writes to a pipe through "
			"perf inject -b\n");
	if (r->left_out) {
		dw_out_puts(&out, "dwell: left out samples of ");
		dw_text_put(&out, r->left_out);
		dw_out_puts(&out, " (--event takes one, or all)\n");
	}
	dw_out_close(&out);
}

static int import(const struct cmd_import *c, const char *input)
{
	dw_auto_free char *named = c->output ? NULL : name_output(input);
	dw_auto_free char *cache = dw_cache_folder();
	struct dw_record_options o = {
		.collector = &dw_collector_import,
		.output = c->output ? c->output : named,
		.cache_dir = cache,
		.without_code = c->no_code,
		.debuginfod_ms = dw_debuginfod_choice_ms(&c->debuginfod),
		.import = {.path = input, .event = c->event, .home = getenv("HOME")},
	};
	struct dw_record_result result = {0};
	struct dw_error err = DW_ERROR_INIT;
	int rc = o.output ? dw_record(&o, &result, &err)
			  : dw_error_set(&err, DWELL_ERR_LIMIT, "no memory");

	if (rc)
		dw_command_fail(&err, DWELL_EXIT_BAD);
	else if (!c->quiet)
		dw_recorded_summary(o.output);
	if (!rc)
		conclude(&result.import);
	free(result.import.left_out);
	dw_error_clear(&err);
	return rc ? DWELL_EXIT_BAD : DWELL_EXIT_OK;
}

static int run(const struct dw_command *self, int argc, char **argv)
{
	struct cmd_import c = {0};
	int first, code = dw_command_parse(self, argv, &c, &first);

	if (code >= 0)
		return code;
	dw_large_heap();
	if (argc - first == 1)
		return import(&c, argv[first]);
	return dw_command_wrong(self, "takes one perf.data file");
}

const struct dw_command dw_cmd_import = {
	.name = "import",
	.help = "make a session of what perf record has recorded",
	.synopsis = "perf.data [-o FILE]",
	.options = options,
	.misuse = DWELL_EXIT_USAGE,
	.run = run,
};
