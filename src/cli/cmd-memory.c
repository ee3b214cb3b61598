/*
 * `dwell memory`: run a command and record every object that its .NET processes allocate, and the
 * generation in which each is collected.
 *
 * Exit status as with `dwell sample`.
 */
#include "cli/command.h"

#include "base/cleanup.h"
#include "cli/recording.h"
#include "record/record.h"

#include <errno.h>
#include <stddef.h>

#define AGENT	    "libdwell-clr.so"
#define NO_DURATION UINT64_MAX /* none was asked for */

enum { MEMORY_MB = 64, MEMORY_MB_MAX = 4096, SAMPLE_BYTES_MIN = 102400 };

struct cmd_memory {
	const char *output;
	uint64_t duration_ns;
	uint64_t memory_mb;
	uint64_t check;
	uint64_t sample_bytes;
	struct dw_debuginfod_choice debuginfod;
	bool no_lifetime;
	bool collect_at_end;
	bool no_stacks;
	bool native_frames;
	bool no_children;
	bool wait_all;
	bool quiet;
	bool oracle;
};

#define AT(field) offsetof(struct cmd_memory, field)

static const struct dw_option options[] = {
	{"output", 'o', "FILE", dw_option_text, AT(output), "session file (COMMAND.dwell)"},
	{"no-lifetime", 0, NULL, dw_option_flag, AT(no_lifetime),
	 "not when objects are collected: keeps background collections"},
	{"collect-at-end", 0, NULL, dw_option_flag, AT(collect_at_end),
	 "collect when a program ends: what is alive then is no garbage"},
	{"sample-bytes", 0, "N", dw_option_count, AT(sample_bytes),
	 "draw one object in N bytes (102400 or more) instead: estimates, cheap"},
	{"no-stacks", 0, NULL, dw_option_flag, AT(no_stacks), "only types, not who allocates"},
	{"native-frames", 0, NULL, dw_option_flag, AT(native_frames),
	 "each native function between managed ones, not one frame for them"},
	DW_DEBUGINFOD_OPTIONS(AT(debuginfod)),
	{"no-children", 0, NULL, dw_option_flag, AT(no_children),
	 "not the .NET programs that the command's .NET programs start"},
	{"duration", 0, "TIME", dw_option_time_ns, AT(duration_ns),
	 "stop recording after TIME; the command runs on"},
	{"wait-all", 0, NULL, dw_option_flag, AT(wait_all),
	 "record until all descendants have ended"},
	{"memory", 0, "MB", dw_option_count, AT(memory_mb),
	 "for the call trees of a process; then stacks are cut (64)"},
	{"quiet", 'q', NULL, dw_option_flag, AT(quiet), "no progress and no summary"},
	{"check-stacks", 0, "N", dw_option_count, AT(check), NULL},
	{"check-heap", 0, NULL, dw_option_flag, AT(oracle), NULL},
	{0},
};

static int check(const struct dw_command *self, const struct cmd_memory *c, bool has_command)
{
	if (!has_command)
		return dw_command_wrong(self, "no command to run");
	if (c->memory_mb < 4 || c->memory_mb > MEMORY_MB_MAX)
		return dw_command_wrong(self, "--memory takes 4 to %d", MEMORY_MB_MAX);
	if (c->sample_bytes && c->sample_bytes < SAMPLE_BYTES_MIN)
		return dw_command_wrong(
			self, "--sample-bytes takes %d, which is the runtime's own, or more",
			SAMPLE_BYTES_MIN);
	if (c->collect_at_end && (c->no_lifetime || c->sample_bytes))
		return dw_command_wrong(
			self,
			"--collect-at-end needs the lives of objects, which %s does not record",
			c->no_lifetime ? "--no-lifetime" : "--sample-bytes");
	if (!c->duration_ns)
		return dw_command_wrong(self, "--duration takes more than 0");
	return 0;
}

static int conclude(const struct cmd_memory *c, const char *session,
		    const struct dw_record_result *r, int rc, struct dw_error *err)
{
	if (rc)
		dw_recorded_failure(err, r, session);
	else if (!c->quiet)
		dw_recorded_summary(session);
	return rc;
}

static int record(const struct cmd_memory *c, char **command)
{
	dw_auto_free char *agent = dw_agent_file(AGENT);
	dw_auto_free char *named = c->output ? NULL : dw_recorded_path(command[0]);
	const char *output = c->output ? c->output : named;
	struct dw_progress_line line = {0};
	struct dw_record_options o = {
		.collector = &dw_collector_allocations,
		.argv = command,
		.output = output,
		.fallback = ".",
		.duration_ns = c->duration_ns == NO_DURATION ? 0 : c->duration_ns,
		.wait_all = c->wait_all,
		.debuginfod_ms = dw_debuginfod_choice_ms(&c->debuginfod),
		.progress = !c->quiet && dw_progress_wanted() ? dw_progress_show_time : NULL,
		.progress_ctx = &line,
		.allocations =
			{
				.agent = agent,
				.memory_bytes = c->memory_mb << 20,
				.sample_bytes = c->sample_bytes,
				.without_lifetime = c->no_lifetime,
				.collects_at_end = c->collect_at_end,
				.without_stacks = c->no_stacks,
				.has_natives = c->native_frames,
				.check = (uint32_t)c->check,
				.has_oracle = c->oracle,
				.without_children = c->no_children,
			},
	};
	struct dw_record_result result = {0};
	struct dw_error err = DW_ERROR_INIT;
	int rc;

	dw_crash_report(output);
	if (!output)
		rc = dw_error_set(&err, -ENOMEM, "no memory");
	else if (!agent)
		rc = dw_error_set(&err, DWELL_ERR_NOT_FOUND, AGENT " is not beside dwell");
	else
		rc = dw_record(&o, &result, &err);
	dw_progress_clear(&line);
	rc = conclude(c, output, &result, rc, &err);
	dw_error_clear(&err);
	return dw_exit_status(&result, rc);
}

static int run(const struct dw_command *self, int argc, char **argv)
{
	struct cmd_memory c = {.duration_ns = NO_DURATION, .memory_mb = MEMORY_MB};
	int first, code = dw_command_parse(self, argv, &c, &first);

	if (code >= 0)
		return code;
	code = check(self, &c, first < argc);
	return code ? code : record(&c, argv + first);
}

const struct dw_command dw_cmd_memory = {
	.name = "memory",
	.help = "run a command and record what its .NET code allocates",
	.synopsis = "[options] [--] COMMAND [ARG ...]",
	.options = options,
	.leading = true,
	.misuse = DWELL_EXIT_FAILED,
	.run = run,
};
