/*
 * Watching waits; see waits.h.
 *
 * Looks come every 4 ms while threads are switched and every 16 ms else, each time a little off, so
 * that no program is in step with them. A look reads so many stacks at most; where there are more
 * threads, they take turns.
 */
#include "collect/waits/waits.h"

#include "base/clock.h"
#include "base/error.h"
#include "collect/waits/kind.h"
#include "collect/waits/lock.h"
#include "model/measure.h"

#include <errno.h>
#include <string.h>
#include <stdio.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define PAUSE_NS     4000000ull
#define PAUSE_MAX_NS 16000000ull
#define PIECE_MIN_NS 1000000000ull
#define PIECE_MAX_NS 60000000000ull
#define HELD_BACK_NS 2000000ull	 /* records of so long ago may still come */
#define SURE_NS	     50000000ull /* what records of so long ago say is known */
#define FOLLOW_NS    50000ull	 /* between looks at who has a lock, of all threads together */

enum {
	READS_MAX = 24,
	THRIFT = 32,			 /* of a processor is spent one part in so many, */
	THRIFT_PAUSE_MAX_NS = 500000000, /* but so often there is a look */
};

struct dw_waiter *dw_waits_waiter(struct dw_waits_watch *w, size_t i)
{
	const struct dw_tracked_thread *th = w->dispatcher->track.threads.v[i];
	struct dw_waiter *v;

	while (w->waiters.n <= i)
		if (dw_vec_push(&w->waiters, (struct dw_waiter){0}))
			return NULL;
	v = &w->waiters.v[i];
	if (v->id && v->id != th->id) {
		uint64_t now_ns = dw_clock_ns(CLOCK_MONOTONIC);

		if (w->has_records ? dw_waits_close_records(w, v, now_ns)
				   : dw_waits_close_times(w, v, now_ns))
			return NULL;
	}
	if (v->id != th->id)
		*v = (struct dw_waiter){.id = th->ended ? 0 : th->id};
	return v;
}

/* Whether @th was given a processor since @times were read. */
static bool has_run(const struct dw_tracked_thread *th, const struct dw_task_times *times)
{
	struct dw_task_times now;

	return dw_task_times_read(th->process->pid, th->tid, &now) || now.runs != times->runs;
}

/* Whether @th went on from @place. @since, unless NULL: its times before it was there. */
static bool went_on(const struct dw_tracked_thread *th, const struct dw_task_times *since,
		    const struct dw_task_place *place)
{
	struct dw_task_place now;

	if (since && !has_run(th, since))
		return false;
	return dw_task_place_read(th->process->pid, th->tid, &now) || now.sp != place->sp ||
	       now.pc != place->pc || now.call != place->call;
}

/* The stack of @th and what it waits for. One that was there before and after its copy was made
 * counts, even if it ran in between: a program that does nothing but wait shortly is never seen
 * otherwise. */
static int read_stack(struct dw_waits_watch *w, struct dw_tracked_thread *th,
		      const struct dw_task_times *since, uint64_t now_ns,
		      struct dw_task_place *place, struct dw_wait_place *ret)
{
	struct dw_remote_stack *o = &w->remote;
	uint64_t copied_ns;
	int rc = dw_task_place_read(th->process->pid, th->tid, place);

	if (!rc)
		rc = dw_remote_stack_copy(o, th->process->pid, place);
	if (!rc)
		rc = dw_remote_stack_interpreter(o, &w->dispatcher->unwinder, th);
	if (rc)
		return rc;
	copied_ns = o->read_ns;
	ret->kind = dw_wait_kind_at(th->process->pid, place);
	if (went_on(th, since, place))
		return -EAGAIN;
	rc = dw_remote_stack_unwind(o, &w->dispatcher->unwinder, th, place, now_ns, &ret->stack);
	/* Of a deep stack more was read while it was unwound. */
	return !rc && o->read_ns != copied_ns && went_on(th, since, place) ? -EAGAIN : rc;
}

/* The thread of @th's process that @tid is, NULL = none, or @th itself. */
static struct dw_tracked_thread *thread_with_lock(struct dw_waits_watch *w,
						  const struct dw_tracked_thread *th, pid_t tid)
{
	const struct dw_track *t = &w->dispatcher->track;
	uint32_t i = tid ? dw_map_get(&t->by_tid, (uint32_t)tid) : 0;
	struct dw_tracked_thread *found = i ? t->threads.v[i - 1] : NULL;

	return found && found != th && !found->ended && found->process == th->process ? found
										      : NULL;
}

/* Who has the lock for which @th waits as @v says: while it waits itself, its stack can be read. 0
 * or -ENOMEM. */
