/*
 * Attaching; see attach.h.
 *
 * A thread's events are opened one after the other, so what it starts in between inherits a part of
 * them, and the record of a fork comes a little later than the inheritance. So a child counts as
 * covered only when its record is younger, by a margin, than the last event of its parent. Every
 * other thread is watched when a listing shows it; where that makes two events of one, samples of
 * one of them count. Side-band events come first, so whatever has inherited any event has a record,
 * and a process that was begun in between is attached to like one that was asked for.
 */
#include "collect/perf/attach.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/perf/event.h"
#include "target/proc.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

/*
 * The kernel gives an inherited event the identity of the one that was opened. Which of two comes
 * first does not matter: each alone samples at the full rate.
 */

static int map_event(struct dw_duplicates *d, int fd, uint32_t watch)
{
	uint64_t identity;

	if (fd < 0)
		return 0;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &identity))
		return -errno;
	return dw_map_put(&d->watch_of, identity, watch);
}

/* Take in the watches of @e that were opened since the last time. From now on duplicates are told.
 * 0, -ENOMEM or -errno. */
static int update_duplicates(struct dw_duplicates *d, const struct dw_perf_events *e)
{
	int rc = 0;

	for (; d->watches_n < e->watches.n && !rc; d->watches_n++) {
		const struct dw_perf_watch *w = &e->watches.v[d->watches_n];

		for (size_t i = 0; i < DWELL_PERF_WATCH_FDS && !rc; i++)
			rc = map_event(d, w->fds[i], (uint32_t)d->watches_n + 1);
	}
	return rc;
}

int dw_duplicates_counts(struct dw_duplicates *d, const struct dw_perf_events *e, uint32_t thread,
			 uint64_t identity)
{
	uint32_t watch = d->watches_n ? dw_map_get(&d->watch_of, identity) : 0, chosen;
	uint64_t key;
	int rc;

	if (!watch)
		return 1;
	key = (uint64_t)thread << 32 | (uint32_t)e->watches.v[watch - 1].cpu;
	chosen = dw_map_get(&d->chosen, key);
	if (chosen)
		return chosen == watch;
	rc = dw_map_put(&d->chosen, key, watch);
	return rc ? rc : 1;
}

void dw_duplicates_release(struct dw_duplicates *d)
{
	dw_map_release(&d->watch_of);
	dw_map_release(&d->chosen);
}

#define MARGIN_NS (DWELL_ATTACH_PAUSE_MS * 1000000ull)

static int list_process(struct dw_attach *a, pid_t pid)
{
	struct dw_tids tids = {0};
	int rc = dw_proc_threads(pid, &tids);

	dw_vec_each(tid, &tids) {
		if (!rc)
			rc = dw_vec_push(&a->listed, pid);
		if (!rc)
			rc = dw_vec_push(&a->listed, *tid);
	}
	dw_vec_release(&tids);
	return rc;
}

int dw_attach_list(struct dw_attach *a, struct dw_error *err)
{
	a->listed.n = 0;
	for (size_t i = 0; i < a->pids.n; i++) {
		int rc = list_process(a, a->pids.v[i]);

		if (rc == -ENOMEM)
			return rc;
		if (rc && i < a->named && !a->rounds)
			return dw_error_set(err, DWELL_ERR_NOT_FOUND, "there is no process %d",
					    (int)a->pids.v[i]);
	}
	return 0;
}

static struct dw_attach_thread *find(const struct dw_attach *a, pid_t tid)
{
	uint32_t i = dw_map_get(&a->by_tid, (uint32_t)tid);

	return i ? &a->threads.v[i - 1] : NULL;
}

/* From @inherits_ns on, children of @tid inherit everything. */
static int remember(struct dw_attach *a, pid_t tid, uint64_t inherits_ns)
{
	struct dw_attach_thread *th = find(a, tid);
	int rc;

	if (th) {
		th->inherits_ns = inherits_ns;
		return 0;
	}
	rc = dw_vec_push(&a->threads, (struct dw_attach_thread){tid, inherits_ns});
	return rc ? rc : dw_map_put(&a->by_tid, (uint32_t)tid, (uint32_t)a->threads.n);
}

int dw_attach_fork(struct dw_attach *a, const struct dw_perf_record *r)
{
	const struct dw_attach_thread *parent = find(a, r->parent.tid);

	if (parent && r->time_ns >= parent->inherits_ns + MARGIN_NS)
		return remember(a, r->tid, r->time_ns);
	return r->pid != r->parent.pid ? dw_vec_push(&a->pids, r->pid) : 0;
}

/* As many descriptors as we may have: a thread needs some on each CPU. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int explain(const struct dw_attach *a, int code, pid_t pid, struct dw_error *err)
{
	struct rlimit limit = {0};

	if (code != -EMFILE)
		return dw_perf_attach_refusal(code, pid, err);
	getrlimit(RLIMIT_NOFILE, &limit);
	return dw_error_set(
		err, DWELL_ERR_REFUSED,
		"%zu threads need %zu descriptors, and the limit is %llu: ulimit -n %zu "
		"(as root) allows more",
		a->listed.n / 2, a->listed.n / 2 * a->events->cpus.n * 3,
		(unsigned long long)limit.rlim_cur, a->listed.n * a->events->cpus.n * 2 + 256);
}

int dw_attach_watch(struct dw_attach *a, size_t *ret, struct dw_error *err)
{
	size_t n = 0;

	raise_limit();
	for (size_t i = 0; i < a->listed.n; i += 2) {
		pid_t pid = a->listed.v[i], tid = a->listed.v[i + 1];
		int rc;

		if (find(a, tid))
			continue;
		rc = dw_perf_events_watch(a->events, a->options, tid);
		if (rc == -ESRCH)
			continue;
		if (rc)
			return explain(a, rc, pid, err);
		rc = remember(a, tid, dw_clock_ns(CLOCK_MONOTONIC));
		if (!rc)
			rc = dw_track_running(a->track, pid, tid);
		if (rc)
			return rc;
		n++;
	}
	*ret = n;
	return a->rounds++ && n ? update_duplicates(a->duplicates, a->events) : 0;
}

void dw_attach_release(struct dw_attach *a)
{
	dw_vec_release(&a->pids);
	dw_vec_release(&a->threads);
	dw_vec_release(&a->listed);
	dw_map_release(&a->by_tid);
}
