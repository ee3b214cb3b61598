/*
 * `dwell sample`: record a command, or processes that run already, by sampling, then say in a
 * screenful where the time went.
 *
 * Exit status: the command's own; 128 + N when signal N ended it; 126 and 127 as env(1) when it
 * cannot be executed; 125 when dwell itself failed. Attached: 0, however the recording ended.
 */
#include "cli/command.h"

#include "base/cleanup.h"
#include "base/out.h"
#include "cli/recording.h"
#include "collect/perf/events.h"
#include "model/measure.h"
#include "record/program.h"
#include "record/record.h"
#include "target/proc.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define AGENT	    "libdwell-clr.so"
#define SAMPLER	    "libdwell-sample.so"
#define NO_DURATION UINT64_MAX /* none was asked for */
#define NO_PERIOD   UINT64_MAX
#define PMUS	    "/sys/bus/event_source/devices"

enum {
	DEFAULT_HZ = 1000,
	MAX_HZ = 100000,
	MAX_STACK_BYTES = 65312, /* a perf record's size has 16 bits */
};

enum when { AUTO, ALWAYS, NEVER };

struct cmd_sample {
	struct dw_tids pids;
	uint64_t frequency_hz;
	const char *output;
	uint64_t duration_ns;
	uint64_t stack_bytes;
	bool no_code, source;
	struct dw_debuginfod_choice debuginfod;
	enum when dotnet;
	enum dw_sampler_kind sampler;
	enum when kernel;
	const char *event;
	uint64_t period;
	bool all;
	bool off_cpu, no_off_cpu;
	bool wait_all;
	bool quiet;
};

#define AT(field) offsetof(struct cmd_sample, field)

/* "PID[,PID]..." */
static int take_pids(const char *value, void *into, struct dw_error *err)
{
	struct dw_tids *pids = into;
	const char *at = value;
	char *end;

	do {
		long pid = strtol(at, &end, 10);

		if (end == at || pid <= 0 || pid > INT_MAX || (*end && *end != ','))
			return dw_misuse(err,
					 "'%s' is not a process number, nor several with commas",
					 value);
		if (dw_vec_push(pids, (pid_t)pid))
			return -ENOMEM;
		at = end + 1;
	} while (*end);
	return 0;
}

static int take_when(const char *value, void *into, struct dw_error *err)
{
	static const char *const names[] = {
		[AUTO] = "auto", [ALWAYS] = "always", [NEVER] = "never"};
	int i = dw_option_index(value, names, sizeof names / sizeof *names);

	if (i < 0)
		return dw_misuse(err, "'%s' is not auto, always or never", value);
	*(enum when *)into = (enum when)i;
	return 0;
}

static int take_sampler(const char *value, void *into, struct dw_error *err)
{
	static const char *const names[] = {[DWELL_SAMPLER_AUTO] = "auto",
					    [DWELL_SAMPLER_PERF] = "perf",
					    [DWELL_SAMPLER_IN_PROCESS] = "in-process",
					    [DWELL_SAMPLER_PROCFS] = "procfs"};
	int i = dw_option_index(value, names, sizeof names / sizeof *names);

	if (i < 0)
		return dw_misuse(err, "'%s' is not auto, perf, in-process or procfs", value);
	*(enum dw_sampler_kind *)into = (enum dw_sampler_kind)i;
	return 0;
}

/* What samplers were called when the option was --road, which scripts may still have. */
static int take_old_sampler(const char *value, void *into, struct dw_error *err)
{
	if (!strcmp(value, "inside"))
		value = "in-process";
	else if (!strcmp(value, "outside"))
		value = "procfs";
	return take_sampler(value, into, err);
}

static const enum dw_sample_kernel kernel_when[] = {
	[AUTO] = DWELL_KERNEL_IF_ALLOWED,
	[ALWAYS] = DWELL_KERNEL_ALWAYS,
	[NEVER] = DWELL_KERNEL_NEVER,
};

