/*
 * The perf backend: kernel events in, profile out; see collect/backend.h.
 *
 * Draining takes records of all rings in the order of time. A CPU may be about to write a record
 * that is older than one we see already, so the last millisecond before the look at the rings waits
 * for the next time.
 *
 * How much of a stack to copy: the target pays for each byte, so begin with what most programs need
 * and let the deep reads (deep-stack.h) do the rest; where they fail too often, because the stack
 * has changed by the time it is read, copy more.
 *
 * When to look at the rings: a wake-up costs as much as a few samples. So while samples come, only
 * the caller's patience ends its sleep, not how full the rings are; but not where they would fill
 * up meanwhile, nor while stacks must be read soon: signal handlers return within milliseconds, and
 * a copy of 30 MB takes as long.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/backend.h"
#include "collect/perf/attach.h"
#include "collect/perf/events.h"
#include "collect/perf/records.h"
#include "collect/perf/event.h"
#include "collect/waits/waits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOLD_BACK_NS 1000000u

enum {
	DEFAULT_STACK_BYTES = 32 << 10,
	COUNT_STACK_BYTES = 8 << 10,
	DEEPER_STACK_BYTES = 48 << 10,
	WINDOW_SAMPLES = 500, /* after so many the share of cut stacks is looked at */
	WINDOW_CUT = 5,	      /* more of them than this are too many */
	DEFAULT_FREQUENCY_HZ = 1000,
	NS_PER_S = 1000000000,
	LEVEL_ALL = 0, /* of kernel.perf_event_paranoid that lets users watch others */
	SLEEP_MS = 20, /* of a patient caller */
	HURRY_DRAINS = 64,
	ATTACH_ROUNDS_MAX = 50,
	READ_WATCHES_MAX = 64,
};

/* When to copy more of each stack. */
struct depth {
	uint64_t window_kept; /* samples, when the window began */
	uint64_t window_cut;  /* that a larger copy may mend */
	bool deeper;
	bool settled; /* nothing more to do */
};

struct dw_backend {
	struct dw_profile *profile; /* borrowed */
	struct dw_perf_options options;
	struct dw_perf_events events;
	struct dw_rings rings;
	struct dw_dispatcher dispatcher;
	struct dw_duplicates duplicates;
	struct dw_waits_watch waits;
	bool has_waits;
	struct depth depth;
	DW_VEC(struct pollfd) fds; /* of the rings */
	size_t side_n;		   /* so many of them do not sample, and come first */
	bool is_roomy;		   /* rings hold far more than comes while the caller sleeps */
	bool had_samples;	   /* the last drain */
	uint64_t urgent;	   /* of the sampler, when they were looked at last */
	unsigned hurry_drains;	   /* for so many more, wake up early */
	bool is_stopped;
};

static void perf_free(struct dw_backend *b)
{
	if (!b)
		return;
	dw_rings_release(&b->rings);
	dw_perf_events_release(&b->events);
	if (b->has_waits)
		dw_waits_release(&b->waits);
	dw_dispatcher_release(&b->dispatcher);
	dw_duplicates_release(&b->duplicates);
	dw_vec_release(&b->fds);
	free(b);
}

static inline void perf_freep(struct dw_backend **b)
{
	perf_free(*b);
}

/* What a sample stands for. */
static int note_event(struct dw_backend *b)
{
	struct dw_facts *f = &b->profile->facts;
	const struct dw_perf_event *event = &b->events.event;
	uint64_t period = dw_perf_period(event, &b->options);
	int rc = dw_facts_set_text(f, "event", event->name);

	if (!rc && event->kind == DWELL_EVENT_CLOCK)
		rc = dw_facts_set(f, "frequency_hz", (int64_t)(NS_PER_S / period));
	else if (!rc && !period)
		rc = dw_facts_set(f, "frequency_hz", b->options.frequency_hz);
	else if (!rc)
		rc = dw_facts_set(f, "period", (int64_t)period);
	return rc ? rc : dw_facts_set(f, "kernel_sampled", b->events.kernel);
}

