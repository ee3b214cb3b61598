/*
 * The recording loop: launch, drain, flush, stop, finish.
 *
 * Single-threaded but for the session writer's own thread. The loop sleeps in poll() until a ring
 * has passed its watermark, a signal came, or a tick is due; so an idle target costs nothing but
 * ten wake-ups a second.
 */
#include "record/record.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "code/cfi/table.h"
#include "collect/jit/jit.h"
#include "record/environment.h"
#include "record/finish.h"
#include "record/managed-recording.h"
#include "record/run.h"
#include "session/write.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BUSY_NS		20000000ull
#define TICK_NS		200000000ull   /* progress */
#define CACHE_MAX_BYTES (256ull << 20) /* of unwind tables, after a recording */
#define FLUSH_NS	1000000000ull  /* commit, at most a second is ever lost */

enum {
	MAX_POLL_FDS = 4096,
	IMPATIENT_MS = 3000,
};

struct recording {
	const struct dw_record_options *options;
	struct dw_record_result *result;
	struct dw_profile profile;
	struct dw_run run;
	struct dw_managed_recording managed;
	struct dw_jit jit;
	struct dw_target_environment environment; /* for a backend's agent */
	struct dw_backend *backend;
	struct dw_session_writer *writer;
	struct pollfd *fds; /* signals first, then runtimes, then the backend's */
	size_t fds_n;
	uint64_t next_tick_ns;
	uint64_t next_flush_ns;
	bool is_busy; /* the last drain brought samples */
};

static void stats_of(const struct recording *r, struct dw_backend_stats *ret)
{
	*ret = (struct dw_backend_stats){0};
	r->options->backend->stats(r->backend, ret);
}

static bool descendants_live(const struct recording *r)
{
	for (uint32_t id = 1; id <= dw_processes_count(&r->profile.processes); id++)
		if (dw_processes_get(&r->profile.processes, id)->end_ns == DWELL_TIME_NONE)
			return true;
	return false;
}

static bool is_over(const struct recording *r, uint64_t now)
{
	return dw_run_is_over(&r->run, now, r->options->wait_all && descendants_live(r));
}

static int flush(struct recording *r, struct dw_error *err)
{
	struct dw_backend_stats stats;
	int rc;

	stats_of(r, &stats);
	rc = dw_note_stats(&r->profile.facts, &stats);
	return rc ? rc : dw_session_flush(r->writer, &r->profile, err);
}

static int tick(struct recording *r, uint64_t now, struct dw_error *err)
{
	dw_run_tick(&r->run, now);
	if (now >= r->next_tick_ns && r->options->progress) {
		struct dw_record_progress progress = {.elapsed_ns = now - r->run.start_ns};

		stats_of(r, &progress.stats);
		r->options->progress(r->options->progress_ctx, &progress);
		r->next_tick_ns = now + TICK_NS;
	}
	if (now < r->next_flush_ns)
		return 0;
	r->next_flush_ns = now + FLUSH_NS;
	return flush(r, err);
}

/*
 * Milliseconds until something is due even if no descriptor wakes us: soon while samples come,
 * since a drain holds the newest back and the memory behind deep stacks moves on; seldom while the
 * target sleeps.
 */
static int patience_ms(const struct recording *r, uint64_t now)
{
	uint64_t left = r->is_busy ? BUSY_NS : TICK_NS / 2;

	if (r->options->duration_ns && r->run.start_ns + r->options->duration_ns - now < left)
		left = r->run.start_ns + r->options->duration_ns - now;
	return (int)(left / 1000000) + 1;
}

/* The descriptors to sleep on: signals, and what the backend has left. */
static void watch(struct recording *r)
{
	r->fds[0] = (struct pollfd){.fd = r->run.signals.fd, .events = POLLIN};
	r->fds[1] =
		(struct pollfd){.fd = dw_regions_fd(&r->managed.managed.regions), .events = POLLIN};
	r->fds_n = 2;
	r->fds_n += dw_targets_poll_fds(&r->run.targets, r->fds + 2, MAX_POLL_FDS / 2);
	r->fds_n += dw_jit_poll_fds(&r->jit, r->fds + r->fds_n, MAX_POLL_FDS / 8);
	r->fds_n += r->options->backend->poll_fds(r->backend, r->fds + r->fds_n,
						  MAX_POLL_FDS - r->fds_n);
}

