/*
 * Following processes; see track.h. What /proc tells is in track-procfs.c.
 *
 * The kernel's order is relied on: a fork is told before the child does anything, an exec (a name
 * with the exec flag) before the new image is mapped. A thread other than the leader that executes
 * takes over the leader's number, whose end was told before.
 */
#include "collect/samples/track.h"

#include "base/cleanup.h"
#include "collect/interpreter/interpreter.h"
#include "collect/samples/track-procfs.h"
#include "collect/samples/deep-stack.h"
#include "target/command-line.h"
#include "target/proc.h"

#include <errno.h>

/* A process's command line is read again while it has samples, and more often while it is young:
 * most programs that give themselves another title do so at once. */
enum { TITLE_FIRST_NS = 10000000, TITLE_AGAIN_NS = 1000000000 };

uint64_t dw_track_time(const struct dw_track *t, uint64_t time_ns)
{
	return time_ns > t->start_ns ? time_ns - t->start_ns : 0;
}

static struct dw_tracked_process *find_process(const struct dw_track *t, pid_t pid)
{
	uint32_t i = dw_map_get(&t->by_pid, (uint32_t)pid);

	return i ? t->processes.v[i - 1] : NULL;
}

struct dw_tracked_thread *dw_track_find(const struct dw_track *t, pid_t tid)
{
	uint32_t i = dw_map_get(&t->by_tid, (uint32_t)tid);

	return i ? t->threads.v[i - 1] : NULL;
}

/* The slot of @pid, made when there is none. */
static int process_slot(struct dw_track *t, pid_t pid, struct dw_tracked_process **ret)
{
	struct dw_tracked_process *p = find_process(t, pid);

	if (!p) {
		p = calloc(1, sizeof *p);
		if (!p || dw_vec_push(&t->processes, p)) {
			free(p);
			return -ENOMEM;
		}
		if (dw_map_put(&t->by_pid, (uint32_t)pid, (uint32_t)t->processes.n)) {
			free(t->processes.v[--t->processes.n]);
			return -ENOMEM;
		}
		p->pid = pid;
		p->ended = true;
	}
	*ret = p;
	return 0;
}

static int thread_slot(struct dw_track *t, pid_t tid, struct dw_tracked_thread **ret)
{
	struct dw_tracked_thread *th = dw_track_find(t, tid);

	if (!th) {
		th = calloc(1, sizeof *th);
		if (!th || dw_vec_push(&t->threads, th)) {
			free(th);
			return -ENOMEM;
		}
		if (dw_map_put(&t->by_tid, (uint32_t)tid, (uint32_t)t->threads.n)) {
			free(t->threads.v[--t->threads.n]);
			return -ENOMEM;
		}
		th->tid = tid;
		th->ended = true;
	}
	*ret = th;
	return 0;
}

static void end_registry(struct dw_tracked_process *p)
{
	dw_jit_end(p->registry);
	p->registry = NULL;
	dw_interpreter_end(p->interpreter);
	p->interpreter = NULL;
}

int dw_track_registry(struct dw_track *t, struct dw_tracked_process *p)
{
	const struct dw_owner *own;

	if (p->registry || !t->jit || t->modules->offline)
		return 0;
	own = dw_owners_self(t->modules->owners);
	if (!own)
		return -ENOMEM;
	p->owner = dw_owners_get(t->modules->owners, p->pid, p->owner ? p->owner : own);
	p->registry = p->owner ? dw_jit_begin(t->jit, p->pid, p->owner, own) : NULL;
	return p->registry ? 0 : -ENOMEM;
}

/* Forget what only a living process needs. */
static void strip_process(struct dw_tracked_process *p)
{
	end_registry(p);
	dw_space_release(&p->space);
	free(p->memos);
	p->memos = NULL;
}