static const struct dw_option options[] = {
	{"event", 'e', "EVENT", dw_option_text, AT(event),
	 "sample an event instead of time (list shows some)"},
	{"period", 'c', "N", dw_option_count, AT(period), "one sample each N events (1)"},
	{"kernel", 0, "WHEN", take_when, AT(kernel),
	 "sample the kernel, too: auto (where allowed), always, never"},
	{"all", 'a', NULL, dw_option_flag, AT(all),
	 "all processes, as long as the command runs or until Ctrl-C"},
	{"off-cpu", 0, NULL, dw_option_flag, AT(off_cpu),
	 "where threads wait: exactly, by the kernel's records of switches"},
	{"no-off-cpu", 0, NULL, dw_option_flag, AT(no_off_cpu), "not where threads wait"},
	{"pid", 'p', "PID[,PID]", take_pids, AT(pids), "attach to processes that run already"},
	{"frequency", 'F', "HZ", dw_option_count, AT(frequency_hz),
	 "samples per second of CPU time (1000)"},
	{"output", 'o', "FILE", dw_option_text, AT(output), "session file (COMMAND.dwell)"},
	{"duration", 0, "TIME", dw_option_time_ns, AT(duration_ns),
	 "stop recording after TIME; the command runs on"},
	{"stack-bytes", 0, "N", dw_option_count, AT(stack_bytes),
	 "bytes of stack copied with each sample"},
	{"source", 0, NULL, dw_option_flag, AT(source),
	 "put the text of source files into the session, up to 16 MB"},
	DW_DEBUGINFOD_OPTIONS(AT(debuginfod)),
	{"no-code", 0, NULL, dw_option_flag, AT(no_code),
	 "leave the functions' machine code out of the session"},
	{"dotnet", 0, "WHEN", take_when, AT(dotnet),
	 "name .NET code: auto (as the command looks), always, never"},
	{"sampler", 0, "SAMPLER", take_sampler, AT(sampler),
	 "perf, in-process, procfs (--off-cpu of a PID alone), or auto"},
	{"road", 0, "SAMPLER", take_old_sampler, AT(sampler), NULL},
	{"wait-all", 0, NULL, dw_option_flag, AT(wait_all),
	 "record until all descendants have ended"},
	{"quiet", 'q', NULL, dw_option_flag, AT(quiet), "no progress and no summary"},
	{0},
};

/* One line: the name, and why it cannot be had. */
static void print_known(struct dw_out *out, const char *name)
{
	struct dw_perf_options o = {.frequency_hz = 1000, .stack_bytes = 4096};
	struct dw_error err = DW_ERROR_INIT;
	int rc = dw_perf_event_find(name, &o.event, &err);

	if (!rc)
		rc = dw_perf_events_try(&o, &err);
	dw_out_printf(out, "%s%s\n", name,
		      rc == DWELL_ERR_NOT_FOUND ? "  (no counter here)"
		      : rc			? "  (not allowed here)"
						: "");
	dw_error_clear(&err);
}

static void print_pmu(struct dw_out *out, const char *pmu)
{
	char path[512];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof path, PMUS "/%s/events", pmu);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			dw_out_printf(out, "%s/%s/\n", pmu, entry->d_name);
	if (dir)
		closedir(dir);
}

/* What --event takes here: each is tried, and those of PMUs are listed as sysfs has them. The exit
 * code. */
