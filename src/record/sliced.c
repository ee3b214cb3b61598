/* Sessions that are made of regions; see sliced.h. */
#include "record/sliced.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/region/read.h"
#include "target/command-line.h"
#include "target/proc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The row of the process @pid that is there, 0 = none. */
static uint32_t find_pid(const struct dw_recorded_processes *r, pid_t pid)
{
	for (size_t i = r->identities.n; i-- > 0;)
		if (r->identities.v[i].pid == pid)
			return r->identities.v[i].process;
	return 0;
}

static int name_process(struct dw_recorded_processes *r, pid_t pid, const char *name, uint32_t *ret)
{
	dw_auto(dw_buf) title = DW_BUF_INIT;
	int rc = dw_process_title(pid, name, &title);

	return rc ? rc : dw_strings_add(&r->p->strings, title.data, title.len, ret);
}

/* Name @row, a process that was gone when it was looked at, by its parent, or by the program that
 * its region tells of. */
static int name_gone(struct dw_recorded_processes *r, const struct dw_region_look *look,
		     struct dw_process *row)
{
	struct dw_region_module m;
	char text[DWELL_REGION_PATH];

	if (row->parent) {
		row->name = dw_processes_get(&r->p->processes, row->parent)->name;
		return 0;
	}
	snprintf(text, sizeof text, "[process %d]", row->pid);
	for (uint32_t i = 0; i < look->head->module_n; i++) {
		const char *slash;

		if (dw_region_read_module(look->fd, i, &m) || !m.is_main || !m.path[0])
			continue;
		slash = strrchr(m.path, '/');
		snprintf(text, sizeof text, "%s", slash ? slash + 1 : m.path);
		break;
	}
	return dw_strings_adds(&r->p->strings, text, &row->name);
}

/* Note what the process @pid, which is there, runs. */
static int note_command(struct dw_recorded_processes *r, pid_t pid, uint32_t process)
{
	dw_auto(dw_buf) command = DW_BUF_INIT, line = DW_BUF_INIT;
	int rc = dw_command_line_read(pid, &command, &line);

	if (rc == -ENOMEM)
		return rc;
	return rc || !command.len ? 0
				  : dw_process_set_command(r->p, process, dw_buf_str(&command),
							   dw_buf_str(&line));
}

/* The row of the process @pid behind @look, of which @st tells. */
static int get_process(struct dw_recorded_processes *r, const struct dw_region_look *look,
		       pid_t pid, const struct dw_proc_stat *st, uint64_t begin_ns, uint32_t *ret)
{
	struct dw_process row = {
		.pid = pid,
		.begin_ns = begin_ns,
		.user_cpu_ns = DWELL_TIME_NONE,
		.kernel_cpu_ns = DWELL_TIME_NONE,
	};
	struct dw_process *at = &row;
	int rc = 0;

	*ret = 0;
	dw_vec_each(i, &r->identities) {
		if (i->pid != pid || !st->start_ticks || i->start_ticks != st->start_ticks)
			continue;
		*ret = i->process;
		i->regions++;
	}
	if (*ret)
		at = dw_processes_get(&r->p->processes, *ret);
	if (st->name[0])
		rc = name_process(r, pid, st->name, &at->name);
	at->end_ns = DWELL_TIME_NONE;
	at->dirty = true;
	if (rc || *ret)
		return rc || !st->name[0] ? rc : note_command(r, pid, *ret);
	row.parent = find_pid(r, st->parent);
	if (!row.name)
		rc = name_gone(r, look, &row);
	if (!rc)
		rc = dw_processes_add(&r->p->processes, &row, ret);
	if (!rc && st->name[0])
		rc = note_command(r, pid, *ret);
	return rc ? rc
		  : dw_vec_push(&r->identities,
				(struct dw_recorded_identity){pid, st->start_ticks, *ret, 1});
}

int dw_recorded_process(struct dw_recorded_processes *r, const struct dw_region_look *look,
			const struct dw_region_process *process, uint64_t begin_ns, uint32_t *ret)
{
	const struct dw_proc_stat unknown = {.parent = (pid_t)look->head->parent_pid};
	pid_t pid = process ? process->pid : look->owner.pid;
	struct dw_proc_stat st;

	if (!process || dw_proc_stat_read(pid, &st))
		st = unknown;
	return get_process(r, look, pid, &st, begin_ns, ret);
}

bool dw_recorded_process_left(struct dw_recorded_processes *r, uint32_t process, uint64_t end_ns)
{
	struct dw_process *row = dw_processes_get(&r->p->processes, process);

	if (--r->identities.v[process - 1].regions || end_ns == DWELL_TIME_NONE)
		return false;
	row->end_ns = end_ns;
	row->dirty = true;
	return true;
}

