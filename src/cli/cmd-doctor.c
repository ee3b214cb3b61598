/*
 * `dwell doctor`: what works here and what would open more.
 *
 * Everything is tried and not guessed: the events of sampling are opened, each source of context
 * switches proves itself as it does inside of a target (agent/calls/os-sources.h). What is refused
 * is named with the command that opens it.
 */
#include "cli/command.h"

#include "agent/calls/os-sources.h"
#include "base/out.h"
#include "collect/perf/events.h"
#include "collect/perf/event.h"
#include "format/text.h"
#include "record/run.h"
#include "symbol/debuginfod.h"
#include "target/proc.h"
#include "wire/system-calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <time.h>
#include <unistd.h>

enum { LINE_COLUMNS = 78, INDENT = 4 };

static const struct dw_option options[] = {{0}};

struct call_name {
	const char *name;
	enum dw_call_kind kind;
};

#define NAME(name, kind) {#name, DWELL_CALL_##kind},

static const struct call_name calls[] = {DWELL_SYSTEM_CALLS(NAME)};

/* "  WHAT: " and what @err says, "works" without; that is cleared. Whether it works. */
static bool print_state(struct dw_out *out, const char *what, struct dw_error *err)
{
	bool works = !err->code;

	dw_out_printf(out, "  %s: ", what);
	if (err->code)
		dw_text_put(out, dw_error_message(err));
	else
		dw_out_puts(out, "works");
	dw_out_puts(out, "\n");
	dw_error_clear(err);
	return works;
}

/* A number from /proc/sys/kernel/@name, -1 = not readable. */
static long sysctl(const char *name)
{
	char path[64];
	long value = -1;
	FILE *f;

	snprintf(path, sizeof path, "/proc/sys/kernel/%s", name);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fscanf(f, "%ld", &value) != 1)
		value = -1;
	fclose(f);
	return value;
}

static void print_in_process(struct dw_out *out)
{
	struct timespec tick = {0, 4000000};

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	dw_out_printf(out, "  in-process, for programs that dwell launches: works, at %ld Hz\n",
		      1000000000 / tick.tv_nsec);
}

static bool check_sampling(struct dw_out *out)
{
	struct dw_perf_options o = {.frequency_hz = 1000, .stack_bytes = 4096};
	struct dw_error err = DW_ERROR_INIT;
	struct dw_perf_events events = {0};
	struct dw_rings rings = {0};
	bool works;

	dw_perf_events_open(&o, &events, &rings, &err);
	dw_rings_release(&rings);
	works = print_state(out, events.event.name[0] ? events.event.name : "CPU clock", &err);
	if (!works)
		print_in_process(out);
	dw_perf_events_release(&events);
	return works;
}

/* One more thing that sampling can do: @o on the task @tid. What is refused is no failure. */
static void check_more(struct dw_out *out, const char *what, const struct dw_perf_options *o,
		       pid_t tid)
{
	struct dw_error err = DW_ERROR_INIT;
	struct dw_perf_events events = {0};
	struct dw_rings rings = {0};
	int rc = dw_perf_events_open(o, &events, &rings, &err);

	if (!rc)
		rc = dw_perf_events_watch(&events, o, tid);
	if (rc && !err.code)
		dw_perf_scope_refusal(rc, 0, "that", &err);
	dw_rings_release(&rings);
	dw_perf_events_release(&events);
	print_state(out, what, &err);
}

/* Whether we come in time where hundreds of threads want the processors. */
static void check_priority(struct dw_out *out)
{
	bool is_raised = dw_priority_raise();

	if (is_raised)
		dw_priority_restore();
	dw_out_puts(
		out,
		is_raised
			? "  priority while recording: raised where hundreds of threads are busy\n"
			: "  priority while recording: as any program's, so where hundreds of "
			  "threads are busy,\n    samples are lost; root's is raised, and who "
			  "has \"ulimit -e 40\"\n");
}

static void check_scopes(struct dw_out *out)
{
	const struct dw_perf_options kernel = {
		.kernel = DWELL_KERNEL_ALWAYS, .frequency_hz = 1000, .stack_bytes = 4096};
	const struct dw_perf_options all = {
		.system_wide = true, .frequency_hz = 1000, .stack_bytes = 4096};

	check_more(out, "the kernel's part (--kernel)", &kernel, getpid());
	check_more(out, "all processes (--all)", &all, DWELL_PERF_ALL_TASKS);
	check_priority(out);
}

/* By which sampler waits are timed, and what keeps their stacks from us. */
static void check_waits(struct dw_out *out)
{
	const struct dw_perf_options o = {.beside = 1 << DWELL_MEASURE_BLOCKED,
					  .kernel = DWELL_KERNEL_NEVER,
					  .frequency_hz = 1000,
					  .stack_bytes = 4096};
	struct dw_perf_events events = {0};
	struct dw_rings rings = {0};
	struct dw_task_times times;
	long scope = sysctl("yama/ptrace_scope");
	int rc = dw_perf_events_open(&o, &events, &rings, NULL);

	if (!rc)
		rc = dw_perf_events_watch(&events, &o, getpid());
	dw_rings_release(&rings);
	dw_perf_events_release(&events);
	dw_out_puts(out, "dwell sample --off-cpu, where threads wait:\n  times: ");
	dw_out_puts(out, !rc ? "exact, by the kernel's records of switches\n"
			 : !dw_task_times_read(getpid(), getpid(), &times)
				 ? "by those of /proc, as perf is refused: sums are exact, single "
				   "waits are\n    known to a few milliseconds\n"
				 : "not known: this kernel has no schedstat files "
				   "(CONFIG_SCHED_INFO)\n");
	dw_out_puts(out, "  stacks: ");
	if (scope > 0 && geteuid())
		dw_out_printf(out,
			      "of programs that dwell launches; of others kernel.yama.ptrace_scope "
			      "%ld\n    hides them: sudo sysctl kernel.yama.ptrace_scope=0\n",
			      scope);
	else
		dw_out_puts(out, "works\n");
}

