/*
 * The run of a command with .NET agents; see memory.h. The loop sleeps until a region comes, a
 * signal does, or a tick is due. Agents ask nothing.
 */
#include "record/memory.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/region/process.h"
#include "record/memory-recording.h"
#include "record/run.h"
#include "record/target-environment.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define TICK_NS 200000000ull

struct recorder {
	const struct dw_memory_options *options;
	struct dw_memory_result *result;
	struct dw_regions regions;
	struct dw_target_environment environment;
	struct dw_run run;
	struct dw_memory_recording *recording;
	bool is_behind; /* more regions to look at than one round does */
	uint64_t next_tick_ns;
};

static void on_asked(void *ctx, const struct dw_region_question *q)
{
	struct recorder *r = ctx;

	dw_regions_answer(&r->regions, q, DWELL_ANSWER_NONE, 1, NULL);
}

static void on_began(void *ctx, const struct dw_region_look *look)
{
	struct recorder *r = ctx;
	struct dw_region_process p = {0};
	/* The command itself is known when it has ended already, too. */
	bool is_there =
		!dw_region_process_read(&look->owner, &p) || look->owner.pid == r->run.launch.pid;

	dw_memory_recording_began(r->recording, look, is_there ? &p : NULL);
	dw_region_process_release(&p);
}

static void on_ended(void *ctx, const struct dw_region_look *look)
{
	struct recorder *r = ctx;

	dw_memory_recording_ended(r->recording, look);
}

static int tick(struct recorder *r, uint64_t now, struct dw_error *err)
{
	if (now < r->next_tick_ns)
		return 0;
	r->next_tick_ns = now + TICK_NS;
	dw_run_tick(&r->run, now);
	dw_regions_tick(&r->regions, now);
	if (r->options->progress)
		r->options->progress(r->options->progress_ctx, now - r->run.start_ns);
	return dw_memory_recording_tick(r->recording, &r->regions, err);
}

static bool is_over(const struct recorder *r)
{
	return dw_run_is_over(&r->run, dw_clock_ns(CLOCK_MONOTONIC),
			      r->options->wait_all && r->regions.open.n);
}

static int wait_for_events(struct recorder *r)
{
	struct pollfd fds[] = {
		{.fd = r->run.signals.fd, .events = POLLIN},
		{.fd = dw_regions_fd(&r->regions), .events = POLLIN},
	};
	uint64_t now = dw_clock_ns(CLOCK_MONOTONIC);
	int patience_ms = 0;

	if (!r->is_behind && now < r->next_tick_ns)
		patience_ms = (int)((r->next_tick_ns - now) / 1000000) + 1;
	return poll(fds, sizeof fds / sizeof *fds, patience_ms) < 0 && errno != EINTR ? -errno : 0;
}

static int serve(struct recorder *r, struct dw_error *err)
{
	int rc = 0;

	while (!rc && !is_over(r)) {
		rc = wait_for_events(r);
		if (rc)
			return dw_error_set_errno(err, -rc, "poll");
		r->is_behind = dw_regions_drain(&r->regions, dw_clock_ns(CLOCK_MONOTONIC));
		dw_run_take_signals(&r->run);
		rc = tick(r, dw_clock_ns(CLOCK_MONOTONIC), err);
	}
	return rc;
}

static int make_environment(struct recorder *r, struct dw_error *err)
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
		     "memory memory=%" PRIu64
		     " stacks=%d lifetime=%d children=%d natives=%d check=%" PRIu32
		     " oracle=%d collect-at-end=%d sample=%" PRIu64,
		     o->memory_bytes, !o->without_stacks, !o->without_lifetime,
		     !o->without_children, o->has_natives, o->check, o->has_oracle,
		     o->collects_at_end, o->sample_bytes) < 0)
		return -ENOMEM;
	return dw_clr_environment_make(&r->environment, o->agent, dw_regions_path(&r->regions),
				       mode, o->argv[0]);
}

static int start(struct recorder *r, struct dw_error *err)
{
	const struct dw_memory_options *o = r->options;
	struct dw_regions_events events = {on_asked, on_began, on_ended, r};
	int rc = dw_regions_open(&r->regions, o->fallback, &events, err);

	if (!rc)
		rc = make_environment(r, err);
	r->run.launch.environment = r->environment.v;
	if (!rc)
		rc = dw_run_prepare(&r->run, o->argv, err);
	if (!rc)
		rc = dw_memory_recording_new(o, &r->recording, err);
	if (rc)
		return rc;
	r->run.start_ns = dw_clock_ns(CLOCK_MONOTONIC);
	r->next_tick_ns = r->run.start_ns + TICK_NS;
	return dw_run_begin(&r->run, o->argv[0], err);
}

/* Read all regions a last time, and make the session of what was recorded until @rc came. */
static int finish(struct recorder *r, int rc, struct dw_error *err)
{
	int stopped;

	dw_regions_finish(&r->regions);
	dw_run_take_signals(&r->run); /* those that came meanwhile */
	r->result->regions = r->regions.stats;
	r->result->processes = dw_memory_recording_processes(r->recording);
	stopped = dw_memory_recording_stop(r->recording, &r->run, rc ? NULL : err);
	if (rc || stopped)
		return rc ? rc : stopped;
	rc = dw_memory_recording_finish(r->recording, r->options->debuginfod_ms, err);
	dw_run_take_signals(&r->run);
	return rc;
}

static void release(struct recorder *r)
{
	dw_memory_recording_free(r->recording, !r->result->run.pid);
	dw_run_release(&r->run);
	dw_regions_release(&r->regions);
	dw_target_environment_release(&r->environment);
}

int dw_memory(const struct dw_memory_options *options, struct dw_memory_result *ret,
	      struct dw_error *err)
{
	struct recorder r = {
		.options = options,
		.result = ret,
		.run = DW_RUN_INIT(&ret->run, options->duration_ns),
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
