/*
 * The backend for kernels that refuse perf: each process samples itself by an agent
 * (src/agent/sample), and tells in the ring of its region; see collect/backend.h.
 *
 * The agent's timers expire at the kernel's ticks only, so the rate is the ticks' or a part of it.
 * Samples of one process come in the order of time, processes one after the other: an old program's
 * last ones are read before what executed in its place begins. A process whose region is over has
 * ended, unless it is still there: then it executes something, with the agent or without.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/backend.h"
#include "collect/in-process/process.h"
#include "collect/region/process.h"
#include "collect/samples/track-procfs.h"
#include "collect/waits/waits.h"
#include "target/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS	  200000000ull
#define LOOK_NS	  200000000ull	/* at threads */
#define SELDOM_NS 1000000000ull /* likewise where they are many */

enum {
	DEFAULT_FREQUENCY_HZ = 1000,
	DEFAULT_STACK_BYTES = 48 << 10, /* most of what is deeper is far deeper */
	RING_BYTES_PER_CPU =
		512 << 10, /* some 10 of the largest samples: 40 ms, more of usual ones */
	RING_BYTES_MIN = 1 << 20,
	RING_BYTES_MAX = 16 << 20,
	MANY_THREADS = 64,
	FOREBEARS = 16, /* without a region, that are followed for a child that has one */
};

struct dw_backend {
	struct dw_profile *profile; /* borrowed */
	struct dw_regions regions;
	struct dw_dispatcher dispatcher;
	struct dw_in_process_reader reader;
	struct dw_waits_watch waits;
	bool has_waits;
	DW_VEC(struct dw_sampled_process *) processes;
	struct dw_in_process_ring ended; /* counts of those that are gone */
	char mode[128];
	uint64_t interval_ns;
	uint32_t stack_bytes;
	uint64_t tick_ns; /* the kernel's */
	uint32_t ticks;	  /* of each sample */
	uint64_t next_tick_ns;
	uint64_t next_look_ns;
	uint64_t unsampled;			 /* threads */
	uint64_t left_alone[DWELL_SAMPLE_OFF_N]; /* processes, by cause */
	uint64_t children;			 /* that could not take the agent */
	bool is_behind;				 /* more regions have come than were looked at */
	int rc;					 /* -ENOMEM that came in between */
};

static void note(struct dw_backend *b, int rc)
{
	if (rc)
		b->rc = rc;
}

static void free_process(struct dw_sampled_process *p)
{
	if (p->fd >= 0)
		close(p->fd);
	free(p);
}

static void in_process_free(struct dw_backend *b)
{
	if (!b)
		return;
	dw_vec_each(p, &b->processes)
		free_process(*p);
	dw_vec_release(&b->processes);
	free(b->reader.buffer.bytes);
	if (b->has_waits)
		dw_waits_release(&b->waits);
	dw_dispatcher_release(&b->dispatcher);
	dw_regions_release(&b->regions);
	free(b);
}

static inline void in_process_freep(struct dw_backend **b)
{
	in_process_free(*b);
}

/* What @p has counted goes where all is summed up. */
static void sum_up(struct dw_backend *b, const struct dw_sampled_process *p)
{
	b->ended.lost += p->ring.lost;
	b->ended.threads_refused += p->ring.threads_refused;
	if (p->ring.off && p->ring.off < DWELL_SAMPLE_OFF_N)
		b->left_alone[p->ring.off]++;
}

/* The program of process @pid that is known gives way to another. Whether it was a silent one. */
static bool replace(struct dw_backend *b, pid_t pid)
{
	bool is_silent = false;

	dw_vec_each(at, &b->processes) {
		struct dw_sampled_process *p = *at;

		if (p->pid != pid)
			continue;
		is_silent |= p->is_silent;
		note(b, dw_in_process_read(&b->reader, p, true));
		p->pid = 0;
	}
	return is_silent;
}

