/*
 * Opening events and mapping their rings; see events.h and perf_event_open(2).
 *
 * The kernel lets an event with `inherit` have a ring only if it is bound to one CPU, hence one
 * pair per CPU. Only user space is counted: that is allowed at paranoid 2, and kernel frames are
 * not unwound here. The CPU clock is a timer of the kernel: a period in nanoseconds is exact.
 * Cycles need the kernel's feedback to reach a frequency.
 *
 * Two events with dumps of different size share a ring, and only one of them is on. Switching an
 * event switches its inherited copies, and a child forked later begins as its parent is; the kernel
 * reads the parent's state before it takes the lock that switching takes, so a fork at that very
 * moment may copy the state of before, and switching once more mends it.
 *
 * Ring memory is charged to the user's perf_event_mlock_kb (per CPU), then to RLIMIT_MEMLOCK;
 * nobody tells how much of it others use, so sizes are tried downwards.
 */
#include "collect/perf/events.h"

#include "base/cleanup.h"
#include "collect/perf/records.h"
#include "collect/perf/refusal.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	SIDE_RING_BYTES = 256 << 10,
	SIDE_RING_MIN_BYTES = 16 << 10,
	SAMPLE_RING_BYTES = 8 << 20,
	ROOM_SAMPLES = 16, /* that a ring must hold for larger ones to be worth it */
	WAKEUP_MS = 10,	   /* samples wait this long for the next wake-up, about */
	NS_PER_S = 1000000000,
};

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* What both kinds of event share. */
static struct perf_event_attr base_attr(void)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.read_format = PERF_FORMAT_LOST,
	};
}

static struct perf_event_attr side_attr(void)
{
	struct perf_event_attr a = base_attr();

	a.config = PERF_COUNT_SW_DUMMY;
	a.sample_type = DWELL_PERF_SIDE_TYPE;
	a.mmap = a.mmap2 = a.comm = a.comm_exec = a.task = 1;
	a.wakeup_watermark = 1; /* a new process may be gone soon: look at it at once */
	return a;
}

static struct perf_event_attr sample_attr(const struct dw_perf_options *o, bool cycles)
{
	struct perf_event_attr a = base_attr();
	uint64_t per_wakeup = (uint64_t)o->frequency_hz * WAKEUP_MS / 1000;

	if (cycles) {
		a.type = PERF_TYPE_HARDWARE;
		a.config = PERF_COUNT_HW_CPU_CYCLES;
		a.freq = 1;
		a.sample_freq = o->frequency_hz;
	} else {
		a.config = PERF_COUNT_SW_CPU_CLOCK;
		a.sample_period = NS_PER_S / o->frequency_hz;
	}
	a.sample_type = DWELL_PERF_SAMPLE_TYPE;
	a.sample_regs_user = DWELL_PERF_REGS_MASK;
	a.sample_stack_user = o->stack_bytes;
	a.wakeup_watermark = (uint32_t)((per_wakeup ? per_wakeup : 1) * o->stack_bytes);
	return a;
}

/* The event with the larger dump, off until dw_perf_events_deepen(). -1 = none. */
static int open_deep(const struct dw_perf_options *o, const struct perf_event_attr *sample, int cpu)
{
	struct perf_event_attr deep = *sample;
	int fd;

	if (o->stack_bytes_max <= o->stack_bytes)
		return -1;
	deep.sample_stack_user = o->stack_bytes_max;
	deep.enable_on_exec = 0;
	fd = open_event(&deep, o->pid, cpu);
	return fd < 0 ? -1 : fd;
}

static void close_cpu(struct dw_perf_cpu *c)
{
	if (c->sample_fd >= 0)
		close(c->sample_fd);
	if (c->deep_fd >= 0)
		close(c->deep_fd);
	if (c->side_fd >= 0)
		close(c->side_fd);
}

/* Open all events on @cpu. 0, -ENODEV when that CPU is offline, or another -errno. */
static int open_cpu(const struct dw_perf_options *o, struct dw_perf_events *e, int cpu)
{
	struct perf_event_attr side = side_attr(), sample = sample_attr(o, e->cycles);
	struct dw_perf_cpu c = {-1, -1, -1};
	int rc = 0;

	if (!e->counts_lost)
		side.read_format = sample.read_format = 0;
	c.sample_fd = open_event(&sample, o->pid, cpu);
	if (c.sample_fd < 0)
		return c.sample_fd;
	c.side_fd = open_event(&side, o->pid, cpu);
	if (c.side_fd < 0)
		rc = c.side_fd;
	else
		c.deep_fd = open_deep(o, &sample, cpu);
	if (!rc)
		rc = dw_vec_push(&e->cpus, c);
	if (rc)
		close_cpu(&c);
	return rc;
}

static int open_cpus(const struct dw_perf_options *o, struct dw_perf_events *e)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	for (int cpu = 0; cpu < n; cpu++) {
		int rc = open_cpu(o, e, cpu);

		if (rc && rc != -ENODEV) {
			dw_perf_events_release(e);
			return rc;
		}
	}
	return e->cpus.n ? 0 : -ENODEV;
}

/*
 * Try the better event first, then what less able machines and kernels know: no PMU (ENOENT, in a
 * virtual machine; EOPNOTSUPP), a frequency above the kernel's limit for hardware (EINVAL), no
 * count of lost records before 6.0 (EINVAL).
 */
