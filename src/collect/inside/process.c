/*
 * From the ring's records to those of perf's kinds; see process.h.
 *
 * What perf would tell by itself is put together from what there is: a region that a fork's child
 * has made is a fork, a new one of a process that is known is an exec, mappings come as the
 * target's own list, threads begin with their first record. That one has ended, or has another
 * name, is seen by looking.
 */
#include "collect/inside/process.h"

#include "base/clock.h"
#include "collect/sampled/track-look.h"
#include "target/maps.h"
#include "target/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TOLD_MAX = 200000 }; /* threads of one process that are believed */

/* Reading one process's ring. */
struct reading {
	struct dw_inside_reader *r;
	struct dw_inside_process *p;
};

static int take(struct dw_inside_reader *r, const struct dw_perf_record *record)
{
	return dw_intake_take(r->intake, record, record->type != PERF_RECORD_SAMPLE);
}

static int tell_name(struct dw_inside_reader *r, pid_t pid, pid_t tid, const char *name, bool exec,
		     uint64_t time_ns)
{
	const struct dw_perf_record record = {.type = PERF_RECORD_COMM,
					      .time_ns = time_ns,
					      .pid = pid,
					      .tid = tid,
					      .comm = {name, exec}};

	return take(r, &record);
}

/* The process in which @head's was forked, if it is followed. */
static pid_t parent_of(const struct dw_inside_reader *r, const struct dw_region_head *head)
{
	pid_t parent = head->parent_pid <= INT32_MAX ? (pid_t)head->parent_pid : 0;
	const struct dw_tracked_thread *th = dw_track_find(&r->intake->track, parent);

	return th && !th->ended ? parent : 0;
}

int dw_inside_fork(struct dw_inside_reader *r, const struct dw_inside_process *p, pid_t parent)
{
	const struct dw_perf_record record = {.type = PERF_RECORD_FORK,
					      .time_ns = p->start_ns,
					      .pid = p->pid,
					      .tid = p->pid,
					      .parent = {parent, parent}};

	return take(r, &record);
}

int dw_inside_begin(struct dw_inside_reader *r, struct dw_inside_process *p,
		    const struct dw_region_head *head, bool is_forked)
{
	const struct dw_tracked_thread *th = dw_track_find(&r->intake->track, p->pid);
	bool is_known = th && !th->ended;
	struct dw_proc_stat st = {.name = ""};
	pid_t parent = parent_of(r, head);
	int rc = 0;

	if (parent && parent != p->pid && !is_forked && (!is_known || head->is_fork))
		rc = dw_inside_fork(r, p, parent);
	if (rc || head->is_fork)
		return rc;
	p->is_named = !dw_proc_stat_read(p->pid, &st);
	return tell_name(r, p->pid, p->pid, st.name, true, p->start_ns);
}

static int take_stack(const struct reading *g, const struct dw_inside_record *record)
{
	enum { REGS_BYTES = DWELL_SAMPLE_REGS * sizeof(uint64_t) };
	struct dw_perf_record sample = {.type = PERF_RECORD_SAMPLE,
					.time_ns = record->time_ns,
					.pid = g->p->pid,
					.tid = record->tid};

	_Static_assert((int)DWELL_SAMPLE_REGS == (int)DWELL_REG_COUNT, "the same registers");
	if (record->content_bytes < REGS_BYTES) {
		g->r->malformed++;
		return 0;
	}
	sample.sample.abi = PERF_SAMPLE_REGS_ABI_64;
	memcpy(sample.sample.regs.r, record->content, REGS_BYTES);
	sample.sample.stack = record->content + REGS_BYTES;
	sample.sample.stack_bytes = record->content_bytes - REGS_BYTES;
	return take(g->r, &sample);
}

/* Name the process after the first file it has mapped, if it ended before its name was read. */
static int name_after(const struct reading *g, const struct dw_mappings *m, uint64_t time_ns)
{
	const char *path = m->rows.n ? m->rows.v[0].path : "", *slash = strrchr(path, '/');

	if (g->p->is_named || !slash)
		return 0;
	g->p->is_named = true;
	return tell_name(g->r, g->p->pid, g->p->pid, slash + 1, false, time_ns);
}

static int take_maps(const struct reading *g, const struct dw_inside_record *record)
{
	struct dw_tracked_thread *th;
	struct dw_mappings m;
	char *text;
	int rc;

	if (record->content_bytes > DWELL_SAMPLE_MAPS_MAX) {
		g->r->malformed++;
		return 0;
	}
	text = malloc(record->content_bytes + 1);
	if (!text)
		return -ENOMEM;
	memcpy(text, record->content, record->content_bytes);
	text[record->content_bytes] = 0;
	rc = dw_mappings_parse(text, record->content_bytes, &m);
	if (rc)
		return rc;
	rc = dw_track_thread(&g->r->intake->track, g->p->pid, g->p->pid, record->time_ns, &th);
	if (!rc)
		rc = dw_track_mappings(&g->r->intake->track, th->process, &m, NULL);
	if (!rc)
		rc = name_after(g, &m, record->time_ns);
	dw_mappings_release(&m);
	return rc;
}

/* Whether @tid may be a thread of the process: it is no other's, nor one of too many. */
static bool is_own(const struct reading *g, int32_t tid)
{
	const struct dw_tracked_thread *th = dw_track_find(&g->r->intake->track, tid);

	if (th && !th->ended)
		return th->process->pid == g->p->pid;
	return tid > 0 && g->p->told++ < TOLD_MAX;
}

static int take_record(void *ctx, const struct dw_inside_record *record)
{
	const struct reading *g = ctx;
	struct dw_track *t = &g->r->intake->track;
	struct dw_tracked_thread *th;
	int rc;

	dw_track_end_gone(t, g->p->pid, record->tid, record->time_ns);
	if (!is_own(g, record->tid)) {
		g->r->malformed++;
		return 0;
	}
	switch (record->kind) {
	case DWELL_SAMPLE_STACK:
		return take_stack(g, record);
	case DWELL_SAMPLE_MAPS:
		return take_maps(g, record);
	case DWELL_SAMPLE_THREAD:
		rc = dw_track_thread(t, g->p->pid, record->tid, record->time_ns, &th);
		if (!rc)
			th->untold = 0;
		return rc;
	default:
		g->r->malformed++;
		return 0;
	}
}

int dw_inside_read(struct dw_inside_reader *r, struct dw_inside_process *p, bool is_last)
{
	uint64_t now_ns = dw_clock_ns(CLOCK_MONOTONIC);
	struct reading g = {r, p};
	int rc;

	if (p->fd < 0)
		return 0;
	rc = dw_inside_ring_read(&p->ring, p->fd, &r->buffer, is_last, take_record, &g);
	if (p->ring.is_read || p->ring.is_bad)
		p->read_ns = now_ns;
	return rc;
}
