/*
 * Opening events and mapping their rings; see events.h and perf_event_open(2).
 *
 * The kernel lets an event with `inherit` have a ring only if it is bound to one CPU, hence one
 * pair per CPU. User space may be counted at paranoid 2; the kernel, which unwinds its own frames,
 * at 1. The CPU clock is a timer of the kernel: a period in nanoseconds is exact. Cycles need the
 * kernel's feedback to reach a frequency.
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
#include "collect/perf/event.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
	SIDE_RING_BYTES = 256 << 10,
	SIDE_RING_MIN_BYTES = 16 << 10,
	SAMPLE_RING_BYTES = 8 << 20,
	BESIDE_STACK_BYTES = 8 << 10, /* what happens may happen very often */
	ROOM_SAMPLES = 16,	      /* that a ring must hold for larger ones to be worth it */
	WAKEUP_MS = 10,		      /* samples wait this long for the next wake-up, about */
	NS_PER_S = 1000000000,
	LEVEL_KERNEL = 1, /* of kernel.perf_event_paranoid that lets users sample the kernel */
};

/* What both kinds of event share. */
static struct perf_event_attr base_attr(const struct dw_perf_events *e,
					const struct dw_perf_options *o)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.disabled = o->at_exec,
		.enable_on_exec = o->at_exec,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.read_format = e->counts_lost ? PERF_FORMAT_LOST : 0,
	};
}

static struct perf_event_attr side_attr(const struct dw_perf_events *e,
					const struct dw_perf_options *o)
{
	struct perf_event_attr a = base_attr(e, o);

	a.config = PERF_COUNT_SW_DUMMY;
	a.sample_type = DWELL_PERF_SIDE_TYPE;
	a.mmap = a.mmap2 = a.comm = a.comm_exec = a.task = 1;
	a.wakeup_watermark = 1; /* a new process may be gone soon: look at it at once */
	return a;
}

uint64_t dw_perf_period(const struct dw_perf_event *event, const struct dw_perf_options *o)
{
	if (o->period || event->kind == DWELL_EVENT_CYCLE)
		return o->period;
	return event->kind == DWELL_EVENT_CLOCK ? NS_PER_S / o->frequency_hz : 1;
}

static struct perf_event_attr sample_attr(const struct dw_perf_events *e,
					  const struct dw_perf_options *o)
{
	struct perf_event_attr a = base_attr(e, o);
	uint64_t per_wakeup = (uint64_t)o->frequency_hz * WAKEUP_MS / 1000;

	dw_perf_event_fill(&e->event, &a);
	a.sample_period = dw_perf_period(&e->event, o);
	if (!a.sample_period) {
		a.freq = 1;
		a.sample_freq = o->frequency_hz;
	}
	a.exclude_kernel = !e->kernel;
	a.exclude_callchain_user = 1;
	a.exclude_idle = o->system_wide;
	a.sample_type = o->identify ? DWELL_PERF_IDENTIFIED_TYPE : DWELL_PERF_SAMPLE_TYPE;
	if (e->kernel)
		a.sample_type |= DWELL_PERF_CHAIN_TYPE;
	a.sample_regs_user = DWELL_PERF_REGS_MASK;
	a.sample_stack_user = o->stack_bytes;
	a.wakeup_watermark = (uint32_t)((per_wakeup ? per_wakeup : 1) * o->stack_bytes);
	return a;
}

/* A flood of them must not cost a mapping, so they come with the samples. */
static struct perf_event_attr beside_attr(const struct dw_perf_events *e,
					  const struct dw_perf_options *o,
					  const struct dw_perf_beside *beside)
{
	struct perf_event_attr a = beside->samples ? sample_attr(e, o) : base_attr(e, o);

	a.type = PERF_TYPE_SOFTWARE;
	a.config = beside->config;
	a.config1 = a.config2 = 0;
	a.freq = 0;
	a.sample_period = beside->samples;
	if (beside->samples && a.sample_stack_user > BESIDE_STACK_BYTES)
		a.sample_stack_user = BESIDE_STACK_BYTES;
	if (!beside->samples) {
		a.sample_type = DWELL_PERF_SIDE_TYPE;
		a.context_switch = 1;
	}
	return a;
}

