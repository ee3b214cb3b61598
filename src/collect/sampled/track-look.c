/* Looking at threads; see track-look.h. */
#include "collect/sampled/track-look.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "target/proc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { UNTOLD_LOOKS = 3 }; /* after so many a thread will not tell any more that it began */

static bool is_alive(const struct dw_tracked_thread *th, pid_t pid)
{
	return th && !th->ended && th->process->pid == pid;
}

/* @th has another name, if it has. */
static int check_name(struct dw_track *t, const struct dw_tracked_thread *th, uint64_t now_ns)
{
	const struct dw_thread *row = dw_threads_get(&t->profile->threads, th->id);
	struct dw_perf_record record = {.type = PERF_RECORD_COMM,
					.time_ns = now_ns,
					.pid = th->process->pid,
					.tid = th->tid};
	dw_auto(dw_buf) name = DW_BUF_INIT;

	if (dw_proc_thread_name(record.pid, th->tid, &name) || !name.len ||
	    !strcmp(dw_buf_str(&name), dw_strings_get(&t->profile->strings, row->name)))
		return 0;
	record.comm.name = dw_buf_str(&name);
	return dw_track_record(t, &record);
}

/* The task @tid of @pid is there. */
static int look_at(struct dw_track *t, pid_t pid, pid_t tid, struct dw_track_look *look)
{
	struct dw_tracked_thread *th;
	bool is_new;
	int rc = 0;

	dw_track_end_gone(t, pid, tid, look->now_ns);
	th = dw_track_find(t, tid);
	is_new = !is_alive(th, pid);
	if (is_new && look->begin_ns == t->start_ns)
		rc = dw_track_running(t, pid, tid);
	if (is_new && !rc)
		rc = dw_track_thread(t, pid, tid, look->begin_ns, &th);
	if (rc)
		return rc;
	if (is_new)
		th->untold = 1;
	else if (th->untold && ++th->untold == UNTOLD_LOOKS)
		look->untold++;
	th->seen_ns = look->now_ns;
	return is_new || look->names ? check_name(t, th, look->now_ns) : 0;
}

/* @th was not among the tasks. That list may leave one out while others end. */
static void look_for(struct dw_track *t, struct dw_tracked_thread *th,
		     const struct dw_track_look *look)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task/%d", (int)th->process->pid, (int)th->tid);
	if (!th->gone_ns && access(path, F_OK))
		th->gone_ns = dw_clock_ns(CLOCK_MONOTONIC);
	if (th->gone_ns && th->gone_ns < look->told_ns)
		dw_track_end(t, th, th->gone_ns);
}

int dw_track_look(struct dw_track *t, pid_t pid, struct dw_track_look *look)
{
	struct dw_tids tids = {0};
	int rc = dw_proc_threads(pid, &tids);

	dw_vec_each(tid, &tids) {
		if (!rc)
			rc = look_at(t, pid, *tid, look);
	}
	dw_vec_release(&tids);
	if (!rc)
		dw_vec_each(th, &t->threads) {
			if (is_alive(*th, pid) && (*th)->seen_ns != look->now_ns)
				look_for(t, *th, look);
		}
	/* Else we could not look, this time. */
	return rc == -ENOENT || rc == -ESRCH || rc == -ENOMEM ? rc : 0;
}

void dw_track_end_gone(struct dw_track *t, pid_t pid, pid_t tid, uint64_t time_ns)
{
	struct dw_tracked_thread *th = dw_track_find(t, tid);

	if (is_alive(th, pid) && th->gone_ns && time_ns > th->gone_ns)
		dw_track_end(t, th, th->gone_ns);
}

void dw_track_end_process(struct dw_track *t, pid_t pid, uint64_t time_ns)
{
	dw_vec_each(th, &t->threads) {
		if (is_alive(*th, pid))
			dw_track_end(t, *th, time_ns);
	}
}