/* The boot that addresses of the kernel belong to. */
static int note_boot(struct dw_backend *b)
{
	char boot[64] = "";
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, boot, sizeof boot - 1);

	if (fd >= 0)
		close(fd);
	boot[n > 0 ? n : 0] = 0;
	boot[strcspn(boot, "\n")] = 0;
	return dw_facts_set_text(&b->profile->facts, "boot", boot);
}

/* What samples of other events than the chosen one measure. */
static enum dw_measure measure_of(void *ctx, const struct dw_perf_sample *sample)
{
	const struct dw_backend *b = ctx;

	return dw_perf_events_measure(&b->events, sample->event);
}

/* Tell of what is recorded beside; of waits their watch does. */
static int begin_besides(struct dw_backend *b)
{
	const struct dw_perf_beside *beside;
	int rc = 0;

	if (!dw_perf_besides_sample(b->options.beside))
		return 0;
	b->dispatcher.unwinder.measure_of = measure_of;
	b->dispatcher.unwinder.ctx = b;
	for (size_t i = 0; !rc && (beside = dw_perf_beside(i)); i++)
		if (dw_measures_has(b->options.beside, beside->measure))
			rc = dw_profile_measures_add(b->profile, beside->measure);
	return rc;
}

/* Facts that tell how samples came about. */
static int note_facts(struct dw_backend *b)
{
	struct dw_facts *f = &b->profile->facts;
	uint64_t ring_bytes = 0;
	int rc = note_event(b);

	dw_vec_each(r, &b->rings.v)
		ring_bytes += r->bytes;
	b->depth.settled = !dw_perf_events_can_deepen(&b->events);
	if (!rc && b->events.kernel)
		rc = note_boot(b);
	if (!rc)
		rc = dw_facts_set_text(f, "clock", "monotonic");
	if (!rc)
		rc = dw_facts_set(f, "stack_bytes", b->options.stack_bytes);
	if (!rc)
		rc = dw_facts_set(f, "stack_bytes_max", b->options.stack_bytes);
	if (!rc)
		rc = dw_facts_set(f, "ring_bytes", (int64_t)ring_bytes);
	return rc ? rc : dw_facts_set(f, "cpus", (int64_t)b->events.cpus.n);
}

static int list_fds(struct dw_backend *b)
{
	size_t room = SIZE_MAX;

	dw_vec_each(cpu, &b->events.cpus) {
		if (dw_vec_push(&b->fds, (struct pollfd){cpu->side_fd, POLLIN, 0}))
			return -ENOMEM;
	}
	b->side_n = b->fds.n;
	dw_vec_each(cpu, &b->events.cpus) {
		if (dw_vec_push(&b->fds, (struct pollfd){cpu->sample_fd, POLLIN, 0}))
			return -ENOMEM;
	}
	dw_vec_each(r, &b->rings.v) {
		if (!r->side && r->bytes < room)
			room = r->bytes;
	}
	b->is_roomy = b->events.event.kind == DWELL_EVENT_CLOCK && !b->options.period &&
		      !dw_perf_besides_sample(b->options.beside) &&
		      room / b->options.stack_bytes_max >=
			      (uint64_t)b->options.frequency_hz * 4 * SLEEP_MS / 1000;
	return 0;
}

/* How much of the stack to copy at first and at most. What happens may happen very often. */
static void choose_depth(uint32_t asked, struct dw_perf_options *o)
{
	bool is_count = o->event.name[0] && o->event.kind == DWELL_EVENT_COUNT;

	o->stack_bytes = asked ? asked : is_count ? COUNT_STACK_BYTES : DEFAULT_STACK_BYTES;
	if (o->stack_bytes > DWELL_PERF_STACK_MAX)
		o->stack_bytes = DWELL_PERF_STACK_MAX;
	o->stack_bytes &= ~7u;
	o->stack_bytes_max = asked || is_count ? o->stack_bytes : DEEPER_STACK_BYTES;
}