static void read_cpu_time(struct dw_track *t, const struct dw_tracked_process *p)
{
	struct dw_process *row = dw_processes_get(&t->profile->processes, p->id);
	struct dw_proc_stat st;

	if (t->modules->offline || dw_proc_stat_read(p->pid, &st))
		return;
	row->user_cpu_ns = st.user_cpu_ns - p->user_before_ns;
	row->kernel_cpu_ns = st.kernel_cpu_ns - p->kernel_before_ns;
	row->dirty = true;
}

/* The last thread of @p is gone. A zombie that nobody has waited for yet still tells its CPU time.
 */
static void end_process(struct dw_track *t, struct dw_tracked_process *p, uint64_t time_ns)
{
	struct dw_process *row = dw_processes_get(&t->profile->processes, p->id);

	p->ended = true;
	row->end_ns = dw_track_time(t, time_ns);
	row->user_cpu_ns = row->kernel_cpu_ns = DWELL_TIME_NONE;
	row->dirty = true;
	read_cpu_time(t, p);
	if (row->user_cpu_ns == DWELL_TIME_NONE) {
		t->unread_user += p->user_samples;
		t->unread_kernel += p->kernel_samples;
	}
	strip_process(p);
}

void dw_track_end(struct dw_track *t, struct dw_tracked_thread *th, uint64_t time_ns)
{
	struct dw_thread *row = dw_threads_get(&t->profile->threads, th->id);

	if (th->ended)
		return;
	th->ended = true;
	row->end_ns = dw_track_time(t, time_ns);
	row->dirty = true;
	dw_walk_free(th->walk);
	th->walk = NULL;
	if (!--th->process->threads && !th->process->ended)
		end_process(t, th->process, time_ns);
}

/* Give the slot @p a new row. Whatever process had the number before has ended. */
static int begin_process(struct dw_track *t, struct dw_tracked_process *p, uint32_t parent,
			 uint32_t name, uint64_t time_ns)
{
	struct dw_process row = {.pid = p->pid,
				 .parent = parent,
				 .name = name,
				 .begin_ns = dw_track_time(t, time_ns),
				 .end_ns = DWELL_TIME_NONE,
				 .user_cpu_ns = DWELL_TIME_NONE,
				 .kernel_cpu_ns = DWELL_TIME_NONE,
				 .dirty = true};
	pid_t pid = p->pid;
	uint32_t generation = p->generation;

	if (!p->ended)
		dw_vec_each(th, &t->threads) {
			if ((*th)->process == p)
				dw_track_end(t, *th, time_ns);
		}
	strip_process(p);
	*p = (struct dw_tracked_process){.pid = pid, .generation = generation + 1};
	return dw_processes_add(&t->profile->processes, &row, &p->id);
}

/* Give the slot @th a new row in @p. */
static int begin_thread(struct dw_track *t, struct dw_tracked_thread *th,
			struct dw_tracked_process *p, uint64_t time_ns)
{
	struct dw_thread row = {.process = p->id,
				.tid = th->tid,
				.name = dw_processes_get(&t->profile->processes, p->id)->name,
				.begin_ns = dw_track_time(t, time_ns),
				.end_ns = DWELL_TIME_NONE,
				.dirty = true};
	int rc;

	dw_track_end(t, th, time_ns);
	rc = dw_threads_add(&t->profile->threads, &row, &th->id);
	if (rc)
		return rc;
	th->process = p;
	th->ended = th->listed = false;
	th->gone_ns = 0;
	p->threads++;
	return 0;
}

/* Note what @p has executed, as long as it is there to tell. Right after an exec the kernel has
 * nothing to show. */
static int note_command(struct dw_track *t, struct dw_tracked_process *p)
{
	dw_auto(dw_buf) command = DW_BUF_INIT, line = DW_BUF_INIT;
	int rc = t->modules->offline ? -ENOENT : dw_command_line_read(p->pid, &command, &line);

	p->command_due = !rc && !command.len;
	if (rc == -ENOMEM)
		return rc;
	return rc || !command.len ? 0
				  : dw_process_set_command(t->profile, p->id, dw_buf_str(&command),
							   dw_buf_str(&line));
}