static void close_watch(const struct dw_perf_watch *w)
{
	for (size_t i = 0; i < DWELL_PERF_WATCH_FDS; i++)
		if (w->fds[i] >= 0)
			close(w->fds[i]);
}

static void close_cpu(const struct dw_perf_cpu *c)
{
	if (c->sample_fd >= 0)
		close(c->sample_fd);
	if (c->side_fd >= 0)
		close(c->side_fd);
}

/* An event of our own that never counts: others write into its ring and wake up who polls it. */
static int open_owner(struct perf_event_attr like, int cpu)
{
	like.type = PERF_TYPE_SOFTWARE;
	like.config = PERF_COUNT_SW_DUMMY;
	like.freq = like.sample_period = 0;
	like.inherit = like.enable_on_exec = 0;
	like.mmap = like.mmap2 = like.comm = like.comm_exec = like.task = 0;
	like.disabled = 1;
	return dw_perf_event_open(&like, 0, cpu);
}

/* The owners of rings on @cpu. 0, -ENODEV when that CPU is offline, or another -errno. */
static int open_cpu(struct dw_perf_events *e, const struct dw_perf_options *o, int cpu)
{
	struct dw_perf_cpu c = {cpu, -1, -1};
	int rc = 0;

	c.sample_fd = open_owner(sample_attr(e, o), cpu);
	if (c.sample_fd < 0)
		return c.sample_fd;
	c.side_fd = open_owner(side_attr(e, o), cpu);
	rc = c.side_fd < 0 ? c.side_fd : dw_vec_push(&e->cpus, c);
	if (rc)
		close_cpu(&c);
	return rc;
}

static int open_cpus(struct dw_perf_events *e, const struct dw_perf_options *o)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	for (int cpu = 0; cpu < n; cpu++) {
		int rc = open_cpu(e, o, cpu);

		if (rc && rc != -ENODEV)
			return rc;
	}
	return e->cpus.n ? 0 : -ENODEV;
}