static int drain(struct recording *r, struct dw_error *err)
{
	size_t before = r->profile.samples.n;
	int rc = dw_managed_recording_drain(&r->managed, dw_clock_ns(CLOCK_MONOTONIC));

	dw_jit_look(&r->jit);
	if (!rc)
		rc = r->options->backend->drain(r->backend, false, err);
	if (!rc)
		rc = dw_managed_recording_lines(&r->managed);
	r->is_busy = r->profile.samples.n > before;
	return rc;
}

static int collect(struct recording *r, struct dw_error *err)
{
	int rc = 0;

	r->fds = calloc(MAX_POLL_FDS, sizeof *r->fds);
	if (!r->fds)
		return -ENOMEM;
	for (uint64_t now = dw_clock_ns(CLOCK_MONOTONIC); !rc && !is_over(r, now);
	     now = dw_clock_ns(CLOCK_MONOTONIC)) {
		watch(r);
		if (poll(r->fds, r->fds_n, patience_ms(r, now)) < 0 && errno != EINTR)
			return dw_error_set_errno(err, errno, "poll");
		if (r->fds[0].revents || r->run.is_attached)
			dw_run_take_signals(&r->run);
		rc = drain(r, err);
		if (!rc)
			rc = tick(r, dw_clock_ns(CLOCK_MONOTONIC), err);
	}
	return rc;
}

/* Let the backend prepare what it needs inside the command, and choose that one's environment. */
static int prepare_backend(struct recording *r, const struct dw_backend_config *config,
			   struct dw_error *err)
{
	const struct dw_record_options *o = r->options;
	struct dw_backend_agent agent;
	int rc;

	if (!o->backend->prepare)
		return 0;
	rc = o->backend->prepare(config, &r->profile, &r->backend, &agent, err);
	if (!rc)
		rc = dw_target_environment_make_both(&r->environment, o->backend_agent,
						     agent.folder, agent.mode,
						     r->managed.is_on ? &r->managed.agent : NULL);
	r->run.launch.environment = r->environment.v;
	return rc;
}

/* Facts of processes that run already. */
static int note_targets(struct recording *r)
{
	dw_auto(dw_buf) commands = DW_BUF_INIT;
	dw_auto(dw_buf) numbers = DW_BUF_INIT;
	int rc;

	if (!r->run.targets.v.n)
		dw_buf_puts(&commands, "[all processes]");
	dw_targets_commands(&r->run.targets, &commands);
	dw_targets_numbers(&r->run.targets, &numbers);
	if (commands.failed || numbers.failed)
		return -ENOMEM;
	rc = dw_facts_set_text(&r->profile.facts, "command", dw_buf_str(&commands));
	return rc ? rc : dw_facts_set_text(&r->profile.facts, "attached", dw_buf_str(&numbers));
}

/* Get hold of what is to be recorded: a child that waits to execute the command, or processes. */
static int prepare(struct recording *r, const struct dw_backend_config *config,
		   struct dw_error *err)
{
	const struct dw_record_options *o = r->options;
	int rc = dw_managed_recording_begin(&r->managed, &r->profile, o->clr_agent, o->clr_why_not,
					    o->argv ? o->argv[0] : NULL);

	if (rc)
		return rc;
	r->run.launch.environment = r->managed.environment.v;
	rc = prepare_backend(r, config, err);
	if (rc)
		return rc;
	return o->argv ? dw_run_prepare(&r->run, o->argv, err)
		       : dw_run_attach(&r->run, o->pids, o->pids_n, err);
}

/* Let the held command execute. Processes run already, unless they have ended meanwhile. */
static int begin(struct recording *r, struct dw_error *err)
{
	const struct dw_record_options *o = r->options;

	if (o->argv)
		return dw_run_begin(&r->run, o->argv[0], err);
	r->result->pid = o->pids_n ? o->pids[0] : getpid();
	return note_targets(r);
}

