/*
 * The backend for processes that run already where perf is refused: nothing enters them, so there
 * are no samples, but where their threads wait can be seen from outside; see collect/waits/waits.h.
 *
 * Threads, children and execs are found by looking at /proc now and then.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/backend.h"
#include "collect/samples/track-procfs.h"
#include "collect/waits/waits.h"
#include "target/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST_NS	    100000000ull /* between listings of threads */
#define CHILDREN_NS 500000000ull /* likewise of children, and looks for execs and names */

struct followed {
	pid_t pid;
	char program[256]; /* where /proc/PID/exe leads */
};

struct dw_backend {
	struct dw_dispatcher dispatcher;
	struct dw_waits_watch waits;
	DW_VEC(struct followed) processes;
	uint64_t next_list_ns, next_children_ns;
	uint64_t listed_ns; /* the listing before: what is new is younger */
};

static void procfs_free(struct dw_backend *b)
{
	if (!b)
		return;
	dw_waits_release(&b->waits);
	dw_dispatcher_release(&b->dispatcher);
	dw_vec_release(&b->processes);
	free(b);
}

static inline void procfs_freep(struct dw_backend **b)
{
	procfs_free(*b);
}

static void read_program(pid_t pid, char program[256])
{
	char path[32];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	n = readlink(path, program, 255);
	program[n > 0 ? n : 0] = 0;
}

static int follow(struct dw_backend *b, pid_t pid)
{
	struct followed p = {.pid = pid};

	dw_vec_each(other, &b->processes) {
		if (other->pid == pid)
			return 0;
	}
	read_program(pid, p.program);
	return dw_vec_push(&b->processes, p);
}

static int check_exec(struct dw_backend *b, struct followed *p, uint64_t now_ns)
{
	struct dw_perf_record r = {
		.type = PERF_RECORD_COMM, .time_ns = now_ns, .pid = p->pid, .tid = p->pid};
	const struct dw_tracked_thread *th;
	struct dw_proc_stat st;
	char program[256];
	int rc;

	read_program(p->pid, program);
	if (!program[0] || !strcmp(program, p->program) || dw_proc_stat_read(p->pid, &st))
		return 0;
	memcpy(p->program, program, sizeof program);
	r.comm.name = st.name;
	r.comm.exec = true;
	rc = dw_dispatcher_take(&b->dispatcher, &r, true);
	th = dw_track_find(&b->dispatcher.track, p->pid);
	if (!rc && th)
		dw_track_resync(&b->dispatcher.track, th->process, now_ns);
	return rc;
}

/* Follow the children that threads of @pid have. */
static int find_children(struct dw_backend *b, pid_t pid)
{
	struct dw_tids tids = {0};
	int rc = dw_proc_threads(pid, &tids) == -ENOMEM ? -ENOMEM : 0;

	dw_vec_each(tid, &tids) {
		dw_auto(dw_buf) text = DW_BUF_INIT;
		char file[48], *end;
		const char *at;

		snprintf(file, sizeof file, "task/%d/children", (int)*tid);
		if (rc || dw_proc_read(pid, file, &text))
			continue;
		at = dw_buf_str(&text);
		for (long child = strtol(at, &end, 10); end != at && !rc;
		     at = end, child = strtol(at, &end, 10))
			rc = child > 0 ? follow(b, (pid_t)child) : 0;
	}
	dw_vec_release(&tids);
	return rc;
}

/* See what has become of the process at @i. Whether it is still there, or -ENOMEM. */
static int look_at(struct dw_backend *b, size_t i, uint64_t now_ns, bool with_children)
{
	const pid_t pid = b->processes.v[i].pid;
	struct dw_track_look look = {.now_ns = now_ns,
				     .begin_ns = b->listed_ns,
				     .told_ns = UINT64_MAX,
				     .names = with_children};
	int rc = dw_track_look(&b->dispatcher.track, pid, &look);

	if (rc == -ENOENT || rc == -ESRCH) {
		dw_track_end_process(&b->dispatcher.track, pid, now_ns);
		return 0;
	}
	if (!rc && with_children)
		rc = check_exec(b, &b->processes.v[i], now_ns);
	if (!rc && with_children)
		rc = find_children(b, pid);
	return rc ? rc : 1;
}

static int look_at_all(struct dw_backend *b, uint64_t now_ns)
{
	bool with_children = now_ns >= b->next_children_ns;

	b->next_list_ns = now_ns + LIST_NS;
	if (with_children)
		b->next_children_ns = now_ns + CHILDREN_NS;
	for (size_t i = 0; i < b->processes.n;) {
		int rc = look_at(b, i, now_ns, with_children);

		if (rc < 0)
			return rc;
		if (rc)
			i++;
		else
			b->processes.v[i] = b->processes.v[--b->processes.n];
	}
	b->listed_ns = now_ns;
	return 0;
}

static int procfs_start(const struct dw_backend_config *config, struct dw_profile *profile,
			struct dw_backend **ret, struct dw_error *err)
{
	__attribute__((cleanup(procfs_freep))) struct dw_backend *b = calloc(1, sizeof *b);
	int rc = b ? 0 : -ENOMEM;

	if (rc)
		return dw_error_set_errno(err, ENOMEM, "cannot look at processes");
	b->listed_ns = config->start_ns;
	dw_dispatcher_init(&b->dispatcher, profile, config->cache_dir, false);
	b->dispatcher.track.start_ns = config->start_ns;
	b->dispatcher.track.maps_untold = true;
	dw_dispatcher_use(&b->dispatcher, config->managed, config->jit);
	for (size_t i = 0; i < config->pids_n && !rc; i++)
		rc = follow(b, config->pids[i]);
	if (!rc)
		rc = look_at_all(b, config->start_ns);
	if (!rc)
		rc = dw_waits_begin(&b->waits, &b->dispatcher,
				    &(struct dw_waits_options){.is_attached = true,
							       .start_ns = config->start_ns});
	if (rc)
		return dw_error_set_errno(err, -rc, "cannot look at processes");
	*ret = dw_take_ptr(b);
	return 0;
}

static size_t procfs_poll_fds(struct dw_backend *b, struct pollfd *fds, size_t max)
{
	if (max)
		dw_waits_poll_fd(&b->waits, fds);
	return max ? 1 : 0;
}

static int procfs_drain(struct dw_backend *b, bool final, struct dw_error *err)
{
	uint64_t now_ns = dw_clock_ns(CLOCK_MONOTONIC);
	int rc = final || now_ns >= b->next_list_ns ? look_at_all(b, now_ns) : 0;

	if (!rc)
		rc = dw_waits_look(&b->waits, now_ns, final);
	if (final)
		dw_track_cpu_times(&b->dispatcher.track);
	return rc ? dw_error_set_errno(err, -rc, "cannot take in waits") : 0;
}

static void procfs_stop(struct dw_backend *b)
{
	(void)b;
}

static void procfs_stats(const struct dw_backend *b, struct dw_backend_stats *ret)
{
	(void)b;
	*ret = (struct dw_backend_stats){0};
}

static const struct dw_module_source *procfs_sources(struct dw_backend *b, size_t *n)
{
	return dw_perf_modules_sources(&b->dispatcher.modules, n);
}

const struct dw_backend_ops dw_backend_procfs = {
	.name = "outside",
	.start = procfs_start,
	.poll_fds = procfs_poll_fds,
	.drain = procfs_drain,
	.stop = procfs_stop,
	.stats = procfs_stats,
	.sources = procfs_sources,
	.free = procfs_free,
};