int dw_perf_events_open(const struct dw_perf_options *o, struct dw_perf_events *ret,
			struct dw_error *err)
{
	int rc = -EINVAL;

	for (int attempt = 0; attempt < 4 && rc; attempt++) {
		struct dw_perf_events e = {.cycles = attempt % 2 == 0, .counts_lost = attempt < 2};

		rc = open_cpus(o, &e);
		if (!rc)
			*ret = e;
		if (rc == -EACCES || rc == -EPERM || rc == -ENOSYS || rc == -EMFILE)
			break;
	}
	return rc ? dw_perf_refusal(rc, err) : 0;
}

/* Map rings of @bytes for one kind of event, behind those that @ret has. None is left after a
 * failure. */
static int map_kind(const struct dw_perf_events *e, bool side, size_t bytes, struct dw_rings *ret)
{
	size_t had = ret->v.n;

	dw_vec_each(cpu, &e->cpus) {
		struct dw_ring r;
		int rc = dw_ring_open(&r, side ? cpu->side_fd : cpu->sample_fd, bytes);

		if (!rc)
			rc = dw_vec_push(&ret->v, r);
		if (rc) {
			while (ret->v.n > had)
				dw_ring_close(&ret->v.v[--ret->v.n]);
			return rc;
		}
		ret->v.v[ret->v.n - 1].side = side;
	}
	return 0;
}

/* Map rings of one kind, at most @bytes each, at least @least. */
static int map_largest(const struct dw_perf_events *e, bool side, size_t bytes, size_t least,
		       struct dw_rings *ret)
{
	int rc = -EPERM;

	for (; rc == -EPERM && bytes >= least; bytes /= 2)
		rc = map_kind(e, side, bytes, ret);
	return rc;
}

/* Let the deeper samples of each CPU go to the ring of its others, or close those events. */
static void share_rings(struct dw_perf_events *e, bool has_room)
{
	dw_vec_each(cpu, &e->cpus) {
		has_room = has_room && cpu->deep_fd >= 0 &&
			   !ioctl(cpu->deep_fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->sample_fd);
	}
	dw_vec_each(cpu, &e->cpus) {
		if (!has_room && cpu->deep_fd >= 0) {
			close(cpu->deep_fd);
			cpu->deep_fd = -1;
		}
	}
}

int dw_perf_events_map(struct dw_perf_events *e, const struct dw_perf_options *o,
		       struct dw_rings *ret, struct dw_error *err)
{
	size_t least = 32 << 10;
	struct dw_rings rings = {0};
	int rc = -EPERM;

	while (least < 2 * o->stack_bytes)
		least *= 2;
	/* Side-band rings are small against the others: they give way last. */
	for (size_t side = SIDE_RING_BYTES; rc == -EPERM && side >= SIDE_RING_MIN_BYTES;
	     side /= 2) {
		dw_rings_release(&rings);
		rc = map_kind(e, true, side, &rings);
		if (!rc)
			rc = map_largest(e, false, SAMPLE_RING_BYTES,
					 side > SIDE_RING_MIN_BYTES ? 4 * least : least, &rings);
	}
	if (rc) {
		dw_rings_release(&rings);
		return dw_perf_ring_refusal(rc, err);
	}
	share_rings(e, rings.v.v[rings.v.n - 1].bytes >= ROOM_SAMPLES * o->stack_bytes_max);
	*ret = rings;
	return 0;
}

bool dw_perf_events_can_deepen(const struct dw_perf_events *e)
{
	return e->cpus.n && e->cpus.v[0].deep_fd >= 0;
}

void dw_perf_events_deepen(const struct dw_perf_events *e)
{
	dw_vec_each(cpu, &e->cpus) {
		if (cpu->deep_fd < 0)
			continue;
		ioctl(cpu->sample_fd, PERF_EVENT_IOC_DISABLE, 0);
		ioctl(cpu->deep_fd, PERF_EVENT_IOC_ENABLE, 0);
	}
}

void dw_perf_events_stop(const struct dw_perf_events *e)
{
	dw_vec_each(cpu, &e->cpus) {
		ioctl(cpu->sample_fd, PERF_EVENT_IOC_DISABLE, 0);
		if (cpu->deep_fd >= 0)
			ioctl(cpu->deep_fd, PERF_EVENT_IOC_DISABLE, 0);
		ioctl(cpu->side_fd, PERF_EVENT_IOC_DISABLE, 0);
	}
}

/* The second number that reading @fd gives: records it had no room for. */
static uint64_t read_lost(int fd)
{
	uint64_t values[2];

	return read(fd, values, sizeof values) == sizeof values ? values[1] : 0;
}

void dw_perf_events_lost(const struct dw_perf_events *e, uint64_t *ret_samples, uint64_t *ret_side)
{
	*ret_samples = *ret_side = 0;
	if (!e->counts_lost)
		return;
	dw_vec_each(cpu, &e->cpus) {
		*ret_samples += read_lost(cpu->sample_fd);
		if (cpu->deep_fd >= 0)
			*ret_samples += read_lost(cpu->deep_fd);
		*ret_side += read_lost(cpu->side_fd);
	}
}

void dw_perf_events_release(struct dw_perf_events *e)
{
	dw_vec_each(cpu, &e->cpus)
		close_cpu(cpu);
	dw_vec_release(&e->cpus);
}