/* Attach before a command executes, so that nothing of it is missed. */
static int start(struct recording *r, struct dw_error *err)
{
	const struct dw_record_options *o = r->options;
	struct dw_backend_config config = {
		.frequency_hz = o->frequency_hz,
		.stack_bytes = o->stack_bytes,
		.event = o->event,
		.period = o->period,
		.kernel = o->kernel,
		.system_wide = o->system_wide,
		.off_cpu = o->off_cpu,
		.cache_dir = o->cache_dir,
		.pids = o->pids,
		.pids_n = o->pids_n,
	};
	int rc = prepare(r, &config, err);

	if (rc)
		return rc;
	dw_jit_init(&r->jit, &r->profile);
	r->jit.asks_dotnet = o->pids_n;
	config.jit = &r->jit;
	config.managed = r->managed.is_on ? &r->managed.managed : NULL;
	config.pid = r->run.launch.pid;
	r->run.start_ns = config.start_ns = dw_clock_ns(CLOCK_MONOTONIC);
	rc = o->backend->start(&config, &r->profile, &r->backend, err);
	if (!rc)
		rc = dw_note_start(&r->profile.facts, "sampling", o->argv);
	if (!rc && o->backend_why)
		rc = dw_facts_set_text(&r->profile.facts, "road_why", o->backend_why);
	if (!rc)
		rc = dw_facts_set_text(&r->profile.facts, "road", o->backend->name);
	if (!rc && o->system_wide)
		rc = dw_facts_set(&r->profile.facts, "system_wide", 1);
	if (!rc)
		rc = dw_session_create(o->output, &r->writer, err);
	if (!rc)
		rc = begin(r, err);
	r->next_tick_ns = r->run.start_ns + TICK_NS;
	r->next_flush_ns = r->run.start_ns + FLUSH_NS;
	return rc;
}

/* The CPU time that the processes of an attached recording have used since, if all of it is known.
 */
static int note_cpu(struct recording *r)
{
	struct dw_profile *p = &r->profile;
	uint64_t user = 0, kernel = 0;
	int rc;

	for (uint32_t id = 1; id <= dw_processes_count(&p->processes); id++) {
		const struct dw_process *row = dw_processes_get(&p->processes, id);

		if (row->user_cpu_ns == DWELL_TIME_NONE)
			return 0;
		user += row->user_cpu_ns;
		kernel += row->kernel_cpu_ns;
	}
	rc = dw_facts_set(&p->facts, "user_cpu_ns", (int64_t)user);
	return rc ? rc : dw_facts_set(&p->facts, "kernel_cpu_ns", (int64_t)kernel);
}

/* What @samples of a clock stand for. */
static uint64_t time_of(const struct recording *r, uint64_t samples)
{
	int64_t hz = dw_facts_get(&r->profile.facts, "frequency_hz", 0);

	return hz > 0 ? samples * 1000000000 / (uint64_t)hz : 0;
}

/* Let the fact @key be no less than @ns. */
static int raise_fact(struct recording *r, const char *key, uint64_t ns)
{
	struct dw_facts *facts = &r->profile.facts;

	return (int64_t)ns > dw_facts_get(facts, key, 0) ? dw_facts_set(facts, key, (int64_t)ns)
							 : 0;
}

/*
 * The accounting of a launched command lacks what it has not waited for: all that was seen of
 * processes, by the kernel's accounting or else by samples, may be more.
 */
static int note_seen_cpu(struct recording *r)
{
	const struct dw_processes *all = &r->profile.processes;
	struct dw_backend_stats stats;
	uint64_t user, kernel;
	int rc;

	r->options->backend->stats(r->backend, &stats);
	user = time_of(r, stats.unread_user);
	kernel = time_of(r, stats.unread_kernel);
	for (uint32_t id = 1; id <= dw_processes_count(all); id++) {
		const struct dw_process *row = dw_processes_get(all, id);

		if (row->user_cpu_ns == DWELL_TIME_NONE)
			continue;
		user += row->user_cpu_ns;
		kernel += row->kernel_cpu_ns;
	}
	rc = raise_fact(r, "user_cpu_ns", user);
	return rc ? rc : raise_fact(r, "kernel_cpu_ns", kernel);
}

/* Take what the rings still hold, note how it ended and commit it. @rc is the recording's state so
 * far. */
