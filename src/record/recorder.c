/*
 * The recording loop: prepare, launch, drain, tick, stop, finish.
 *
 * Single-threaded but for the session writer's own thread. The loop sleeps in poll() until a
 * collector has something to take, a signal came, or something is due; so an idle target costs
 * nothing but ten wake-ups a second.
 */
#include "record/recorder.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "record/environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define TICK_NS 200000000ull /* progress */

enum {
	MAX_POLL_FDS = 4096,
	IMPATIENT_MS = 3000,
};

static const struct dw_collector_ops *ops(const struct dw_recorder *r)
{
	return r->options->collector;
}

void dw_recorder_fail(struct dw_recorder *r, int rc)
{
	if (rc && !r->rc)
		r->rc = rc;
}

static void stats_of(const struct dw_recorder *r, struct dw_backend_stats *ret)
{
	*ret = (struct dw_backend_stats){0};
	if (ops(r)->stats)
		ops(r)->stats(r->collector, ret);
}

int dw_recorder_flush(struct dw_recorder *r, struct dw_error *err)
{
	if (!r->rc && ops(r)->stats) {
		struct dw_backend_stats stats;

		stats_of(r, &stats);
		r->rc = dw_note_stats(&r->profile.facts, &stats);
	}
	if (!r->rc)
		r->rc = dw_session_flush(r->writer, &r->profile, &r->why);
	if (r->rc && err && r->why.code)
		dw_error_set(err, r->rc, "%s", dw_error_message(&r->why));
	return r->rc;
}

/* Get hold of what is to be recorded: a child that waits to execute the command, or processes. */
static int prepare(struct dw_recorder *r, struct dw_error *err)
{
	const struct dw_record_options *o = r->options;
	int rc = ops(r)->prepare(r, &r->collector, err);

	if (rc || ops(r)->runs_nothing)
		return rc;
	return o->argv ? dw_run_prepare(&r->run, o->argv, err)
		       : dw_run_attach(&r->run, o->pids, o->pids_n, err);
}

/* Everything is ready before a command executes, so that nothing of it is missed. */
static int start(struct dw_recorder *r, struct dw_error *err)
{
	const struct dw_record_options *o = r->options;
	int rc = prepare(r, err);

	if (rc)
		return rc;
	r->run.start_ns = dw_clock_ns(CLOCK_MONOTONIC);
	if (ops(r)->method)
		rc = dw_note_start(&r->profile.facts, ops(r)->method, o->argv);
	if (!rc && ops(r)->start)
		rc = ops(r)->start(r->collector, err);
	if (!rc && o->output)
		rc = dw_session_create(o->output, &r->writer, err);
	if (!rc && !ops(r)->runs_nothing)
		rc = dw_run_begin(&r->run, o->argv, &r->profile.facts, err);
	r->next_tick_ns = r->run.start_ns + TICK_NS;
	r->has_begun = !rc;
	return rc;
}

static bool is_over(const struct dw_recorder *r, uint64_t now)
{
	bool goes_on = r->options->wait_all && ops(r)->goes_on && ops(r)->goes_on(r->collector);

	return dw_run_is_over(&r->run, now, goes_on);
}

/* Milliseconds until something is due even if no descriptor wakes us. */
static int patience_ms(const struct dw_recorder *r, uint64_t now)
{
	uint64_t due = r->due_ns < r->next_tick_ns ? r->due_ns : r->next_tick_ns;

	if (r->run.duration_ns && r->run.start_ns + r->run.duration_ns < due)
		due = r->run.start_ns + r->run.duration_ns;
	return now < due ? (int)((due - now) / 1000000) + 1 : 0;
}

/* The descriptors to sleep on: signals, the ends of processes, and what the collector has. */
static size_t watch(struct dw_recorder *r, struct pollfd *fds)
{
	size_t n = 1;

	fds[0] = (struct pollfd){.fd = r->run.signals.fd, .events = POLLIN};
	n += dw_targets_poll_fds(&r->run.targets, fds + n, MAX_POLL_FDS / 2);
	return n +
	       (ops(r)->poll_fds ? ops(r)->poll_fds(r->collector, fds + n, MAX_POLL_FDS - n) : 0);
}

