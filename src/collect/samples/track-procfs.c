/*
 * Mappings: from records, or read from /proc when an address or a process is unknown; see
 * track-procfs.h.
 *
 * Unmapping is not told, and need not be: code that is gone does not run, and what takes its place
 * is told. Reading again is worth it after lost records only, so a process for which it changed
 * nothing is asked less and less often.
 *
 * Where no records tell of mappings, runtimes that make code and libraries that are loaded late
 * have new ones all the time: then reading takes a part of the time, READ_PART at most.
 */
#include "collect/samples/track-procfs.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "target/maps.h"
#include "target/proc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define RESYNC_FIRST_NS 100000000ull
#define RESYNC_MOST_NS	10000000000ull
#define LATELY_NS	1000000000ull

enum { READ_PART = 20 };

int dw_track_map(struct dw_track *t, struct dw_tracked_process *p,
		 const struct dw_perf_mapping *mapping)
{
	struct dw_mapper who = {p->pid, &p->owner, &p->anon};
	struct dw_space_range range;
	int rc;

	if (!mapping->bytes || mapping->start + mapping->bytes < mapping->start)
		return 0;
	rc = dw_perf_modules_map(t->modules, &who, mapping, &range);
	if (!rc)
		rc = dw_space_map(&p->space, &range);
	p->generation++;
	if (!rc && dw_dump_file_is(mapping->path)) {
		rc = dw_track_registry(t, p);
		if (p->registry)
			dw_jit_use_dump(p->registry, mapping);
	}
	return rc;
}

/* Whether @row is of the file @m. Of files on an overlay, some kernels tell the layer's device in
 * records and the overlay's here. */
static bool is_same_file(const struct dw_track *t, const struct dw_module *m,
			 const struct dw_mapping *row)
{
	return m->inode == row->inode &&
	       (m->device == row->device ||
		!strcmp(row->path, dw_strings_get(&t->profile->strings, m->path)));
}

/* Whether the space has @row, of the same file. */
static bool is_known(const struct dw_track *t, struct dw_tracked_process *p,
		     const struct dw_mapping *row)
{
	const struct dw_space_range *r = dw_space_find(&p->space, (struct dw_avma){row->start});
	const struct dw_module *m = r ? dw_modules_get(&t->profile->modules, r->module) : NULL;

	return m && r->start <= row->start && r->end >= row->end &&
	       (m->kind == DWELL_MODULE_FILE ? is_same_file(t, m, row) : !row->inode);
}

static int map_row(struct dw_track *t, struct dw_tracked_process *p, const struct dw_mapping *row)
{
	struct dw_perf_mapping m = {.start = row->start,
				    .bytes = row->end - row->start,
				    .offset = row->offset,
				    .major_no = major(row->device),
				    .minor_no = minor(row->device),
				    .inode = row->inode,
				    .path = row->path};

	return dw_track_map(t, p, &m);
}

int dw_track_mappings(struct dw_track *t, struct dw_tracked_process *p, const struct dw_mappings *m,
		      bool *ret_changed)
{
	int rc = 0;

	dw_vec_each(row, &m->rows) {
		if (rc || !row->executable || !strcmp(row->path, "[vsyscall]") ||
		    is_known(t, p, row))
			continue;
		rc = map_row(t, p, row);
		if (!rc && ret_changed)
			*ret_changed = true;
	}
	return rc;
}

/* When to read again, at the earliest, after records were lost. */
static void wait_long(struct dw_tracked_process *p, uint64_t time_ns, bool changed)
{
	p->resync_wait_ns = changed || !p->resync_wait_ns ? RESYNC_FIRST_NS : 2 * p->resync_wait_ns;
	if (p->resync_wait_ns > RESYNC_MOST_NS)
		p->resync_wait_ns = RESYNC_MOST_NS;
	p->resync_at_ns = time_ns + p->resync_wait_ns;
}

/* Likewise where nothing is told, after a reading that took @cost_ns of this thread's time: some
 * may follow each other at once if there were few lately. */
static void wait_shortly(struct dw_tracked_process *p, uint64_t cost_ns, bool changed)
{
	uint64_t now_ns = dw_clock_ns(CLOCK_MONOTONIC), from_ns = now_ns - LATELY_NS;

	p->resync_wait_ns =
		changed || !p->resync_wait_ns ? READ_PART * cost_ns : 2 * p->resync_wait_ns;
	if (p->resync_wait_ns > RESYNC_FIRST_NS)
		p->resync_wait_ns = RESYNC_FIRST_NS;
	p->resync_at_ns =
		(p->resync_at_ns > from_ns ? p->resync_at_ns : from_ns) + p->resync_wait_ns;
	p->resync_ns = now_ns;
}

/* Whether it is time to read the mappings of @p again for a sample of @time_ns. What is older than
 * the last reading gains nothing by another one. */
static bool is_due(const struct dw_track *t, const struct dw_tracked_process *p, uint64_t time_ns)
{
	if (!t->maps_untold)
		return time_ns >= p->resync_at_ns;
	return time_ns > p->resync_ns && dw_clock_ns(CLOCK_MONOTONIC) >= p->resync_at_ns;
}

bool dw_track_resync(struct dw_track *t, struct dw_tracked_process *p, uint64_t time_ns)
{
	struct dw_mappings m;
	uint64_t cost_ns;
	bool changed = false;
	int rc;

	if (t->modules->offline || !is_due(t, p, time_ns))
		return false;
	cost_ns = dw_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	rc = dw_mappings_read(p->pid, &m);
	cost_ns = dw_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cost_ns;
	if (!rc) {
		dw_track_mappings(t, p, &m, &changed);
		dw_mappings_release(&m);
	}
	if (t->maps_untold)
		wait_shortly(p, cost_ns, changed);
	else
		wait_long(p, time_ns, changed);
	return changed;
}

enum { UNTOLD_LOOKS = 3 }; /* after so many a thread will not tell any more that it began */

static bool is_alive(const struct dw_tracked_thread *th, pid_t pid)
{
	return th && !th->ended && th->process->pid == pid;
}

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