void dw_recorded_threads_name(struct dw_recorded_processes *r, uint32_t process, pid_t pid)
{
	const struct dw_process *row = dw_processes_get(&r->p->processes, process);

	while (r->threads_named < dw_threads_count(&r->p->threads)) {
		struct dw_thread *t = dw_threads_get(&r->p->threads, ++r->threads_named);
		dw_auto(dw_buf) name = DW_BUF_INIT;

		t->name = row->name;
		if (pid && !dw_proc_thread_name(pid, t->tid, &name))
			(void)dw_strings_add(&r->p->strings, dw_buf_str(&name), name.len, &t->name);
	}
}

void dw_recorded_processes_release(struct dw_recorded_processes *r)
{
	dw_vec_release(&r->identities);
}

#define SLICE_NS 1000000000ull

enum {
	SLICE_SHARE = 100,    /* a slice is never shorter than 1 / this of what was before it */
	COST_SHARE = 100,     /* nor than this many times the time of reading */
	DELTAS_MAX = 1 << 18, /* in memory */
	NODES_MAX = 1 << 18,  /* likewise */
};

void dw_sliced_init(struct dw_sliced *s, struct dw_recorder *recorder)
{
	s->recorder = recorder;
	s->p = s->processes.p = &recorder->profile;
	s->pace = (struct dw_slice_pace){SLICE_NS, COST_SHARE};
	s->start_ns = recorder->run.start_ns;
	s->next_ns = s->start_ns + SLICE_NS;
}

uint64_t dw_sliced_time(const struct dw_sliced *s, uint64_t ns)
{
	return ns > s->start_ns ? ns - s->start_ns : 0;
}

void dw_sliced_hasten(struct dw_sliced *s, uint64_t ns)
{
	uint64_t end_ns = dw_clock_ns(CLOCK_MONOTONIC) + ns;

	s->early_ns = ns;
	if (s->next_ns > end_ns)
		s->next_ns = end_ns;
}

uint32_t dw_sliced_now(const struct dw_sliced *s)
{
	return (uint32_t)s->p->calls.slices.n;
}

uint32_t dw_sliced_last(const struct dw_sliced *s)
{
	return (uint32_t)s->p->calls.slices.n - 1;
}

uint64_t dw_sliced_end_of(const struct dw_sliced *s, const struct dw_region_look *look)
{
	uint64_t told = look->head->end.ns;

	if (!look->is_over)
		return DWELL_TIME_NONE;
	return dw_sliced_time(s, told ? told : dw_clock_ns(CLOCK_MONOTONIC));
}

static int flush(struct dw_sliced *s, struct dw_error *err)
{
	int rc = dw_recorder_flush(s->recorder, err);

	if (!rc)
		dw_calls_forget(&s->p->calls);
	return rc;
}

/* End the slice that goes on @now. */
static void end_slice(struct dw_sliced *s, uint64_t now)
{
	struct dw_call_slice slice = {dw_sliced_time(s, now)};

	dw_recorder_fail(s->recorder, dw_vec_push(&s->p->calls.slices, slice));
}

void dw_sliced_relieve(struct dw_sliced *s, uint32_t slice)
{
	if (s->p->calls.nodes.n <= NODES_MAX && s->p->calls.deltas.n <= DELTAS_MAX &&
	    s->p->allocations.deltas.n <= DELTAS_MAX)
		return;
	if (slice == dw_sliced_now(s))
		end_slice(s, dw_clock_ns(CLOCK_MONOTONIC));
	flush(s, NULL);
}

/* How long the slice that begins @now is, where reading the one before has taken @spent_ns. */
static uint64_t length_ns(struct dw_sliced *s, uint64_t now, uint64_t spent_ns)
{
	uint64_t wait = s->pace.ns + dw_sliced_time(s, now) / SLICE_SHARE;
	uint64_t cost = spent_ns * s->pace.cost_share;

	if (s->early_ns && s->early_ns < wait) {
		wait = s->early_ns;
		cost = spent_ns;
		s->early_ns *= 2;
	}
	return cost > wait ? cost : wait;
}

int dw_sliced_tick(struct dw_sliced *s, struct dw_regions *regions,
		   void (*read)(void *ctx, const struct dw_region_look *look), void *ctx,
		   struct dw_error *err)
{
	uint64_t now = dw_clock_ns(CLOCK_MONOTONIC), before = dw_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (now < s->next_ns || s->recorder->rc)
		return s->recorder->rc;
	end_slice(s, now);
	dw_regions_each(regions, read, ctx);
	flush(s, err);
	s->next_ns = now + length_ns(s, now, dw_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before);
	return s->recorder->rc;
}

void dw_sliced_end(struct dw_sliced *s)
{
	uint64_t now = dw_clock_ns(CLOCK_MONOTONIC);

	end_slice(s, now);
	dw_recorder_fail(s->recorder,
			 dw_run_end(&s->recorder->run, &s->p->facts, dw_sliced_time(s, now)));
}

void dw_sliced_release(struct dw_sliced *s)
{
	dw_recorded_processes_release(&s->processes);
}