static int tick(struct dw_recorder *r, struct dw_error *err)
{
	uint64_t now = dw_clock_ns(CLOCK_MONOTONIC);

	if (!ops(r)->runs_nothing)
		dw_run_tick(&r->run, now);
	if (now >= r->next_tick_ns) {
		struct dw_record_progress progress = {.elapsed_ns = now - r->run.start_ns};

		r->next_tick_ns = now + TICK_NS;
		/* The end of a command that died before we took signals is told by none. */
		if (!ops(r)->runs_nothing)
			dw_run_take_signals(&r->run);
		if (ops(r)->beat)
			ops(r)->beat(r->collector, now);
		stats_of(r, &progress.stats);
		if (r->options->progress)
			r->options->progress(r->options->progress_ctx, &progress);
	}
	return ops(r)->tick ? ops(r)->tick(r->collector, now, &r->due_ns, err) : 0;
}

static int collect(struct dw_recorder *r, struct dw_error *err)
{
	dw_auto_free struct pollfd *fds = calloc(MAX_POLL_FDS, sizeof *fds);
	int rc = fds ? 0 : -ENOMEM;

	for (uint64_t now = dw_clock_ns(CLOCK_MONOTONIC); !rc && !is_over(r, now);
	     now = dw_clock_ns(CLOCK_MONOTONIC)) {
		size_t n = watch(r, fds);

		if (poll(fds, n, patience_ms(r, now)) < 0 && errno != EINTR)
			return dw_error_set_errno(err, errno, "poll");
		if (fds[0].revents || r->run.is_attached)
			dw_run_take_signals(&r->run);
		rc = ops(r)->drain(r->collector, err);
		if (!rc)
			rc = tick(r, err);
	}
	return rc;
}

/* Take what is still to come and commit it. @rc is the recording's state so far. */
static int stop(struct dw_recorder *r, int rc, struct dw_error *err)
{
	int closed;

	rc = ops(r)->stop(r->collector, rc, rc ? NULL : err);
	if (!r->writer)
		return rc;
	if (!rc || rc == r->rc) /* which then says why */
		rc = dw_recorder_flush(r, err);
	else if (!r->rc) /* not the file's fault: what was collected stays */
		dw_recorder_flush(r, NULL);
	closed = dw_session_close_partial(r->writer, rc ? NULL : err);
	return rc ? rc : closed;
}

static int finish(struct dw_recorder *r, struct dw_error *err)
{
	const struct dw_record_options *o = r->options;
	dw_auto_free char *partial = NULL;
	struct dw_finish_options options = {
		.path = o->output,
		/* Whoever pressed Ctrl-C waits: better a module without names than minutes. */
		.symbol_timeout_ms = r->result->stop_signal ? IMPATIENT_MS : 0,
		.held = true,
		.without_code = o->without_code,
		.debuginfod_ms = o->debuginfod_ms,
		.with_source = o->with_source,
		.cache_dir = o->cache_dir,
	};

	if (asprintf(&partial, "%s.partial", o->output) < 0)
		return -ENOMEM;
	options.partial = partial;
	ops(r)->finish(r->collector, &options);
	dw_profile_release(&r->profile);
	return dw_finish(&options, err);
}

static int run(struct dw_recorder *r, struct dw_error *err)
{
	int rc = start(r, err);

	if (rc)
		return rc;
	rc = stop(r, collect(r, err), err);
	return !rc && r->writer ? finish(r, err) : rc;
}

int dw_record(const struct dw_record_options *options, struct dw_record_result *ret,
	      struct dw_error *err)
{
	struct dw_recorder r = {
		.options = options,
		.result = ret,
		.run = DW_RUN_INIT(ret, options->duration_ns),
	};
	int rc;

	*ret = (struct dw_record_result){0};
	rc = run(&r, err);
	dw_session_writer_free(r.writer, !r.has_begun || (rc && ops(&r)->runs_nothing));
	ops(&r)->free(r.collector);
	if (r.has_begun && !ops(&r)->runs_nothing)
		dw_run_take_signals(&r.run); /* those that came meanwhile */
	dw_run_release(&r.run);
	dw_profile_release(&r.profile);
	dw_error_clear(&r.why);
	if (rc && err && !err->code)
		dw_error_set(err, rc, "%s: %s", ops(&r)->activity, dw_err_string(rc));
	return rc;
}