/* A row for what is in @p, which is copied. NULL = no memory. */
static struct dw_sampled_process *add(struct dw_backend *b, const struct dw_sampled_process *p)
{
	struct dw_sampled_process *copy = calloc(1, sizeof *copy);

	if (!copy || dw_vec_push(&b->processes, copy)) {
		free(copy);
		return NULL;
	}
	*copy = *p;
	return copy;
}

static bool is_followed(const struct dw_backend *b, pid_t pid)
{
	const struct dw_tracked_thread *th = dw_track_find(&b->dispatcher.track, pid);

	return th && !th->ended;
}

/*
 * Follow @pid, which has a child of ours: a fork's child has no region before its first sample, and
 * may have forked by then. So may its parent be, up to one that is followed.
 */
static int follow_silent(struct dw_backend *b, pid_t pid, uint64_t time_ns)
{
	pid_t line[FOREBEARS];
	struct dw_proc_stat st;
	int n = 0, rc = 0;

	for (; !is_followed(b, pid); pid = st.parent) {
		if (pid <= 1 || n == FOREBEARS || dw_proc_stat_read(pid, &st))
			return 0;
		line[n++] = pid;
	}
	for (; n-- && !rc; pid = line[n]) {
		const struct dw_sampled_process p = {.pid = line[n],
						     .start_ns = time_ns,
						     .fd = -1,
						     .is_over = true,
						     .is_silent = true};

		rc = add(b, &p) ? dw_in_process_fork(&b->reader, &p, pid) : -ENOMEM;
	}
	return rc;
}

/* A program with a region began in process @pid, whose fork is known already or not. */
static int add_process(struct dw_backend *b, const struct dw_region_look *look, pid_t pid,
		       bool is_forked)
{
	const struct dw_region_head *head = look->head;
	struct dw_sampled_process *p = add(
		b,
		&(struct dw_sampled_process){
			.pid = pid, .region = look->region, .start_ns = head->start_ns, .fd = -1});
	int rc = p ? 0 : -ENOMEM;

	if (p)
		p->fd = fcntl(look->fd, F_DUPFD_CLOEXEC, 0);
	if (!rc && !is_forked && head->parent_pid <= INT32_MAX)
		rc = follow_silent(b, (pid_t)head->parent_pid, head->start_ns);
	return rc ? rc : dw_in_process_begin(&b->reader, p, head, is_forked);
}

static void on_began(void *ctx, const struct dw_region_look *look)
{
	struct dw_backend *b = ctx;
	struct dw_region_process found = {0};
	int rc = dw_region_process_read(&look->owner, &found);
	pid_t pid;

	if (rc == DWELL_ERR_REFUSED && dw_regions_is_held(&b->regions, look->region)) {
		dw_region_process_release(&found);
		rc = dw_region_process_search(&look->owner, &found);
	}
	/* One that is gone already is believed: its number is all that is told of it. */
	pid = rc ? look->owner.pid : found.pid;
	if (pid > 0 && rc != -ENOMEM)
		note(b, add_process(b, look, pid, replace(b, pid)));
	dw_region_process_release(&found);
}

static void on_ended(void *ctx, const struct dw_region_look *look)
{
	struct dw_backend *b = ctx;

	b->children += look->head->drops[DWELL_DROP_CHILDREN];
	dw_vec_each(at, &b->processes) {
		struct dw_sampled_process *p = *at;

		if (p->region != look->region || p->fd < 0)
			continue;
		note(b, dw_in_process_read(&b->reader, p, true));
		sum_up(b, p);
		close(p->fd);
		p->fd = -1;
		p->is_over = true;
	}
}

/* How the kernel's ticks make the rate of @hz samples, as nearly as they can. */
static void choose_rate(struct dw_backend *b, uint32_t hz)
{
	struct timespec tick = {0, 4000000};

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	b->tick_ns = tick.tv_nsec ? (uint64_t)tick.tv_nsec : 4000000;
	b->ticks = (uint32_t)((1000000000 / hz + b->tick_ns / 2) / b->tick_ns);
	b->ticks = b->ticks ? b->ticks : 1;
	/* A little less than the ticks take, of which the kernel may count one a little short. */
	b->interval_ns = b->ticks * b->tick_ns - (b->ticks == 1 ? b->tick_ns / 2 : b->tick_ns / 16);
}