int dw_perf_check(struct dw_error *err)
{
	struct dw_perf_options o = {.at_exec = true, .frequency_hz = DEFAULT_FREQUENCY_HZ};

	choose_depth(0, &o);
	return dw_perf_events_check(&o, err);
}

static int choose_options(const struct dw_backend_config *c, struct dw_perf_options *o,
			  struct dw_error *err)
{
	int rc = c->event ? dw_perf_event_find(c->event, &o->event, err) : 0;

	o->at_exec = !c->pids_n && !c->system_wide;
	o->system_wide = c->system_wide;
	o->beside = c->beside;
	/* Waits are recorded by an event only where they are by records of switches. */
	if (!c->exact_waits)
		o->beside &= ~((dw_measures)1 << DWELL_MEASURE_BLOCKED);
	o->identify = c->pids_n || dw_perf_besides_sample(c->beside);
	o->kernel = c->kernel;
	o->period = c->period;
	o->frequency_hz = c->frequency_hz ? c->frequency_hz : DEFAULT_FREQUENCY_HZ;
	choose_depth(c->stack_bytes, o);
	return rc;
}

static int watch_command(struct dw_backend *b, pid_t pid, struct dw_error *err)
{
	int rc = dw_perf_events_watch(&b->events, &b->options, pid);

	return rc ? dw_perf_refusal(rc, err) : dw_track_command(&b->dispatcher.track, pid);
}

static int perf_drain(struct dw_backend *b, bool final, struct dw_error *err);

static int on_fork(void *ctx, const struct dw_perf_record *r)
{
	return dw_attach_fork(ctx, r);
}

static int counts(void *ctx, uint32_t thread, const struct dw_perf_sample *sample)
{
	struct dw_backend *b = ctx;

	return dw_duplicates_counts(&b->duplicates, &b->events, thread, sample->event);
}

/* Watch until a listing of threads holds no new ones, or there is no end to it. */
static int settle(struct dw_backend *b, struct dw_attach *a, struct dw_error *err)
{
	struct timespec pause = {.tv_nsec = DWELL_ATTACH_PAUSE_MS * 1000000};
	size_t n = 1;
	int rc = 0;

	while (!rc && n && a->rounds < ATTACH_ROUNDS_MAX) {
		rc = dw_attach_list(a, err);
		if (!rc && a->rounds) {
			nanosleep(&pause, NULL);
			rc = perf_drain(b, false, err);
		}
		if (!rc)
			rc = dw_attach_watch(a, &n, err);
		if (!rc && !n && a->rounds == 1)
			rc = dw_error_set(err, DWELL_ERR_NOT_FOUND, "process %d has ended",
					  (int)a->pids.v[0]);
	}
	return rc ? rc : dw_facts_set(&b->profile->facts, "attach_unsettled", (int64_t)n);
}

static int attach(struct dw_backend *b, const struct dw_backend_config *config,
		  struct dw_error *err)
{
	dw_auto(dw_attach) a = {.events = &b->events,
				.options = &b->options,
				.track = &b->dispatcher.track,
				.duplicates = &b->duplicates,
				.named = config->pids_n};
	int rc = 0;

	for (size_t i = 0; i < config->pids_n && !rc; i++)
		rc = dw_vec_push(&a.pids, config->pids[i]);
	b->dispatcher.on_fork = on_fork;
	b->dispatcher.on_fork_ctx = &a;
	b->dispatcher.unwinder.counts = counts;
	b->dispatcher.unwinder.ctx = b;
	if (!rc)
		rc = settle(b, &a, err);
	b->dispatcher.on_fork = NULL;
	return rc;
}

static int watch_all(struct dw_backend *b, pid_t command, struct dw_error *err)
{
	int rc = dw_perf_events_watch(&b->events, &b->options, DWELL_PERF_ALL_TASKS);

	if (rc == -EACCES || rc == -EPERM)
		return dw_perf_scope_refusal(rc, LEVEL_ALL, "watching all processes", err);
	b->dispatcher.track.is_open = true;
	if (!rc && command)
		rc = dw_track_command(&b->dispatcher.track, command);
	return rc;
}