static int find_holder(struct dw_waits_watch *w, const struct dw_tracked_thread *th,
		       struct dw_waiter *v)
{
	pid_t pid = th->process->pid, tid = dw_lock_holder(pid, &v->at);
	struct dw_tracked_thread *holder = thread_with_lock(w, th, tid);
	struct dw_wait_place place = {0};
	struct dw_task_place at;
	int rc = 0;

	v->place.holder = (struct dw_wait_holder){0};
	v->holder_tid = holder ? tid : 0;
	v->held_ns = dw_clock_ns(CLOCK_MONOTONIC);
	if (!holder)
		return 0;
	if (!w->knows_holders)
		rc = dw_profile_measures_add(w->dispatcher->track.profile,
					     DWELL_MEASURE_OTHERS_WAITED);
	w->knows_holders = true;
	v->place.holder.thread = holder->id;
	if (rc || holder->process->space.ranges.n == 0)
		return rc;
	if (w->holder.thread != holder->id || w->holder_ns != w->last_ns) {
		rc = read_stack(w, holder, NULL, v->held_ns, &at, &place);
		w->holder = (struct dw_wait_holder){holder->id, rc ? 0 : place.stack};
		w->holder_ns = w->last_ns;
	}
	if (dw_lock_holder(pid, &v->at) == tid)
		v->place.holder.stack = w->holder.stack;
	return rc == -ENOMEM ? rc : 0;
}

int dw_waits_see(struct dw_waits_watch *w, struct dw_tracked_thread *th, struct dw_waiter *v,
		 const struct dw_task_times *since)
{
	uint64_t from_ns = dw_clock_ns(CLOCK_MONOTONIC);
	struct dw_wait_place place = {0};
	struct dw_task_place at = {0};
	int rc;

	w->remote.read_ns = from_ns;
	rc = read_stack(w, th, since, from_ns, &at, &place);
	if (rc == -EPERM || rc == -EACCES) {
		w->remote.refused++;
		rc = 0;
	}
	if (rc)
		return rc == -ENOMEM || rc == -EAGAIN ? rc : DWELL_ERR_NOT_FOUND;
	v->place = place;
	v->at = at;
	v->holder_tid = 0;
	v->parts_n = 0;
	v->has_stack = true;
	v->seen_from_ns = from_ns;
	v->seen_to_ns = w->remote.read_ns;
	return place.kind == DWELL_WAIT_LOCK ? find_holder(w, th, v) : 0;
}

int dw_waits_tell(struct dw_waits_watch *w, struct dw_waiter *v, uint64_t begin_ns, uint64_t end_ns,
		  uint64_t ns)
{
	const struct dw_track *t = &w->dispatcher->track;
	struct dw_wait_row row = {.holder = v->place.holder};
	struct dw_extra *wait = &row.wait;

	if (end_ns <= begin_ns)
		return 0;
	*wait = (struct dw_extra){.begin_ns = dw_track_time(t, begin_ns),
				  .thread = v->id,
				  .stack = v->place.stack,
				  .measure = DWELL_MEASURE_BLOCKED,
				  .kind = v->place.kind};
	wait->span_ns = dw_track_time(t, end_ns) - wait->begin_ns;
	wait->n = ns < wait->span_ns ? ns : wait->span_ns;
	if (!v->place.stack)
		w->nameless_ns += wait->n;
	return dw_wait_aggregator_seen(&v->aggregator, t->profile, &row);
}

int dw_waits_tell_parts(struct dw_waits_watch *w, struct dw_waiter *v, uint64_t until_ns)
{
	const struct dw_wait_holder now = v->place.holder;
	unsigned n = 0;
	int rc = 0;

	for (; n < v->parts_n && v->parts[n].until_ns <= until_ns && !rc; n++) {
		uint64_t begin = v->told_ns, end = v->parts[n].until_ns;

		if (end <= begin)
			continue;
		v->place.holder = v->parts[n].holder;
		v->told_ns = end;
		rc = dw_waits_tell(w, v, begin, end, end - begin);
	}
	v->place.holder = now;
	v->parts_n -= n;
	memmove(v->parts, v->parts + n, v->parts_n * sizeof *v->parts);
	return rc;
}

/* When what @th waits for has passed to another thread, note who had it before: until the middle
 * between two looks, which are the rarer the more threads wait so. 0 or -ENOMEM. */
static int follow_holder(struct dw_waits_watch *w, const struct dw_tracked_thread *th,
			 struct dw_waiter *v, uint64_t now_ns)
{
	pid_t tid;