static uint64_t ring_bytes(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t bytes = RING_BYTES_MIN;

	while (bytes < RING_BYTES_MAX &&
	       bytes < (uint64_t)(cpus > 0 ? cpus : 1) * RING_BYTES_PER_CPU)
		bytes *= 2;
	return bytes;
}

static int in_process_prepare(const struct dw_backend_config *config, struct dw_profile *profile,
			      struct dw_backend **ret, struct dw_backend_agent *ret_agent,
			      struct dw_error *err)
{
	__attribute__((cleanup(in_process_freep))) struct dw_backend *b = calloc(1, sizeof *b);
	const struct dw_regions_events events = {NULL, on_began, on_ended, b};
	int rc;

	if (!b)
		return dw_error_set_errno(err, ENOMEM, "cannot start sampling");
	b->regions.folder = (struct dw_region_folder)DW_REGION_FOLDER_INIT;
	b->profile = profile;
	b->stack_bytes = config->stack_bytes ? config->stack_bytes : DEFAULT_STACK_BYTES;
	if (b->stack_bytes > DWELL_SAMPLE_STACK_MAX)
		b->stack_bytes = DWELL_SAMPLE_STACK_MAX;
	dw_dispatcher_init(&b->dispatcher, profile, config->cache_dir, false);
	b->reader.dispatcher = &b->dispatcher;
	choose_rate(b, config->frequency_hz ? config->frequency_hz : DEFAULT_FREQUENCY_HZ);
	snprintf(b->mode, sizeof b->mode, "sample interval=%llu stack=%u ring=%llu",
		 (unsigned long long)b->interval_ns, b->stack_bytes,
		 (unsigned long long)ring_bytes());
	rc = dw_regions_open(&b->regions, ".", &events, err);
	if (rc)
		return rc;
	*ret_agent = (struct dw_backend_agent){dw_regions_path(&b->regions), b->mode};
	*ret = dw_take_ptr(b);
	return 0;
}

static int note_facts(const struct dw_backend *b)
{
	struct dw_facts *f = &b->profile->facts;
	int rc = dw_facts_set_text(f, "event", "cpu-ticks");

	if (!rc)
		rc = dw_facts_set_text(f, "clock", "monotonic");
	if (!rc)
		rc = dw_facts_set(f, "frequency_hz",
				  (int64_t)(1000000000 / (b->tick_ns * b->ticks)));
	if (!rc)
		rc = dw_facts_set(f, "stack_bytes", b->stack_bytes);
	return rc ? rc : dw_facts_set(f, "stack_bytes_max", b->stack_bytes);
}

static int in_process_start(const struct dw_backend_config *config, struct dw_profile *profile,
			    struct dw_backend **b, struct dw_error *err)
{
	int rc;

	(void)profile;
	(*b)->dispatcher.track.start_ns = config->start_ns;
	(*b)->dispatcher.track.maps_untold = true;
	dw_dispatcher_use(&(*b)->dispatcher, config->managed, config->jit);
	rc = dw_track_command(&(*b)->dispatcher.track, config->pid);
	if (!rc)
		rc = note_facts(*b);
	if (!rc && dw_measures_has(config->beside, DWELL_MEASURE_BLOCKED)) {
		(*b)->has_waits = true;
		rc = dw_waits_begin(&(*b)->waits, &(*b)->dispatcher,
				    &(struct dw_waits_options){.is_thrifty = !config->exact_waits,
							       .start_ns = config->start_ns});
	}
	return rc ? dw_error_set_errno(err, -rc, "cannot start sampling") : 0;
}

static size_t in_process_poll_fds(struct dw_backend *b, struct pollfd *fds, size_t max)
{
	if (!max)
		return 0;
	fds[0] = (struct pollfd){.fd = dw_regions_fd(&b->regions), .events = POLLIN};
	if (b->has_waits && max > 1)
		dw_waits_poll_fd(&b->waits, fds + 1);
	return b->has_waits && max > 1 ? 2 : 1;
}

