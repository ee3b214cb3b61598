/*
 * The run of a command with .NET agents; see memory.h. The loop sleeps until a region comes, a
 * signal does, or a tick is due. Agents ask nothing.
 */
#include "record/memory.h"

#include "base/cleanup.h"
#include "collect/launch/launch.h"
#include "collect/region/process.h"
#include "record/memory-recording.h"
#include "record/signals.h"
#include "record/target-environment.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TICK_NS	 200000000ull
#define GRACE_NS 3000000000ull /* for a command that was told to stop */

struct run {
	const struct dw_memory_options *options;
	struct dw_memory_result *result;
	struct dw_regions regions;
	struct dw_target_environment environment;
	struct dw_launch launch;
	struct dw_signals signals;
	struct dw_memory_recording *recording;
	struct rusage usage;
	bool is_behind; /* more regions to look at than one round does */
	uint64_t start_ns;
	uint64_t next_tick_ns;
	uint64_t grace_end_ns; /* 0 = nobody asked to stop */
};

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void on_asked(void *ctx, const struct dw_region_question *q)
{
	struct run *r = ctx;

	dw_regions_answer(&r->regions, q, DWELL_ANSWER_NONE, 1, NULL);
}

static void on_began(void *ctx, const struct dw_region_look *look)
{
	struct run *r = ctx;
	struct dw_region_process p = {0};
	/* The command itself is known when it has ended already, too. */
	bool is_there =
		!dw_region_process_read(&look->owner, &p) || look->owner.pid == r->launch.pid;

	dw_memory_recording_began(r->recording, look, is_there ? &p : NULL);
	dw_region_process_release(&p);
}

static void on_ended(void *ctx, const struct dw_region_look *look)
{
	struct run *r = ctx;

	dw_memory_recording_ended(r->recording, look);
}

static void take_signals(struct run *r)
{
	struct dw_record_result *run = &r->result->run;
	struct dw_signal signal;

	while (dw_signals_next(&r->signals, &signal)) {
		uint64_t now = clock_ns();

		if (signal.number == SIGCHLD)
			continue;
		if (!run->ended && !run->stop_signal)
			dw_signal_pass_on(run->pid, signal);
		r->grace_end_ns = run->stop_signal ? now : now + GRACE_NS;
		run->stop_signal = signal.number;
	}
	if (!run->ended && dw_launch_wait(&r->launch, WNOHANG, &run->wait_status, &r->usage) > 0)
		run->ended = true;
}

static int tick(struct run *r, uint64_t now, struct dw_error *err)
{
	if (now < r->next_tick_ns)
		return 0;
	r->next_tick_ns = now + TICK_NS;
	dw_regions_tick(&r->regions, now);
	if (r->options->progress)
		r->options->progress(r->options->progress_ctx, now - r->start_ns);
	return dw_memory_recording_tick(r->recording, &r->regions, err);
}

static bool is_over(const struct run *r, uint64_t now)
{
	const struct dw_memory_options *o = r->options;

	if (o->duration_ns && now - r->start_ns >= o->duration_ns)
		return true;
	if (r->grace_end_ns && now >= r->grace_end_ns)
		return true;
	return r->result->run.ended && (!o->wait_all || r->grace_end_ns || !r->regions.open.n);
}

static int wait_for_events(struct run *r)
{
	struct pollfd fds[] = {
		{.fd = r->signals.fd, .events = POLLIN},
		{.fd = dw_regions_fd(&r->regions), .events = POLLIN},
	};
	uint64_t now = clock_ns();
	int patience_ms = 0;

	if (!r->is_behind && now < r->next_tick_ns)
		patience_ms = (int)((r->next_tick_ns - now) / 1000000) + 1;
	return poll(fds, sizeof fds / sizeof *fds, patience_ms) < 0 && errno != EINTR ? -errno : 0;
}

static int serve(struct run *r, struct dw_error *err)
{
	int rc = 0;

	while (!rc && !is_over(r, clock_ns())) {
		rc = wait_for_events(r);
		if (rc)
			return dw_error_set_errno(err, -rc, "poll");
		r->is_behind = dw_regions_drain(&r->regions, clock_ns());
		take_signals(r);
		rc = tick(r, clock_ns(), err);
	}
	return rc;
}

static int make_environment(struct run *r, struct dw_error *err)
{
	const struct dw_memory_options *o = r->options;
	dw_auto_free char *mode = NULL;
	const char *other = dw_clr_environment_conflict();

	if (other)
		return dw_error_set(err, DWELL_ERR_REFUSED,
				    "the environment names a .NET profiler already (%s): there can "
				    "be only one",
				    other);
	if (asprintf(&mode,
		     "memory memory=%" PRIu64 " stacks=%d lifetime=%d children=%d check=%" PRIu32,
		     o->memory_bytes, !o->without_stacks, !o->without_lifetime,
		     !o->without_children, o->check) < 0)
		return -ENOMEM;
	return dw_clr_environment_make(&r->environment, o->agent, dw_regions_path(&r->regions),
				       mode);
}

static int start(struct run *r, struct dw_error *err)
{
	const struct dw_memory_options *o = r->options;
	struct dw_regions_events events = {on_asked, on_began, on_ended, r};
	struct dw_record_result *run = &r->result->run;
	pid_t pid;
	int rc = dw_regions_open(&r->regions, o->fallback, &events, err);

	if (!rc)
		rc = make_environment(r, err);
	r->launch.environment = r->environment.v;
	if (!rc)
		rc = dw_launch_prepare(&r->launch, o->argv, err);
	if (!rc)
		rc = dw_signals_take(&r->signals, err);
	if (!rc)
		rc = dw_memory_recording_new(o->output, o->argv, &r->recording, err);
	if (rc)
		return rc;
	pid = r->launch.pid;
	r->start_ns = clock_ns();
	r->next_tick_ns = r->start_ns + TICK_NS;
	rc = run->exec_error = dw_launch_release(&r->launch, err);
	if (rc)
		return dw_error_prefix(err, "%s", o->argv[0]);
	run->pid = pid;
	return 0;
}

/* Read all regions a last time, and make the session of what was recorded until @rc came. */
static int finish(struct run *r, int rc, struct dw_error *err)
{
	int stopped;

	dw_regions_finish(&r->regions);
	take_signals(r); /* those that came meanwhile */
	r->result->regions = r->regions.stats;
	r->result->processes = dw_memory_recording_processes(r->recording);
	stopped =
		dw_memory_recording_stop(r->recording, &r->result->run, &r->usage, rc ? NULL : err);
	if (rc || stopped)
		return rc ? rc : stopped;
	rc = dw_memory_recording_finish(r->recording, err);
	take_signals(r);
	return rc;
}

static void release(struct run *r)
{
	dw_memory_recording_free(r->recording, !r->result->run.pid);
	dw_signals_release(&r->signals);
	dw_launch_close(&r->launch);
	dw_regions_release(&r->regions);
	dw_target_environment_release(&r->environment);
}

int dw_memory(const struct dw_memory_options *options, struct dw_memory_result *ret,
	      struct dw_error *err)
{
	struct run r = {
		.options = options,
		.result = ret,
		.launch = DW_LAUNCH_INIT,
		.signals.fd = -1,
		.regions.folder = DW_REGION_FOLDER_INIT,
	};
	int rc;

	*ret = (struct dw_memory_result){0};
	rc = start(&r, err);
	if (!rc)
		rc = finish(&r, serve(&r, err), err);
	release(&r);
	if (rc && err && !err->code)
		dw_error_set(err, rc, "recording memory: %s", dw_err_string(rc));
	return rc;
}