/* As long as the process has been there. */
static uint64_t time_to_next_title(const struct dw_track *t, const struct dw_tracked_process *p,
				   uint64_t time_ns)
{
	uint64_t begin_ns = dw_processes_get(&t->profile->processes, p->id)->begin_ns;
	uint64_t now_ns = dw_track_time(t, time_ns);
	uint64_t age_ns = now_ns > begin_ns ? now_ns - begin_ns : 0;

	return age_ns < TITLE_FIRST_NS	 ? TITLE_FIRST_NS
	       : age_ns > TITLE_AGAIN_NS ? TITLE_AGAIN_NS
					 : age_ns;
}

int dw_track_title(struct dw_track *t, struct dw_tracked_process *p, uint64_t time_ns)
{
	if (time_ns < p->title_at_ns)
		return 0;
	p->title_at_ns = time_ns + time_to_next_title(t, p, time_ns);
	return note_command(t, p);
}

/* A process that no record announced: the command itself, or one whose fork was lost. */
static int discover_process(struct dw_track *t, struct dw_tracked_process *p, uint64_t time_ns)
{
	struct dw_proc_stat st = {.parent = 0};
	struct dw_tracked_process *parent = NULL;
	uint32_t name = 0;
	int rc = 0;

	if (!t->modules->offline && !dw_proc_stat_read(p->pid, &st)) {
		parent = find_process(t, st.parent);
		rc = dw_strings_adds(&t->profile->strings, st.name, &name);
	}
	if (!rc)
		rc = begin_process(t, p, parent ? parent->id : 0, name, time_ns);
	return rc ? rc : note_command(t, p);
}

/* The name of a thread that no record has told. */
static int read_thread_name(struct dw_track *t, const struct dw_tracked_thread *th)
{
	struct dw_thread *row = dw_threads_get(&t->profile->threads, th->id);
	dw_auto(dw_buf) text = DW_BUF_INIT;

	if (dw_proc_thread_name(th->process->pid, th->tid, &text))
		return 0;
	return dw_strings_add(&t->profile->strings, dw_buf_str(&text), text.len, &row->name);
}

/* A process that is older than the recording: what it has used before is not ours to tell. */
static void begin_running(struct dw_track *t, struct dw_tracked_process *p, uint64_t time_ns)
{
	struct dw_proc_stat st;

	if (!dw_proc_stat_read(p->pid, &st)) {
		p->user_before_ns = st.user_cpu_ns;
		p->kernel_before_ns = st.kernel_cpu_ns;
	}
	p->owner = dw_owners_get(t->modules->owners, p->pid, NULL);
	dw_track_resync(t, p, time_ns);
}

/* @th may be older than the recording, and with it the other threads of its process: that has not
 * ended as long as one of them lives. */
static int begin_unannounced(struct dw_track *t, struct dw_tracked_thread *th, bool is_new,
			     uint64_t time_ns)
{
	const pid_t pid = th->process->pid;
	struct dw_tids tids = {0};
	int rc = t->modules->offline ? 0 : read_thread_name(t, th);

	if (rc || !is_new)
		return rc;
	begin_running(t, th->process, time_ns);
	if (dw_proc_threads(pid, &tids) == -ENOMEM)
		rc = -ENOMEM;
	dw_vec_each(tid, &tids) {
		if (!rc)
			rc = dw_track_thread(t, pid, *tid, time_ns, &th);
		th->listed = true;
	}
	dw_vec_release(&tids);
	return rc;
}

int dw_track_thread(struct dw_track *t, pid_t pid, pid_t tid, uint64_t time_ns,
		    struct dw_tracked_thread **ret)
{
	struct dw_tracked_thread *th = dw_track_find(t, tid);
	struct dw_tracked_process *p;
	bool is_new;
	int rc;