static int stop(struct recording *r, int rc, struct dw_error *err)
{
	uint64_t end_ns = dw_clock_ns(CLOCK_MONOTONIC);

	r->options->backend->stop(r->backend);
	if (!rc)
		rc = dw_managed_recording_end(&r->managed);
	dw_jit_look(&r->jit);
	if (!rc)
		rc = r->options->backend->drain(r->backend, true, err);
	if (!rc)
		rc = dw_jit_finish(&r->jit);
	if (!rc)
		rc = dw_managed_recording_made_lines(&r->managed, &r->jit);
	if (!rc)
		rc = dw_managed_recording_lines(&r->managed);
	if (!r->jit.maps)
		dw_managed_recording_complain(&r->managed, r->result->nameless,
					      sizeof r->result->nameless);
	if (!rc)
		rc = dw_run_end(&r->run, &r->profile.facts, end_ns - r->run.start_ns);
	if (!rc && r->run.targets.v.n)
		rc = note_cpu(r);
	else if (!rc && r->run.result->ended)
		rc = note_seen_cpu(r);
	if (!rc)
		rc = flush(r, err);
	if (!rc)
		return dw_session_close_partial(r->writer, err);
	dw_session_close_partial(r->writer, NULL);
	return rc;
}

static int finish(struct recording *r, struct dw_error *err)
{
	dw_auto_free char *partial = NULL;
	struct dw_finish_options options = {
		.path = r->options->output,
		/* Whoever pressed Ctrl-C waits: better a module without names than minutes. */
		.symbol_timeout_ms = r->result->stop_signal ? IMPATIENT_MS : 0,
		.held = true,
		.without_code = r->options->without_code,
		.debuginfod_ms = r->options->debuginfod_ms,
		.with_source = r->options->with_source,
		.cache_dir = r->options->cache_dir,
		.il_line = dw_managed_lines_find,
		.il_line_ctx = &r->managed.lines,
		.made = dw_jit_meaning,
		.made_ctx = &r->jit,
	};

	if (asprintf(&partial, "%s.partial", r->options->output) < 0)
		return -ENOMEM;
	options.partial = partial;
	options.sources = r->options->backend->sources(r->backend, &options.sources_n);
	dw_jit_close(&r->jit);
	dw_profile_release(&r->profile);
	return dw_finish(&options, err);
}

static void release(struct recording *r, bool discard)
{
	dw_session_writer_free(r->writer, discard);
	r->options->backend->free(r->backend);
	dw_run_release(&r->run);
	dw_managed_recording_release(&r->managed);
	dw_jit_release(&r->jit);
	dw_target_environment_release(&r->environment);
	dw_profile_release(&r->profile);
	free(r->fds);
}

int dw_record(const struct dw_record_options *options, struct dw_record_result *ret,
	      struct dw_error *err)
{
	struct recording r = {
		.options = options,
		.result = ret,
		.run = DW_RUN_INIT(ret, options->duration_ns),
	};
	bool started;
	int rc;

	*ret = (struct dw_record_result){0};
	rc = start(&r, err);
	started = !rc;
	if (!rc)
		rc = collect(&r, err);
	if (started)
		rc = stop(&r, rc, err);
	if (!rc)
		rc = finish(&r, err);
	if (started && options->cache_dir)
		dw_cfi_cache_prune(options->cache_dir, CACHE_MAX_BYTES);
	if (started)
		dw_run_take_signals(&r.run); /* those that came meanwhile */
	release(&r, !started);
	if (rc && err && !err->code)
		dw_error_set(err, rc, "recording: %s", dw_err_string(rc));
	return rc;
}

int dw_record_wait(pid_t pid)
{
	struct dw_signals signals = {.fd = -1};
	int status, flags = dw_signals_take(&signals, NULL) ? 0 : WNOHANG;
	pid_t got;

	while ((got = waitpid(pid, &status, flags)) == 0 || (got < 0 && errno == EINTR)) {
		struct pollfd fd = {.fd = signals.fd, .events = POLLIN};
		struct dw_signal signal;

		if (signals.fd >= 0)
			poll(&fd, 1, -1);
		while (signals.fd >= 0 && dw_signals_next(&signals, &signal))
			if (signal.number != SIGCHLD)
				dw_signal_pass_on(pid, signal);
	}
	dw_signals_release(&signals);
	return got < 0 ? DWELL_ERR_NOT_FOUND : status;
}