	if (now_ns < v->held_ns + w->followed_n * FOLLOW_NS || v->parts_n == DWELL_WAIT_PARTS)
		return 0;
	tid = dw_lock_holder(th->process->pid, &v->at);
	/* Without a holder it is on its way from one to the next. */
	if (!tid)
		return 0;
	if (tid == v->holder_tid) {
		v->held_ns = now_ns;
		return 0;
	}
	/* It may have had the lock itself since, and its wait be over. */
	if (has_run(th, &v->times))
		return 0;
	v->parts[v->parts_n++] =
		(struct dw_wait_part){v->held_ns + (now_ns - v->held_ns) / 2, v->place.holder};
	return find_holder(w, th, v);
}

int dw_waits_tell_piece(struct dw_waits_watch *w, const struct dw_tracked_thread *th,
			struct dw_waiter *v, uint64_t now_ns)
{
	uint64_t piece, begin;
	int rc = v->holder_tid ? follow_holder(w, th, v, now_ns) : 0;

	if (!rc && now_ns > v->off_ns + SURE_NS)
		rc = dw_waits_tell_parts(w, v, now_ns - SURE_NS);
	begin = v->told_ns;
	piece = begin - v->off_ns;
	piece = piece < PIECE_MIN_NS ? PIECE_MIN_NS : piece > PIECE_MAX_NS ? PIECE_MAX_NS : piece;
	now_ns -= HELD_BACK_NS;
	if (rc || now_ns < begin + piece)
		return rc;
	rc = dw_waits_tell_parts(w, v, now_ns);
	begin = v->told_ns;
	v->told_ns = now_ns;
	return rc ? rc : dw_waits_tell(w, v, begin, now_ns, now_ns - begin);
}

static int arm(struct dw_waits_watch *w, uint64_t now_ns)
{
	struct itimerspec when = {0};
	uint64_t pause = w->is_busy ? PAUSE_NS : w->pause_ns * 2;

	w->pause_ns = pause < PAUSE_NS ? PAUSE_NS : pause > PAUSE_MAX_NS ? PAUSE_MAX_NS : pause;
	if (w->is_thrifty && w->pause_ns < w->cost_ns * THRIFT)
		w->pause_ns = w->cost_ns < THRIFT_PAUSE_MAX_NS / THRIFT ? w->cost_ns * THRIFT
									: THRIFT_PAUSE_MAX_NS;
	w->is_busy = false;
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	w->next_ns = now_ns + w->pause_ns * 3 / 4 + (w->random >> 33) % (w->pause_ns / 2);
	when.it_value.tv_sec = (time_t)(w->next_ns / 1000000000);
	when.it_value.tv_nsec = (long)(w->next_ns % 1000000000);
	return timerfd_settime(w->timer_fd, TFD_TIMER_ABSTIME, &when, NULL) ? -errno : 0;
}

/* Note what was read of the frames of @language: of Python always, of others if there is something
 * to tell. */
static int note_frames(const struct dw_waits_watch *w, uint32_t language)
{
	const struct dw_interpreter_counts *c =
		&w->dispatcher->unwinder.interpreters.waits[language];
	struct dw_facts *f = &w->dispatcher->track.profile->facts;
	const uint64_t unread = dw_interpreter_unread(c);
	char key[40];
	int rc;

	if (language != DWELL_PYTHON && !c->samples && !unread)
		return 0;
	snprintf(key, sizeof key, "waits_%s_read", dw_language_name(language));
	rc = dw_facts_set(f, key, (int64_t)c->samples);
	snprintf(key, sizeof key, "waits_%s_unread", dw_language_name(language));
	return rc ? rc : dw_facts_set(f, key, (int64_t)unread);
}

/* Note in the profile how waits were recorded. */
static int note(const struct dw_waits_watch *w)
{
	struct dw_facts *f = &w->dispatcher->track.profile->facts;
	const struct {
		const char *key;
		uint64_t value;
	} rows[] = {
		{"waits_stacks_whole", w->remote.whole},
		{"waits_stacks_cut", w->remote.cut},
		{"waits_stacks_refused", w->remote.refused},
		{"waits_unseen_ns", w->nameless_ns},
	};
	int rc = dw_facts_set_text(f, "off_cpu", w->has_records ? "switches" : "times");

	for (size_t i = 0; i < sizeof rows / sizeof *rows && !rc; i++)
		rc = dw_facts_set(f, rows[i].key, (int64_t)rows[i].value);
	for (uint32_t i = DWELL_PYTHON; i < DWELL_LANGUAGES_END && !rc; i++)
		rc = note_frames(w, i);
	return rc;
}