static int list_events(void)
{
	struct dirent *entry;
	struct dw_out out;
	const char *name;
	DIR *dir = opendir(PMUS);

	dw_out_init_fd(&out, STDOUT_FILENO);
	for (unsigned i = 0; (name = dw_perf_event_name(i)) != NULL; i++)
		print_known(&out, name);
	while (dir && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			print_pmu(&out, entry->d_name);
	if (dir)
		closedir(dir);
	return dw_out_close(&out) ? DWELL_EXIT_FAILED : DWELL_EXIT_OK;
}

/* What is recorded beside samples: unless asked for or not wanted, waits where samples are time,
 * for that costs the program next to nothing. */
static dw_measures measures_beside(const struct cmd_sample *c)
{
	bool is_time = c->period == NO_PERIOD && (!c->event || dw_event_is_of_time(c->event));
	bool has_waits = c->off_cpu || (!c->no_off_cpu && !c->all && is_time);

	return (dw_measures)has_waits << DWELL_MEASURE_BLOCKED;
}

static bool needs_perf(const struct cmd_sample *c)
{
	return (c->pids.n && !c->off_cpu) || c->all || c->event || c->kernel == ALWAYS;
}

static int check(const struct dw_command *self, const struct cmd_sample *c, bool has_command)
{
	if (c->all && c->pids.n)
		return dw_command_wrong(self, "either --all or --pid");
	if (!has_command && !c->pids.n && !c->all)
		return dw_command_wrong(self, "no command to run");
	if (has_command && c->pids.n)
		return dw_command_wrong(self, "either a command or --pid");
	if (c->off_cpu && c->no_off_cpu)
		return dw_command_wrong(self, "either --off-cpu or --no-off-cpu");
	if (c->all && c->off_cpu)
		return dw_command_wrong(self, "--off-cpu needs a command or --pid");
	if (c->sampler == DWELL_SAMPLER_PROCFS && (!c->pids.n || !c->off_cpu))
		return dw_command_wrong(self, "--sampler procfs needs --pid and --off-cpu");
	if (c->pids.n && c->dotnet == ALWAYS)
		return dw_command_wrong(self, "--dotnet works with a command only");
	if ((c->sampler == DWELL_SAMPLER_IN_PROCESS && c->pids.n) ||
	    ((c->sampler == DWELL_SAMPLER_IN_PROCESS || c->sampler == DWELL_SAMPLER_PROCFS) &&
	     (c->event || c->kernel == ALWAYS)))
		return dw_command_wrong(self,
					"--pid, --all, --event and --kernel need --sampler perf");
	if (!c->period)
		return dw_command_wrong(self, "--period takes more than 0");
	if (!c->frequency_hz || c->frequency_hz > MAX_HZ)
		return dw_command_wrong(self, "--frequency takes 1 to %d", MAX_HZ);
	if (!c->duration_ns)
		return dw_command_wrong(self, "--duration takes more than 0");
	if (c->stack_bytes > MAX_STACK_BYTES || c->stack_bytes % 8)
		return dw_command_wrong(self, "--stack-bytes takes a multiple of 8 up to %d",
					MAX_STACK_BYTES);
	return 0;
}

/* The agent's file when it is wanted for @command, NULL = none: *@ret_why_not. */
static char *find_agent(const struct cmd_sample *c, char **command, const char **ret_why_not)
{
	bool is_wanted = *command && (c->dotnet == ALWAYS ||
				      (c->dotnet == AUTO && dw_is_dotnet_command(command)));
	char *agent = is_wanted ? dw_agent_file(AGENT) : NULL;

	*ret_why_not = is_wanted   ? AGENT " is not beside dwell"
		       : c->pids.n ? "the program ran already"
				   : "the command does not look like .NET (--dotnet always helps)";
	return agent;
}

static void conclude(const struct cmd_sample *c, const char *session,
		     const struct dw_record_result *r)
{
	struct dw_out out;

	dw_recorded_summary(session);
	if (c->dotnet == NEVER || !r->nameless[0])
		return;
	dw_out_init_fd(&out, STDERR_FILENO);
	dw_out_printf(&out, "dwell: .NET code has no names: %s\n", r->nameless);
	dw_out_close(&out);
}

/* The session's file when none is given: named after the command or the first process. */
static char *name_output(const struct cmd_sample *c, char **command)
{
	struct dw_proc_stat st = {.name = "attached"};

	if (*command)
		return dw_recorded_path(command[0]);
	if (!c->pids.n)
		return dw_recorded_path("system");
	dw_proc_stat_read(c->pids.v[0], &st);
	return dw_recorded_path(st.name);
}

static int record_by(struct cmd_sample *c, char **command, const struct dw_sampler_choice *sampler)
{
	dw_auto_free char *named = c->output ? NULL : name_output(c, command);
	dw_auto_free char *cache = dw_cache_folder();
	const char *why_not = "";
	bool is_in_process = sampler->backend == &dw_backend_in_process;
	dw_auto_free char *agent = find_agent(c, command, &why_not);
	dw_auto_free char *agent_file = is_in_process ? dw_agent_file(SAMPLER) : NULL;
	const char *output = c->output ? c->output : named;
	struct dw_progress_line line = {0};
	struct dw_record_options o = {
		.collector = &dw_collector_samples,
		.argv = *command ? command : NULL,
		.pids = c->pids.v,
		.pids_n = c->pids.n,
		.output = output,
		.cache_dir = cache,
		.duration_ns = c->duration_ns == NO_DURATION ? 0 : c->duration_ns,
		.wait_all = c->wait_all,
		.without_code = c->no_code,
		.with_source = c->source,
		.debuginfod_ms = dw_debuginfod_choice_ms(&c->debuginfod),
		.progress = !c->quiet && dw_progress_wanted() ? dw_progress_show : NULL,
		.progress_ctx = &line,
		.samples =
			{
				.backend = sampler->backend,
				.backend_agent = agent_file,
				.backend_why = sampler->refusal.code
						       ? dw_error_message(&sampler->refusal)
						       : NULL,
				.clr_agent = agent,
				.clr_why_not = why_not,
				.config =
					{
						.event = c->event,
						.period = c->period == NO_PERIOD ? 0 : c->period,
						.kernel = kernel_when[c->kernel],
						.beside = measures_beside(c),
						.exact_waits = c->off_cpu,
						.system_wide = c->all,
						.frequency_hz = (uint32_t)c->frequency_hz,
						.stack_bytes = (uint32_t)c->stack_bytes,
					},
			},
	};
	struct dw_record_result result;
	struct dw_error err = DW_ERROR_INIT;
	int rc;

	if (!output)
		return DWELL_EXIT_FAILED;
	dw_crash_report(output);
	rc = dw_record(&o, &result, &err);
	dw_progress_clear(&line);
	if (rc)
		dw_recorded_failure(&err, &result, output);
	else if (!c->quiet)
		conclude(c, output, &result);
	dw_error_clear(&err);
	if (!*command)
		return rc ? DWELL_EXIT_FAILED : DWELL_EXIT_OK;
	return dw_exit_status(&result, rc);
}

static int record(struct cmd_sample *c, char **command)
{
	struct dw_error err = DW_ERROR_INIT;
	struct dw_record_result none = {0};
	struct dw_sampler_choice sampler;
	int rc = dw_sampler_choose(needs_perf(c) ? DWELL_SAMPLER_PERF : c->sampler,
				   c->pids.n ? NULL : command[0], c->off_cpu, &sampler, &err);

	if (!rc && sampler.backend == &dw_backend_in_process) {
		dw_auto_free char *agent_file = dw_agent_file(SAMPLER);

		if (!agent_file)
			rc = dw_error_set(&err, DWELL_ERR_REFUSED,
					  SAMPLER " is not beside dwell: %s",
					  dw_error_message(&sampler.refusal));
	}
	if (rc)
		dw_recorded_failure(&err, &none, "");
	rc = rc ? DWELL_EXIT_FAILED : record_by(c, command, &sampler);
	dw_error_clear(&err);
	dw_sampler_choice_release(&sampler);
	return rc;
}

static int run(const struct dw_command *self, int argc, char **argv)
{
	struct cmd_sample c = {
		.frequency_hz = DEFAULT_HZ, .period = NO_PERIOD, .duration_ns = NO_DURATION};
	int first, code = dw_command_parse(self, argv, &c, &first);

	if (code >= 0)
		return code;
	if (c.event && !strcmp(c.event, "list"))
		return list_events();
	code = check(self, &c, first < argc);
	if (!code)
		code = record(&c, argv + first);
	dw_vec_release(&c.pids);
	return code;
}

const struct dw_command dw_cmd_sample = {
	.name = "sample",
	.help = "record where the processor is in a program, 1,000 times a second",
	.synopsis = "[options] [--] COMMAND [ARG ...] | [options] --pid PID | --all",
	.options = options,
	.leading = true,
	.misuse = DWELL_EXIT_FAILED,
	.run = run,
};