/* Whether the event can be opened, tried on ourselves. 0 or -errno. */
static int try_event(const struct dw_perf_events *e, const struct dw_perf_options *o)
{
	struct perf_event_attr a = sample_attr(e, o);
	int fd;

	a.disabled = 1;
	a.enable_on_exec = 0;
	fd = dw_perf_event_open(&a, 0, -1);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static bool is_refused(int rc)
{
	return rc == -EACCES || rc == -EPERM || rc == -ENOSYS || rc == -EMFILE;
}

/*
 * Try the better event first, then what less able machines and kernels know: no PMU (ENOENT, in a
 * virtual machine; EOPNOTSUPP), a frequency above the kernel's limit for hardware (EINVAL), no
 * count of lost records before 6.0 (EINVAL).
 */
static int choose_event(struct dw_perf_events *e, const struct dw_perf_options *o)
{
	static const char *const clocks[] = {"cycles", "cpu-clock"};
	const bool is_given = o->event.name[0];
	int rc = -EINVAL;

	for (int attempt = 0; attempt < 4 && rc && !is_refused(rc); attempt++) {
		if (is_given)
			e->event = o->event;
		else
			dw_perf_event_find(clocks[attempt % 2], &e->event, NULL);
		e->counts_lost = attempt < 2;
		rc = try_event(e, o);
	}
	return rc;
}

/* The same, with the kernel if that is allowed, or else not unless it must be. */
static int choose_scope(struct dw_perf_events *e, const struct dw_perf_options *o)
{
	int rc = -EACCES;

	e->kernel = o->kernel != DWELL_KERNEL_NEVER;
	if (e->kernel)
		rc = choose_event(e, o);
	if (!(rc == -EACCES || rc == -EPERM) || o->kernel == DWELL_KERNEL_ALWAYS)
		return rc;
	e->kernel = false;
	return o->event.in_kernel ? rc : choose_event(e, o);
}

/* Why the chosen event is refused with @code. */
static int explain(const struct dw_perf_options *o, int code, struct dw_error *err)
{
	const bool is_forbidden = code == -EACCES || code == -EPERM;
	const char *name = o->event.name;

	if (is_forbidden && o->event.in_kernel)
		return dw_perf_scope_refusal(code, LEVEL_KERNEL, name, err);
	if (is_forbidden && o->kernel == DWELL_KERNEL_ALWAYS)
		return dw_perf_scope_refusal(code, LEVEL_KERNEL, "sampling the kernel", err);
	if (!*name || is_refused(code))
		return dw_perf_refusal(code, err);
	if (code == -ENOENT || code == -EOPNOTSUPP || code == -ENODEV)
		return dw_error_set(err, DWELL_ERR_NOT_FOUND,
				    "this machine cannot count '%s': its processor, or virtual "
				    "machine, has no counter for it",
				    name);
	return dw_error_set(err, DWELL_ERR_REFUSED, "'%s' cannot be sampled like this: %s", name,
			    strerror(-code));
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

/* The smallest ring of samples that is of use. */
static size_t least_bytes(const struct dw_perf_options *o)
{
	size_t least = 32 << 10;

	while (least < 2 * o->stack_bytes)
		least *= 2;
	return least;
}

static int map_rings(const struct dw_perf_events *e, const struct dw_perf_options *o,
		     struct dw_rings *ret)
{
	size_t least = least_bytes(o);
	int rc = -EPERM;

	/* Side-band rings are small against the others: they give way last. */
	for (size_t side = SIDE_RING_BYTES; rc == -EPERM && side >= SIDE_RING_MIN_BYTES;
	     side /= 2) {
		dw_rings_release(ret);
		rc = map_kind(e, true, side, ret);
		if (!rc)
			rc = map_largest(e, false, SAMPLE_RING_BYTES,
					 side > SIDE_RING_MIN_BYTES ? 4 * least : least, ret);
	}
	return rc;
}

int dw_perf_events_try(const struct dw_perf_options *o, struct dw_error *err)
{
	struct dw_perf_events e = {0};
	int rc = choose_scope(&e, o);

	return rc ? explain(o, rc, err) : 0;
}

/* Choose the event, and make the owners of its rings. */
static int open_owners(struct dw_perf_events *e, const struct dw_perf_options *o,
		       struct dw_error *err)
{
	int rc = choose_scope(e, o);

	if (!rc)
		rc = open_cpus(e, o);
	return rc ? explain(o, rc, err) : 0;
}

int dw_perf_events_check(const struct dw_perf_options *o, struct dw_error *err)
{
	struct dw_perf_events e = {0};
	struct dw_rings rings = {0};
	int rc = open_owners(&e, o, err);

	if (!rc) {
		rc = map_kind(&e, true, SIDE_RING_MIN_BYTES, &rings);
		if (!rc)
			rc = map_kind(&e, false, least_bytes(o), &rings);
		if (rc)
			rc = dw_perf_ring_refusal(rc, err);
	}
	dw_rings_release(&rings);
	dw_perf_events_release(&e);
	return rc;
}

int dw_perf_events_open(const struct dw_perf_options *o, struct dw_perf_events *ret,
			struct dw_rings *rings, struct dw_error *err)
{
	int rc;

	*ret = (struct dw_perf_events){0};
	*rings = (struct dw_rings){0};
	rc = open_owners(ret, o, err);
	if (!rc) {
		rc = map_rings(ret, o, rings);
		if (rc)
			rc = dw_perf_ring_refusal(rc, err);
	}
	if (rc) {
		dw_rings_release(rings);
		dw_perf_events_release(ret);
		return rc;
	}
	ret->has_room = rings->v.v[rings->v.n - 1].bytes >= ROOM_SAMPLES * o->stack_bytes_max;
	return 0;
}

/* An event of @tid on @cpu that writes into the ring of @owner. */
static int open_into(struct perf_event_attr *attr, pid_t tid, int cpu, int owner)
{
	int fd = dw_perf_event_open(attr, tid, cpu);
	int rc;

	if (fd < 0 || !ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, owner))
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

/* What samples of @fd have one of. */
static int note_measure(struct dw_perf_events *e, int fd, enum dw_measure measure)
{
	uint64_t identity;

	if (ioctl(fd, PERF_EVENT_IOC_ID, &identity))
		return -errno;
	return dw_map_put(&e->measure_of, identity, measure);
}

static int open_besides(struct dw_perf_events *e, const struct dw_perf_options *o, pid_t tid,
			const struct dw_perf_cpu *cpu, struct dw_perf_watch *w)
{
	const struct dw_perf_beside *beside;
	int rc = 0;

	for (size_t i = 0; !rc && (beside = dw_perf_beside(i)); i++) {
		struct perf_event_attr a = beside_attr(e, o, beside);

		if (!dw_measures_has(o->beside, beside->measure))
			continue;
		w->beside_fd[i] = open_into(&a, tid, cpu->number, cpu->sample_fd);
		if (w->beside_fd[i] < 0)
			rc = w->beside_fd[i];
		else if (beside->samples)
			rc = note_measure(e, w->beside_fd[i], beside->measure);
	}
	return rc;
}

static int open_samples(struct dw_perf_events *e, const struct dw_perf_options *o, pid_t tid,
			const struct dw_perf_cpu *cpu, struct dw_perf_watch *w)
{
	struct perf_event_attr a = sample_attr(e, o);
	int rc = open_besides(e, o, tid, cpu, w);

	if (rc)
		return rc;
	w->sample_fd = open_into(&a, tid, cpu->number, cpu->sample_fd);
	if (w->sample_fd < 0)
		return w->sample_fd;
	if (!e->has_room || o->stack_bytes_max <= o->stack_bytes)
		return 0;
	a.sample_stack_user = o->stack_bytes_max;
	a.disabled = 1;
	a.enable_on_exec = 0;
	w->deep_fd = open_into(&a, tid, cpu->number, cpu->sample_fd);
	return w->deep_fd < 0 ? w->deep_fd : 0;
}

int dw_perf_events_watch(struct dw_perf_events *e, const struct dw_perf_options *o, pid_t tid)
{
	struct perf_event_attr side = side_attr(e, o);
	size_t had = e->watches.n;
	int rc = dw_vec_reserve(&e->watches, e->cpus.n);

	dw_vec_each(cpu, &e->cpus) {
		struct dw_perf_watch w = {.cpu = cpu->number};

		if (rc)
			break;
		memset(w.fds, -1, sizeof w.fds);
		w.side_fd = open_into(&side, tid, cpu->number, cpu->side_fd);
		if (w.side_fd < 0)
			rc = w.side_fd;
		else
			e->watches.v[e->watches.n++] = w;
	}
	for (size_t i = 0; !rc && i < e->cpus.n; i++)
		rc = open_samples(e, o, tid, &e->cpus.v[i], &e->watches.v[had + i]);
	while (rc && e->watches.n > had)
		close_watch(&e->watches.v[--e->watches.n]);
	return rc;
}

bool dw_perf_events_can_deepen(const struct dw_perf_events *e)
{
	return e->watches.n && e->watches.v[0].deep_fd >= 0;
}

void dw_perf_events_deepen(const struct dw_perf_events *e)
{
	dw_vec_each(w, &e->watches) {
		if (w->deep_fd < 0)
			continue;
		ioctl(w->sample_fd, PERF_EVENT_IOC_DISABLE, 0);
		ioctl(w->deep_fd, PERF_EVENT_IOC_ENABLE, 0);
	}
}

enum dw_measure dw_perf_events_measure(const struct dw_perf_events *e, uint64_t identity)
{
	uint32_t measure = dw_map_get(&e->measure_of, identity);

	return measure ? measure : DWELL_MEASURE_SAMPLES;
}

void dw_perf_events_stop(const struct dw_perf_events *e)
{
	dw_vec_each(w, &e->watches) {
		for (size_t i = 0; i < DWELL_PERF_WATCH_FDS; i++)
			if (w->fds[i] >= 0)
				ioctl(w->fds[i], PERF_EVENT_IOC_DISABLE, 0);
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
	dw_vec_each(w, &e->watches) {
		for (size_t i = 0; i < DWELL_PERF_WATCH_FDS; i++)
			if (w->fds[i] >= 0)
				*(w->fds[i] == w->sample_fd || w->fds[i] == w->deep_fd
					  ? ret_samples
					  : ret_side) += read_lost(w->fds[i]);
	}
}

void dw_perf_events_release(struct dw_perf_events *e)
{
	dw_vec_each(w, &e->watches)
		close_watch(w);
	dw_vec_each(cpu, &e->cpus)
		close_cpu(cpu);
	dw_vec_release(&e->watches);
	dw_map_release(&e->measure_of);
	dw_vec_release(&e->cpus);
}
