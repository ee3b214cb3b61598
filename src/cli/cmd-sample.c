/*
 * `dwell sample`: record a command by sampling, then say in a screenful where its time went.
 *
 * Exit status: the command's own; 128 + N when signal N ended it; 126 and 127 as env(1) when it
 * cannot be executed; 125 when dwell itself failed.
 */
#include "cli/command.h"

#include "base/cleanup.h"
#include "cli/cache-folder.h"
#include "cli/exit-status.h"
#include "cli/progress.h"
#include "cli/recorded.h"
#include "record/record.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define NO_DURATION UINT64_MAX /* none was asked for */

enum {
	DEFAULT_HZ = 1000,
	MAX_HZ = 100000,
	MAX_STACK_BYTES = 65312, /* a perf record's size has 16 bits */
};

struct cmd_sample {
	uint64_t frequency_hz;
	const char *output;
	uint64_t duration_ns;
	uint64_t stack_bytes;
	bool no_code;
	bool wait_all;
	bool quiet;
};

#define AT(field) offsetof(struct cmd_sample, field)

static const struct dw_option options[] = {
	{"frequency", 'F', "HZ", dw_option_count, AT(frequency_hz),
	 "samples per second of CPU time (1000)"},
	{"output", 'o', "FILE", dw_option_text, AT(output), "session file (COMMAND.dwell)"},
	{"duration", 0, "TIME", dw_option_time_ns, AT(duration_ns),
	 "stop recording after TIME; the command runs on"},
	{"stack-bytes", 0, "N", dw_option_count, AT(stack_bytes),
	 "bytes of stack copied with each sample"},
	{"no-code", 0, NULL, dw_option_flag, AT(no_code),
	 "leave the functions' machine code out of the session"},
	{"wait-all", 0, NULL, dw_option_flag, AT(wait_all),
	 "record until all descendants have ended"},
	{"quiet", 'q', NULL, dw_option_flag, AT(quiet), "no progress and no summary"},
	{0},
};

static int check(const struct dw_command *self, const struct cmd_sample *c, bool has_command)
{
	struct dw_error err = DW_ERROR_INIT;
	int code = 0;

	if (!has_command)
		dw_error_set(&err, DWELL_ERR_USAGE, "no command to run");
	else if (!c->frequency_hz || c->frequency_hz > MAX_HZ)
		dw_error_set(&err, DWELL_ERR_USAGE, "--frequency takes 1 to %d", MAX_HZ);
	else if (!c->duration_ns)
		dw_error_set(&err, DWELL_ERR_USAGE, "--duration takes more than 0");
	else if (c->stack_bytes > MAX_STACK_BYTES || c->stack_bytes % 8)
		dw_error_set(&err, DWELL_ERR_USAGE, "--stack-bytes takes a multiple of 8 up to %d",
			     MAX_STACK_BYTES);
	if (err.code)
		code = dw_command_misuse(self, &err);
	dw_error_clear(&err);
	return code;
}

static int record(struct cmd_sample *c, char **command)
{
	dw_auto_free char *named = c->output ? NULL : dw_recorded_path(command[0]);
	dw_auto_free char *cache = dw_cache_folder();
	const char *output = c->output ? c->output : named;
	struct dw_progress_line line = {0};
	struct dw_record_options o = {
		.argv = command,
		.backend = &dw_backend_perf,
		.output = output,
		.cache_dir = cache,
		.duration_ns = c->duration_ns == NO_DURATION ? 0 : c->duration_ns,
		.frequency_hz = (uint32_t)c->frequency_hz,
		.stack_bytes = (uint32_t)c->stack_bytes,
		.wait_all = c->wait_all,
		.without_code = c->no_code,
		.progress = !c->quiet && dw_progress_wanted() ? dw_progress_show : NULL,
		.progress_ctx = &line,
	};
	struct dw_record_result result;
	struct dw_error err = DW_ERROR_INIT;
	int rc;

	if (!output)
		return DWELL_EXIT_FAILED;
	rc = dw_record(&o, &result, &err);
	signal(SIGPIPE, SIG_IGN);
	dw_progress_clear(&line);
	if (rc)
		dw_recorded_failure(&err, &result, output);
	else if (!c->quiet)
		dw_recorded_summary(output);
	dw_error_clear(&err);
	return dw_exit_status(&result, rc);
}

static int run(const struct dw_command *self, int argc, char **argv)
{
	struct cmd_sample c = {.frequency_hz = DEFAULT_HZ, .duration_ns = NO_DURATION};
	int first, code = dw_command_parse(self, argv, &c, &first);

	if (code >= 0)
		return code;
	code = check(self, &c, first < argc);
	return code ? code : record(&c, argv + first);
}

const struct dw_command dw_cmd_sample = {
	.name = "sample",
	.help = "run a command and record where the processor is, 1,000 times a second",
	.synopsis = "[options] [--] COMMAND [ARG ...]",
	.options = options,
	.leading = true,
	.misuse = DWELL_EXIT_FAILED,
	.run = run,
};