	if (th && !th->ended && th->process->pid == pid) {
		*ret = th;
		return 0;
	}
	rc = process_slot(t, pid, &p);
	if (!rc)
		rc = thread_slot(t, tid, &th);
	if (rc)
		return rc;
	is_new = p->ended;
	if (is_new)
		rc = discover_process(t, p, time_ns);
	if (!rc)
		rc = begin_thread(t, th, p, time_ns);
	if (rc)
		return rc;
	*ret = th;
	if (t->is_open)
		return begin_unannounced(t, th, is_new, time_ns);
	if (is_new && time_ns > t->start_ns)
		dw_track_resync(t, p, time_ns);
	return 0;
}

int dw_track_command(struct dw_track *t, pid_t pid)
{
	struct dw_tracked_thread *th;
	int rc = dw_track_thread(t, pid, pid, t->start_ns, &th);

	/* Known while it is there: it may be gone before its first file is looked at. */
	if (!rc && !t->modules->offline)
		th->process->owner = dw_owners_get(t->modules->owners, pid, NULL);
	return rc;
}

int dw_track_running(struct dw_track *t, pid_t pid, pid_t tid)
{
	const struct dw_tracked_process *before = find_process(t, pid);
	bool is_new = !before || before->ended;
	struct dw_tracked_thread *th = dw_track_find(t, tid);
	int rc;

	if (th && !th->ended && th->process->pid == pid)
		return 0;
	rc = dw_track_thread(t, pid, tid, t->start_ns, &th);
	if (rc)
		return rc;
	th->listed = true;
	if (is_new)
		begin_running(t, th->process, t->start_ns);
	return read_thread_name(t, th);
}

/* Whether @th, which may be NULL, is the one whose birth @r tells; then that is noted. */
static bool is_listed_already(struct dw_track *t, struct dw_tracked_thread *th,
			      const struct dw_perf_record *r)
{
	struct dw_thread *row;

	if (!th || th->ended || !th->listed || th->process->pid != r->pid)
		return false;
	th->listed = false;
	row = dw_threads_get(&t->profile->threads, th->id);
	row->begin_ns = dw_track_time(t, r->time_ns);
	row->dirty = true;
	return true;
}

/* A child runs what its parent runs, until it executes something. */
static int inherit_command(struct dw_track *t, const struct dw_tracked_process *p,
			   const struct dw_tracked_process *parent)
{
	const struct dw_process *row = dw_processes_get(&t->profile->processes, parent->id);
	const struct dw_strings *strings = &t->profile->strings;

	return row->command ? dw_process_set_command(t->profile, p->id,
						     dw_strings_get(strings, row->command),
						     dw_strings_get(strings, row->command_line))
			    : 0;
}

static int take_fork(struct dw_track *t, const struct dw_perf_record *r)
{
	struct dw_tracked_thread *parent, *th;
	struct dw_tracked_process *p;
	int rc;

	if (is_listed_already(t, dw_track_find(t, r->tid), r))
		return 0;
	rc = dw_track_thread(t, r->parent.pid, r->parent.tid, r->time_ns, &parent);
	if (rc)
		return rc;
	p = parent->process;
	if (r->pid != r->parent.pid) {
		const struct dw_process *row =
			dw_processes_get(&t->profile->processes, parent->process->id);

		rc = process_slot(t, r->pid, &p);
		if (!rc)
			rc = begin_process(t, p, parent->process->id, row->name, r->time_ns);
		if (!rc)
			rc = inherit_command(t, p, parent->process);
		if (!rc)
			rc = dw_space_copy(&p->space, &parent->process->space);
		if (rc)
			return rc;
		p->owner = parent->process->owner;
		p->anon = parent->process->anon;
		p->title_at_ns = r->time_ns + TITLE_FIRST_NS;
	}
	rc = thread_slot(t, r->tid, &th);
	return rc ? rc : begin_thread(t, th, p, r->time_ns);
}