static int watch(struct dw_backend *b, const struct dw_backend_config *config, struct dw_error *err)
{
	if (config->system_wide)
		return watch_all(b, config->pid, err);
	return config->pids_n ? attach(b, config, err) : watch_command(b, config->pid, err);
}

static int on_switch(void *ctx, const struct dw_perf_record *r)
{
	return dw_waits_switch(ctx, r);
}

static int begin_waits(struct dw_backend *b, const struct dw_backend_config *config)
{
	b->has_waits = true;
	b->dispatcher.on_switch = on_switch;
	b->dispatcher.on_switch_ctx = &b->waits;
	return dw_waits_begin(&b->waits, &b->dispatcher,
			      &(struct dw_waits_options){
				      .has_records = config->exact_waits,
				      .is_attached = config->pids_n,
				      .is_thrifty = !config->exact_waits,
				      .start_ns = dw_clock_ns(CLOCK_MONOTONIC),
			      });
}

static int perf_start(const struct dw_backend_config *config, struct dw_profile *profile,
		      struct dw_backend **ret, struct dw_error *err)
{
	__attribute__((cleanup(perf_freep))) struct dw_backend *b = calloc(1, sizeof *b);
	int rc;

	if (!b)
		return dw_error_set_errno(err, ENOMEM, "cannot start sampling");
	b->profile = profile;
	rc = choose_options(config, &b->options, err);
	if (rc)
		return rc;
	dw_dispatcher_init(&b->dispatcher, profile, config->cache_dir, false);
	b->dispatcher.track.start_ns = config->start_ns;
	dw_dispatcher_use(&b->dispatcher, config->managed, config->jit);
	rc = dw_perf_events_open(&b->options, &b->events, &b->rings, err);
	b->dispatcher.has_chains = b->events.kernel;
	if (!rc)
		rc = begin_besides(b);
	if (!rc)
		rc = watch(b, config, err);
	if (!rc)
		rc = list_fds(b);
	if (!rc)
		rc = note_facts(b);
	if (!rc && dw_measures_has(config->beside, DWELL_MEASURE_BLOCKED))
		rc = begin_waits(b, config);
	if (rc)
		return err && err->code ? rc
					: dw_error_set_errno(err, -rc, "cannot start sampling");
	*ret = dw_take_ptr(b);
	return 0;
}

/* The first @n descriptors of rings, at most @max. */
static size_t poll_rings(const struct dw_backend *b, size_t n, struct pollfd *fds, size_t max)
{
	n = n < max ? n : max;
	for (size_t i = 0; i < n; i++)
		fds[i] = b->fds.v[i];
	return n;
}

static size_t perf_poll_fds(struct dw_backend *b, struct pollfd *fds, size_t max)
{
	bool is_patient = b->is_roomy && b->had_samples && !b->hurry_drains;
	size_t n = is_patient ? b->side_n : b->fds.n;

	if (b->has_waits && max) {
		dw_waits_poll_fd(&b->waits, fds);
		return 1 + poll_rings(b, n, fds + 1, max - 1);
	}
	return poll_rings(b, n, fds, max);
}

/* Wake up early for a while after a stack that had to be read soon. */
static void adapt_hurry(struct dw_backend *b)
{
	uint64_t urgent = b->dispatcher.unwinder.deep.urgent;

	if (urgent != b->urgent)
		b->hurry_drains = HURRY_DRAINS;
	else if (b->hurry_drains)
		b->hurry_drains--;
	b->urgent = urgent;
}

/* At the end of each window of samples, see whether too many were cut. The second time mends what a
 * fork at the moment of the first may have left, see events.c. */