int dw_waits_begin(struct dw_waits_watch *w, struct dw_dispatcher *in,
		   const struct dw_waits_options *options)
{
	uint64_t start_ns = options->start_ns;
	int rc;

	*w = (struct dw_waits_watch){.dispatcher = in,
				     .has_records = options->has_records,
				     .is_thrifty = options->is_thrifty,
				     .random = start_ns,
				     .is_busy = true,
				     .last_ns = start_ns,
				     .timer_fd = -1};
	w->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (w->timer_fd < 0)
		return -errno;
	for (size_t i = 0; options->is_attached && options->has_records && i < in->track.threads.n;
	     i++) {
		struct dw_waiter *v = dw_waits_waiter(w, i);

		if (!v)
			return -ENOMEM;
		v->is_assumed = true;
		v->off_ns = v->told_ns = start_ns;
		if (!dw_task_times_read(in->track.threads.v[i]->process->pid,
					in->track.threads.v[i]->tid, &v->times))
			v->ready_from_ns = v->times.ready_ns;
	}
	rc = arm(w, start_ns);
	if (!rc)
		rc = dw_profile_measures_add(in->track.profile, DWELL_MEASURE_BLOCKED);
	return rc ? rc : note(w);
}

/* One thread's turn. Whether its stack was read, or a negative code. */
static int look_at(struct dw_waits_watch *w, size_t i, bool may_read, uint64_t look_ns)
{
	struct dw_tracked_thread *th = w->dispatcher->track.threads.v[i];
	struct dw_waiter *v = dw_waits_waiter(w, i);
	uint64_t now_ns = w->last_ns;
	int rc = 0, did = 0;

	if (!v)
		return -ENOMEM;
	if (!v->id)
		return 0;
	if (th->ended) {
		const struct dw_thread *row =
			dw_threads_get(&w->dispatcher->track.profile->threads, v->id);

		now_ns = row->end_ns + w->dispatcher->track.start_ns;
		rc = w->has_records ? dw_waits_close_records(w, v, now_ns)
				    : dw_waits_close_times(w, v, now_ns);
		v->id = 0;
		return rc;
	}
	if (may_read && th->process->space.ranges.n)
		did = w->has_records ? dw_waits_look_records(w, th, v, look_ns)
				     : dw_waits_look_times(w, th, v, now_ns);
	if (did < 0)
		return did;
	return dw_wait_aggregator_flush(&v->aggregator, w->dispatcher->track.profile, v->id,
					dw_track_time(&w->dispatcher->track, now_ns), false)
		       ? -ENOMEM
		       : did;
}

static int look(struct dw_waits_watch *w, uint64_t now_ns)
{
	size_t n = w->dispatcher->track.threads.n;
	uint64_t look_ns = now_ns - w->last_ns;
	uint32_t reads = 0, followed = 0;

	w->last_ns = now_ns;
	for (size_t k = 0; k < n; k++) {
		size_t i = (w->first + k) % n;
		int did = look_at(w, i, reads < READS_MAX, look_ns);

		if (did < 0)
			return did;
		followed += w->waiters.v[i].off_ns && w->waiters.v[i].holder_tid;
		reads += (uint32_t)did;
		if (reads == READS_MAX && did)
			w->first = (uint32_t)((i + 1) % n);
	}
	w->followed_n = followed;
	return 0;
}

static int finish(struct dw_waits_watch *w, uint64_t now_ns)
{
	int rc = 0;

	for (size_t i = 0; i < w->waiters.n && !rc; i++) {
		struct dw_waiter *v = &w->waiters.v[i];

		if (v->id)
			rc = w->has_records ? dw_waits_close_records(w, v, now_ns)
					    : dw_waits_close_times(w, v, now_ns);
		v->id = 0;
	}
	return rc ? rc : note(w);
}

int dw_waits_look(struct dw_waits_watch *w, uint64_t now_ns, bool final)
{
	uint64_t expired, before_ns;
	int rc;

	if (now_ns < w->next_ns && !final)
		return 0;
	while (read(w->timer_fd, &expired, sizeof expired) < 0 && errno == EINTR)
		;
	before_ns = dw_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	rc = look(w, now_ns);
	w->cost_ns = dw_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
	if (rc)
		return rc;
	return final ? finish(w, now_ns) : arm(w, now_ns);
}

void dw_waits_poll_fd(const struct dw_waits_watch *w, struct pollfd *ret)
{
	*ret = (struct pollfd){.fd = w->timer_fd, .events = POLLIN};
}

void dw_waits_release(struct dw_waits_watch *w)
{
	if (w->dispatcher && w->timer_fd >= 0)
		close(w->timer_fd);
	dw_remote_stack_release(&w->remote);
	dw_vec_release(&w->waiters);
}
