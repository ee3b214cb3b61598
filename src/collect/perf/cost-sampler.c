/*
 * Addresses by the CPU clock; see cost-sampler.h. Samples are those of perf_event_open(2), "MMAP
 * layout", with address, task, time and the top of the stack.
 */
#include "collect/perf/cost-sampler.h"

#include "base/cursor.h"
#include "collect/perf/event.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define OPEN_NS	   20000000ull	/* a window */
#define LOOK_NS	   100000000ull /* as long as all time is one */
#define RUNS_A_S   1000.0	/* in windows, in a second of processor time: half of the samples */
#define PART_MIN   0.1
#define PART_WHOLE 0.8 /* turning would not be worth it */

enum {
	COST_SHARE = 200,
	RUNS_MIN = 100, /* fewer cost next to nothing */
};

void dw_sample_windows_begin(struct dw_sample_windows *w, uint64_t now)
{
	*w = (struct dw_sample_windows){
		.is_open = true,
		.since_ns = now,
		.next_ns = now + OPEN_NS,
		.part = 1,
		.turns_seed = 1,
	};
}

void dw_sample_windows_update(struct dw_sample_windows *w, uint64_t runs, uint64_t ran_ns)
{
	double part = runs < RUNS_MIN ? 1 : RUNS_A_S * (double)ran_ns / 1e9 / (double)runs;

	w->part = part < PART_MIN ? PART_MIN : part < PART_WHOLE ? part : 1;
}

static double draw(struct dw_sample_windows *w)
{
	w->turns_seed = w->turns_seed * 1664525 + 1013904223;
	return 0.5 + (double)(w->turns_seed >> 8) / (1 << 24);
}

bool dw_sample_windows_turn(struct dw_sample_windows *w, uint64_t now, uint64_t cost_ns)
{
	bool was_open = w->is_open;
	uint64_t least = cost_ns * COST_SHARE, wait;

	w->is_open = !was_open || w->part >= 1;
	wait = was_open && w->is_open ? LOOK_NS : OPEN_NS;
	if (wait < least)
		wait = least;
	if (!w->is_open)
		wait = (uint64_t)((double)wait * (1 / w->part - 1) * draw(w));
	w->next_ns = now + wait;
	if (w->is_open == was_open)
		return false;
	if (was_open)
		w->open_ns += now - w->since_ns;
	w->since_ns = now;
	return true;
}

uint64_t dw_sample_windows_open_ns(const struct dw_sample_windows *w, uint64_t now)
{
	return w->open_ns + (w->is_open && now > w->since_ns ? now - w->since_ns : 0);
}

double dw_sample_windows_part(const struct dw_sample_windows *w, struct dw_samples_seen *seen,
			      uint64_t now)
{
	struct dw_samples_seen before = *seen;

	*seen = (struct dw_samples_seen){now, dw_sample_windows_open_ns(w, now)};
	if (now <= before.at_ns || seen->open_ns <= before.open_ns)
		return 1;
	return (double)(seen->open_ns - before.open_ns) / (double)(now - before.at_ns);
}

enum {
	HEADER_BYTES = 8,
	STACK_BYTES = 8,
	RING_BYTES = 256 << 10, /* some seconds of samples */
	RING_MIN_BYTES = 16 << 10,
};

static int open_event(pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof attr,
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = DWELL_COST_SAMPLE_PERIOD_NS,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_STACK_USER,
		.sample_stack_user = STACK_BYTES,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = RING_BYTES,
	};

	return dw_perf_event_open(&attr, pid, cpu);
}

/* 0, or -ENODEV: that processor is offline; -errno. */
static int watch_on(struct dw_cost_sampler *w, pid_t pid, int cpu)
{
	struct dw_ring ring;
	int fd = open_event(pid, cpu), rc = fd < 0 ? fd : dw_vec_push(&w->fds, fd);

	if (rc) {
		if (fd >= 0)
			close(fd);
		return rc;
	}
	rc = -EPERM;
	for (size_t bytes = RING_BYTES; rc == -EPERM && bytes >= RING_MIN_BYTES; bytes /= 2)
		rc = dw_ring_open(&ring, fd, bytes);
	if (rc)
		return rc;
	rc = dw_vec_push(&w->rings.v, ring);
	if (rc)
		dw_ring_close(&ring);
	return rc;
}

int dw_cost_sampler_watch(struct dw_cost_sampler *w, pid_t pid)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);
	int rc = 0;

	for (int cpu = 0; cpu < n && !rc; cpu++) {
		rc = watch_on(w, pid, cpu);
		rc = rc == -ENODEV ? 0 : rc;
	}
	if (rc)
		dw_cost_sampler_release(w);
	return rc;
}

/* Of those that tasks have started, too. */
void dw_cost_sampler_turn(struct dw_cost_sampler *w, bool on)
{
	dw_vec_each(fd, &w->fds)
		ioctl(*fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

/* The sample behind the header. False: it is cut. */
static bool read_sample(struct dw_cursor *c, struct dw_cost_sample *ret)
{
	uint64_t bytes;

	ret->ip = dw_cursor_u64(c);
	ret->pid = (pid_t)dw_cursor_u32(c);
	dw_cursor_u32(c); /* the thread */
	ret->at_ns = dw_cursor_u64(c);
	if (c->failed)
		return false;
	bytes = dw_cursor_u64(c);
	ret->top = dw_cursor_u64(c);
	if (c->failed || bytes != STACK_BYTES || dw_cursor_u64(c) != STACK_BYTES || c->failed)
		ret->top = 0;
	return true;
}

/* What was lost need not be known: shares are those of what was not. */
static void take(const void *record, size_t n, dw_cost_sampler_sink *sink, void *ctx)
{
	const struct perf_event_header *h = record;
	struct dw_cost_sample sample;
	struct dw_cursor c;

	dw_cursor_init(&c, record, n);
	dw_cursor_skip(&c, HEADER_BYTES);
	if (h->type == PERF_RECORD_SAMPLE && read_sample(&c, &sample))
		sink(ctx, &sample);
}

void dw_cost_sampler_read(struct dw_cost_sampler *w, dw_cost_sampler_sink *sink, void *ctx)
{
	dw_rings_refresh(&w->rings);
	dw_vec_each(ring, &w->rings.v) {
		const void *record;
		size_t n;

		while ((record = dw_ring_peek(ring, &n))) {
			take(record, n, sink, ctx);
			dw_ring_consume(ring);
		}
	}
}

void dw_cost_sampler_release(struct dw_cost_sampler *w)
{
	dw_rings_release(&w->rings);
	dw_vec_each(fd, &w->fds)
		close(*fd);
	dw_vec_release(&w->fds);
}