/* Whether the process of @but is there still, or another region is its. Some may be forgotten by
 * now. */
static bool goes_on(const struct dw_backend *b, const struct dw_sampled_process *but)
{
	dw_vec_each(p, &b->processes) {
		if (*p && *p != but && (*p)->pid == but->pid)
			return true;
	}
	return !kill(but->pid, 0) || errno == EPERM;
}

/*
 * Forget processes that are over; what is still there executes another program. One that is gone
 * may have done so first: its other regions have come by the next time, or @is_last, if all were
 * seen.
 */
static void forget(struct dw_backend *b, uint64_t now_ns, bool is_last)
{
	size_t n = 0;

	dw_vec_each(at, &b->processes) {
		struct dw_sampled_process *p = *at;
		bool is_gone = p->is_over && p->pid && !goes_on(b, p), is_new = !p->gone_ns;

		if (is_gone && is_new)
			p->gone_ns = now_ns;
		is_gone &= is_last || (!is_new && !b->is_behind);
		if (is_gone)
			dw_track_end_process(&b->dispatcher.track, p->pid, p->gone_ns);
		*at = NULL;
		if (is_gone || (p->is_over && !p->pid))
			free_process(p);
		else
			b->processes.v[n++] = p;
	}
	b->processes.n = n;
}

/* See what has ended, what has another name, and what came by a way that gave it no timer. */
static int look_at_threads(struct dw_backend *b, uint64_t now_ns)
{
	int rc = 0;

	b->next_look_ns =
		now_ns + (b->dispatcher.track.threads.n > MANY_THREADS ? SELDOM_NS : LOOK_NS);
	dw_vec_each(at, &b->processes) {
		const struct dw_sampled_process *p = *at;
		struct dw_track_look look = {
			.now_ns = now_ns, .begin_ns = now_ns, .told_ns = p->read_ns, .names = true};

		if (rc == -ENOMEM || !p->pid || p->is_over)
			continue;
		rc = dw_track_look(&b->dispatcher.track, p->pid, &look);
		b->unsampled += look.untold;
	}
	return rc == -ENOMEM ? rc : 0;
}

static int read_all(struct dw_backend *b)
{
	int rc = 0;

	dw_vec_each(p, &b->processes) {
		if (!rc)
			rc = dw_in_process_read(&b->reader, *p, false);
	}
	return rc;
}

/* Whether a region has come whose header did not stand yet. */
static bool is_waiting(const struct dw_backend *b)
{
	size_t open = 0;

	dw_vec_each(p, &b->processes)
		open += (*p)->fd >= 0;
	return b->regions.open.n > open;
}

/* The facts of one language's frames, where there is something to tell. */
static int note_frames(struct dw_backend *b, const char *name,
		       const struct dw_interpreter_counts *c)
{
	const struct {
		const char *key;
		uint64_t value;
	} rows[] = {
		{"samples", c->samples},
		{"unknown", c->unknown},
		{"unread", dw_interpreter_unread(c)},
	};
	char key[32];
	int rc = 0;

	for (size_t i = 0; i < sizeof rows / sizeof *rows && !rc; i++) {
		snprintf(key, sizeof key, "%s_%s", name, rows[i].key);
		rc = dw_facts_set(&b->profile->facts, key, (int64_t)rows[i].value);
	}
	return rc;
}

static int note_interpreters(struct dw_backend *b)
{
	const struct dw_interpreter_counts *counts = b->dispatcher.unwinder.interpreters.counts;
	int rc = 0;

	for (int i = DWELL_PYTHON; i < DWELL_LANGUAGES_END && !rc; i++)
		if (i == DWELL_PYTHON || counts[i].samples || counts[i].unknown ||
		    dw_interpreter_unread(&counts[i]))
			rc = note_frames(b, dw_language_name((uint32_t)i), &counts[i]);
	return rc;
}