static bool check_perf(struct dw_out *out)
{
	struct dw_error err = DW_ERROR_INIT;
	int error = 0;
	void *page = dw_os_perf_open(NULL, &error);

	if (!page)
		dw_perf_refusal(-error, &err);
	else if (!dw_os_prove(dw_os_perf_word(page), NULL))
		dw_error_set(&err, DWELL_ERR_UNSUPPORTED,
			     "this kernel does not show a blocking call");
	if (page)
		dw_os_perf_close(page);
	return print_state(out, "page of a perf event", &err);
}

static bool check_rseq(struct dw_out *out)
{
	struct dw_error err = DW_ERROR_INIT;
	uint64_t *pointer = __rseq_size ? dw_os_rseq_find(__rseq_offset) : NULL;

	if (!__rseq_size)
		dw_error_set(&err, DWELL_ERR_UNSUPPORTED, "the C library has registered none");
	else if (!pointer)
		dw_error_set(&err, DWELL_ERR_UNSUPPORTED, "registered with more than 32 bytes");
	else if (!dw_os_prove((const uint32_t *)pointer, pointer))
		dw_error_set(&err, DWELL_ERR_UNSUPPORTED,
			     "this kernel does not show a blocking call");
	if (pointer)
		dw_os_rseq_disarm(pointer);
	return print_state(out, "restartable sequence", &err);
}

/* How many threads of an ordinary user get a page: what all his processes share by the sysctl, and
 * what each has by its limit. */
static void print_pages(struct dw_out *out)
{
	long kb = sysctl("perf_event_mlock_kb"), page_kb = sysconf(_SC_PAGESIZE) / 1024;
	struct rlimit limit;

	if (kb < 0 || getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return;
	kb = kb * sysconf(_SC_NPROCESSORS_ONLN) + (long)(limit.rlim_cur / 1024);
	dw_out_printf(out,
		      "  pages for about %ld threads at a time (kernel.perf_event_mlock_kb, "
		      "ulimit -l); others take the next\n",
		      kb / page_kb);
}

static bool check_switches(struct dw_out *out)
{
	bool has_perf = check_perf(out), has_rseq = check_rseq(out);

	if (has_perf)
		print_pages(out);
	dw_out_printf(out, "  used: %s\n",
		      has_perf	 ? "the page"
		      : has_rseq ? "the sequence"
				 : "none: Application times are an upper bound");
	return has_perf || has_rseq;
}

static void print_calls(struct dw_out *out, const char *title, bool is_io)
{
	size_t column = LINE_COLUMNS;

	dw_out_printf(out, "  %s:", title);
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		size_t n = strlen(calls[i].name) + 1;

		if ((calls[i].kind == DWELL_CALL_IO) != is_io)
			continue;
		if (column + n > LINE_COLUMNS) {
			dw_out_printf(out, "\n%*s", INDENT - 1, "");
			column = INDENT - 1;
		}
		dw_out_printf(out, " %s", calls[i].name);
		column += n;
	}
	dw_out_puts(out, "\n");
}

/* What --debuginfod would do. No server is asked. */
static void print_debuginfod(struct dw_out *out)
{
	struct dw_error err = DW_ERROR_INIT;

	if (!dw_debuginfod_has_library())
		dw_error_set(&err, DWELL_ERR_UNSUPPORTED,
			     "libdebuginfod.so.1 is not there (apt install libdebuginfod1)");
	else if (!dw_debuginfod_has_servers())
		dw_error_set(&err, DWELL_ERR_UNSUPPORTED,
			     "no servers (export DEBUGINFOD_URLS=https://debuginfod.debian.net, "
			     "or another distribution's)");
	print_state(out, "debuginfod (--debuginfod)", &err);
}

static int doctor(void)
{
	struct dw_out out;
	bool samples, tells;

	dw_out_init_fd(&out, STDOUT_FILENO);
	dw_out_puts(&out, "dwell sample, by perf events:\n");
	samples = check_sampling(&out);
	if (samples)
		check_scopes(&out);
	check_waits(&out);
	dw_out_puts(&out, "dwell instrument, context switches:\n");
	tells = check_switches(&out);
	dw_out_puts(&out, "dwell instrument, system calls whose time is the operating system's:\n");
	print_calls(&out, "I/O", true);
	print_calls(&out, "blocking (futex and fcntl where they wait)", false);
	dw_out_puts(&out, "debug information of others:\n");
	print_debuginfod(&out);
	dw_out_printf(&out, "kernel.perf_event_paranoid: %ld\n", sysctl("perf_event_paranoid"));
	return dw_out_close(&out) || !samples || !tells ? DWELL_EXIT_BAD : DWELL_EXIT_OK;
}

static int run(const struct dw_command *self, int argc, char **argv)
{
	int first, code = dw_command_parse(self, argv, NULL, &first);

	if (code >= 0)
		return code;
	if (first == argc)
		return doctor();
	return dw_command_wrong(self, "takes no arguments");
}

const struct dw_command dw_cmd_doctor = {
	.name = "doctor",
	.help = "show what works here, and what would open more",
	.synopsis = "",
	.options = options,
	.misuse = DWELL_EXIT_USAGE,
	.run = run,
};