/* An exec leaves one thread. Others have told their end, but for the one that took the leader's
 * number. */
static void leave_one_thread(struct dw_track *t, const struct dw_tracked_thread *left,
			     uint64_t time_ns)
{
	if (left->process->threads > 1)
		dw_vec_each(th, &t->threads) {
			if ((*th)->process == left->process && *th != left)
				dw_track_end(t, *th, time_ns);
		}
}

/* Name @process, whose main thread is called @name. */
static int name_process(struct dw_track *t, const struct dw_perf_record *r,
			struct dw_process *process, uint32_t name)
{
	dw_auto(dw_buf) title = DW_BUF_INIT;
	int rc = t->modules->offline ? 0 : dw_process_title(r->pid, r->comm.name, &title);

	process->name = name;
	process->dirty = true;
	if (rc || !title.len)
		return rc;
	return dw_strings_add(&t->profile->strings, title.data, title.len, &process->name);
}

static int take_comm(struct dw_track *t, const struct dw_perf_record *r)
{
	struct dw_tracked_thread *th;
	struct dw_tracked_process *p;
	struct dw_thread *row;
	struct dw_process *process;
	uint32_t name;
	int rc = dw_track_thread(t, r->pid, r->tid, r->time_ns, &th);

	if (!rc)
		rc = dw_strings_adds(&t->profile->strings, r->comm.name, &name);
	if (rc)
		return rc;
	p = th->process;
	row = dw_threads_get(&t->profile->threads, th->id);
	row->name = name;
	row->dirty = true;
	if (r->comm.exec) {
		leave_one_thread(t, th, r->time_ns);
		dw_space_clear(&p->space);
		end_registry(p);
		p->generation++;
		p->anon = 0;
		p->resync_at_ns = p->resync_ns = p->resync_wait_ns = 0;
	}
	process = dw_processes_get(&t->profile->processes, p->id);
	if (r->comm.exec || r->tid == r->pid)
		rc = name_process(t, r, process, name);
	if (rc || !r->comm.exec)
		return rc;
	/* What ran before does not any more. */
	rc = dw_process_set_command(t->profile, p->id, "", "");
	return rc ? rc : note_command(t, p);
}

static int take_mapping(struct dw_track *t, const struct dw_perf_record *r)
{
	struct dw_tracked_thread *th;
	int rc = dw_track_thread(t, r->pid, r->tid, r->time_ns, &th);

	if (!rc && th->process->command_due)
		rc = note_command(t, th->process);
	return rc ? rc : dw_track_map(t, th->process, &r->mapping);
}

int dw_track_record(struct dw_track *t, const struct dw_perf_record *r)
{
	struct dw_tracked_thread *th;

	switch (r->type) {
	case PERF_RECORD_FORK:
		return take_fork(t, r);
	case PERF_RECORD_EXIT:
		th = dw_track_find(t, r->tid);
		if (th && !th->ended && th->process->pid == r->pid)
			dw_track_end(t, th, r->time_ns);
		return 0;
	case PERF_RECORD_COMM:
		return take_comm(t, r);
	case PERF_RECORD_MMAP2:
		return take_mapping(t, r);
	default:
		return 0;
	}
}

void dw_track_cpu_times(struct dw_track *t)
{
	dw_vec_each(p, &t->processes) {
		if ((*p)->ended)
			continue;
		read_cpu_time(t, *p);
		(void)note_command(t, *p); /* without memory it keeps the one before */
	}
}

void dw_track_release(struct dw_track *t)
{
	dw_vec_each(p, &t->processes) {
		strip_process(*p);
		free(*p);
	}
	dw_vec_each(th, &t->threads) {
		dw_walk_free((*th)->walk);
		free(*th);
	}
	dw_vec_release(&t->processes);
	dw_vec_release(&t->threads);
	dw_map_release(&t->by_pid);
	dw_map_release(&t->by_tid);
}