/* Facts that the end tells. */
static int note_end(struct dw_backend *b)
{
	const struct {
		const char *key;
		uint64_t value;
	} rows[] = {
		{"threads_unsampled", b->unsampled + b->ended.threads_refused},
		{"children_unsampled", b->children},
		{"left_alone_signal", b->left_alone[DWELL_SAMPLE_OFF_SIGNAL]},
		{"left_alone_filter", b->left_alone[DWELL_SAMPLE_OFF_FILTER]},
		{"left_alone_timer", b->left_alone[DWELL_SAMPLE_OFF_TIMER]},
		{"left_alone_traced", b->left_alone[DWELL_SAMPLE_OFF_TRACED]},
	};
	int rc = note_interpreters(b);

	for (size_t i = 0; i < sizeof rows / sizeof *rows && !rc; i++)
		rc = dw_facts_set(&b->profile->facts, rows[i].key, (int64_t)rows[i].value);
	return rc;
}

static int finish(struct dw_backend *b, uint64_t now_ns)
{
	int rc = look_at_threads(b, now_ns);

	/* And what is gone by then ends. */
	if (!rc)
		rc = read_all(b);
	if (!rc)
		rc = look_at_threads(b, dw_clock_ns(CLOCK_MONOTONIC));
	dw_regions_finish(&b->regions);
	forget(b, now_ns, true);
	dw_track_cpu_times(&b->dispatcher.track);
	return rc ? rc : note_end(b);
}

static int in_process_drain(struct dw_backend *b, bool final, struct dw_error *err)
{
	uint64_t now_ns = dw_clock_ns(CLOCK_MONOTONIC);
	int rc = 0;

	if (b->has_waits && !final)
		rc = dw_waits_look(&b->waits, now_ns, false);
	b->is_behind = dw_regions_drain(&b->regions, now_ns);
	if (!rc)
		rc = read_all(b);
	if (now_ns >= b->next_tick_ns || is_waiting(b)) {
		b->next_tick_ns = now_ns + TICK_NS;
		dw_regions_tick(&b->regions, now_ns);
		forget(b, now_ns, false);
	}
	if (!rc && final)
		rc = finish(b, now_ns);
	else if (!rc && now_ns >= b->next_look_ns)
		rc = look_at_threads(b, now_ns);
	if (!rc && b->has_waits && final)
		rc = dw_waits_look(&b->waits, dw_clock_ns(CLOCK_MONOTONIC), true);
	rc = rc ? rc : b->rc;
	return rc ? dw_error_set_errno(err, -rc, "cannot take in samples") : 0;
}

/* Timers cannot be stopped from outside: what comes later is not read. */
static void in_process_stop(struct dw_backend *b)
{
	(void)b;
}

static void in_process_stats(const struct dw_backend *b, struct dw_backend_stats *ret)
{
	*ret = (struct dw_backend_stats){
		.samples_kept = b->dispatcher.unwinder.kept,
		.samples_lost = b->ended.lost,
		.samples_discarded = b->dispatcher.unwinder.discarded,
		.stacks_cut = b->dispatcher.unwinder.cut,
		.records_lost = b->reader.malformed,
		.unread_user = b->dispatcher.track.unread_user,
		.unread_kernel = b->dispatcher.track.unread_kernel,
	};
	dw_vec_each(p, &b->processes) {
		ret->samples_lost += (*p)->is_over ? 0 : (*p)->ring.lost;
	}
}

static const struct dw_module_source *in_process_sources(struct dw_backend *b, size_t *n)
{
	return dw_perf_modules_sources(&b->dispatcher.modules, n);
}

const struct dw_backend_ops dw_backend_in_process = {
	.name = "inside",
	.prepare = in_process_prepare,
	.start = in_process_start,
	.poll_fds = in_process_poll_fds,
	.drain = in_process_drain,
	.stop = in_process_stop,
	.stats = in_process_stats,
	.sources = in_process_sources,
	.free = in_process_free,
};