static int adapt_depth(struct dw_backend *b)
{
	const struct dw_sample_unwinder *s = &b->dispatcher.unwinder;
	struct depth *d = &b->depth;
	uint64_t cut = s->cut - s->uncopied;
	bool too_many = cut - d->window_cut > WINDOW_CUT;

	if (d->settled || s->kept - d->window_kept < WINDOW_SAMPLES)
		return 0;
	d->window_kept = s->kept;
	d->window_cut = cut;
	d->settled = d->deeper;
	if (!d->deeper && !too_many)
		return 0;
	d->deeper = true;
	dw_perf_events_deepen(&b->events);
	return dw_facts_set(&b->profile->facts, "stack_bytes_max", b->options.stack_bytes_max);
}

/* The records come from another processor's cache, one by one they are waited for. */
static void fetch_ahead(struct dw_backend *b, const struct dw_ring *r)
{
	size_t n;
	const void *record = dw_ring_peek_behind(r, &n);

	if (record)
		dw_dispatcher_prefetch(&b->dispatcher, record, n);
}

static int perf_drain(struct dw_backend *b, bool final, struct dw_error *err)
{
	uint64_t limit_ns = final ? UINT64_MAX - 1 : dw_clock_ns(CLOCK_MONOTONIC) - HOLD_BACK_NS;
	uint64_t kept = b->dispatcher.unwinder.kept;
	struct dw_ring *r;
	int rc = 0;

	if (b->has_waits && !final)
		rc = dw_waits_look(&b->waits, dw_clock_ns(CLOCK_MONOTONIC), false);
	dw_rings_refresh(&b->rings);
	while (!rc && (r = dw_rings_next(&b->rings, limit_ns))) {
		size_t n;
		const void *record = dw_ring_peek(r, &n);

		if (!r->side)
			fetch_ahead(b, r);
		rc = dw_dispatcher_record(&b->dispatcher, record, n, r->side);
		dw_ring_consume(r);
	}
	if (!rc && b->has_waits && final)
		rc = dw_waits_look(&b->waits, dw_clock_ns(CLOCK_MONOTONIC), true);
	b->had_samples = b->dispatcher.unwinder.kept > kept;
	adapt_hurry(b);
	if (!final && !rc)
		rc = adapt_depth(b);
	if (final && !rc) {
		dw_track_cpu_times(&b->dispatcher.track);
		rc = dw_facts_set(&b->profile->facts, "samples_discarded_32bit",
				  (int64_t)b->dispatcher.unwinder.discarded_32);
	}
	return rc ? dw_error_set_errno(err, -rc, "cannot take in samples") : 0;
}

static void perf_stop(struct dw_backend *b)
{
	b->is_stopped = true;
	dw_perf_events_stop(&b->events);
}

static void perf_stats(const struct dw_backend *b, struct dw_backend_stats *ret)
{
	const struct dw_dispatcher *in = &b->dispatcher;
	uint64_t lost_samples = in->lost_samples, lost_side = in->lost_side;
	/* Reading an event asks the CPU that its task runs on: not for many, while they run. */
	if (b->events.counts_lost && (b->is_stopped || b->events.watches.n <= READ_WATCHES_MAX))
		dw_perf_events_lost(&b->events, &lost_samples, &lost_side);
	dw_vec_each(ring, &b->rings.v)
		lost_side += ring->dropped;
	*ret = (struct dw_backend_stats){
		.samples_kept = in->unwinder.kept,
		.samples_lost = lost_samples,
		.samples_discarded = in->unwinder.discarded,
		.stacks_cut = in->unwinder.cut,
		.records_lost = lost_side + in->malformed,
		.throttled = in->throttled,
		.unread_user = in->track.unread_user,
		.unread_kernel = in->track.unread_kernel,
	};
}

static const struct dw_module_source *perf_sources(struct dw_backend *b, size_t *n)
{
	return dw_perf_modules_sources(&b->dispatcher.modules, n);
}

const struct dw_backend_ops dw_backend_perf = {
	.name = "perf",
	.start = perf_start,
	.poll_fds = perf_poll_fds,
	.drain = perf_drain,
	.stop = perf_stop,
	.stats = perf_stats,
	.sources = perf_sources,
	.free = perf_free,
};
