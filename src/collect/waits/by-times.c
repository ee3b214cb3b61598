/*
 * Waits by the times that /proc tells of each thread, where there are no records; see waits.h.
 *
 * What a thread did not run, it waited, but for the time in which it was preempted: that sums up
 * exactly, however short its waits are. Waiting for a processor after a wait is part of it, as it
 * is by records; after a preemption it is not. The kernel adds up both, and how often a thread was
 * preempted says how much is which. A thread that was given no processor since the last look is in
 * the same wait still. When it was, and waits again, the scheduler's own time tells since when, and
 * what is left is the wait's before; if there were others in between, it is divided evenly between
 * the stacks at both ends, which is right in the mean.
 */
#include "base/clock.h"
#include "base/error.h"
#include "collect/waits/watch.h"

#include <errno.h>
#include <unistd.h>

#define LOOK_MAX_NS 128000000ull /* between looks at a thread that rests */

#define CLOCK_NS 1000000000ull /* after this the clocks are compared again */

enum { REST_SHARE = 64 }; /* a wait is looked at again after this part of it */

/* What @v is owed at @now_ns goes to its stack, which was seen at @from_ns or before. */
static int settle(struct dw_waits_watch *w, struct dw_waiter *v, uint64_t from_ns, uint64_t now_ns,
		  uint64_t ns)
{
	uint64_t begin = now_ns - ns < from_ns ? now_ns - ns : from_ns;

	return ns ? dw_waits_tell(w, v, begin, now_ns, ns) : 0;
}

/* Compare the clocks: who was just woken ran last when it was. */
static void compare_clocks(struct dw_waits_watch *w, uint64_t now_ns)
{
	uint64_t ran_ns;

	if (w->clock_ns && now_ns < w->clock_ns + CLOCK_NS)
		return;
	w->clock_ns = now_ns;
	w->clock_offset_ns = INT64_MIN;
	if (!dw_task_last_ran_read(getpid(), gettid(), &ran_ns))
		w->clock_offset_ns = (int64_t)(w->last_ns - ran_ns);
}

/* How long @th, which waits at @now_ns, has done so; half of what is possible if nobody knows.
 * @most: not longer. */
static uint64_t waits_since(const struct dw_waits_watch *w, const struct dw_tracked_thread *th,
			    uint64_t now_ns, uint64_t most)
{
	uint64_t ran_ns, ns;

	if (w->clock_offset_ns == INT64_MIN ||
	    dw_task_last_ran_read(th->process->pid, th->tid, &ran_ns))
		return most / 2;
	ran_ns += (uint64_t)w->clock_offset_ns;
	ns = now_ns > ran_ns ? now_ns - ran_ns : 0;
	return ns < most ? ns : most;
}

/* The wait that @v was in at the last look is told up to there. */
static int tell_known(struct dw_waits_watch *w, struct dw_waiter *v)
{
	int rc = 0;

	if (v->off_ns && v->looked_ns > v->told_ns)
		rc = dw_waits_tell(w, v, v->told_ns, v->looked_ns, v->looked_ns - v->told_ns);
	v->off_ns = 0;
	return rc;
}

/* How much of the time that @th was ready, but did not run, since the last look of @v, it was
 * preempted. */
static uint64_t preempted_ns(const struct dw_tracked_thread *th, struct dw_waiter *v,
			     const struct dw_task_times *times)
{
	uint64_t ready = times->ready_ns - v->times.ready_ns, runs = times->runs - v->times.runs;
	uint64_t before = v->preempted, times_n;

	if (!ready || dw_task_preempted_read(th->process->pid, th->tid, &v->preempted))
		return 0;
	times_n = v->preempted - before;
	return times_n >= runs ? ready : (uint64_t)((unsigned __int128)ready * times_n / runs);
}

/* When the thread of @v began, or the recording of it. */
static uint64_t born_ns(const struct dw_waits_watch *w, const struct dw_waiter *v)
{
	const struct dw_track *t = &w->intake->track;

	return t->start_ns + dw_threads_get(&t->profile->threads, v->id)->begin_ns;
}

/* @v ran since the last look, or was never looked at. */
static int take_change(struct dw_waits_watch *w, struct dw_tracked_thread *th, struct dw_waiter *v,
		       const struct dw_task_times *times, uint64_t now_ns)
{
	uint64_t looked_ns = v->looked_ns, runs = times->runs - v->times.runs, ns, older;
	uint32_t before = v->stack, now;
	bool had = v->has_stack, is_first = !v->looked_ns;
	int rc = tell_known(w, v);

	if (is_first) {
		v->times = *times;
		looked_ns = born_ns(w, v);
		dw_task_preempted_read(th->process->pid, th->tid, &v->preempted);
	}
	if (!is_first)
		v->owed_ns += (int64_t)(now_ns - looked_ns) -
			      (int64_t)(times->ran_ns - v->times.ran_ns) -
			      (int64_t)preempted_ns(th, v, times);
	v->times = *times;
	v->looked_ns = now_ns;
	if (rc)
		return rc;
	rc = dw_waits_see(w, th, v, times);
	if (rc) {
		v->maybe_ready_ns =
			v->owed_ns > 0 ? waits_since(w, th, now_ns, (uint64_t)v->owed_ns) : 0;
		return rc == -ENOMEM ? rc : 0;
	}
	if (is_first && now_ns > looked_ns)
		v->owed_ns = (int64_t)waits_since(w, th, now_ns, now_ns - looked_ns);
	ns = v->owed_ns > 0 ? (uint64_t)v->owed_ns : 0;
	v->owed_ns -= (int64_t)ns;
	v->off_ns = v->told_ns = now_ns;
	if (had && before != v->stack) {
		older = ns - waits_since(w, th, now_ns, ns);
		if (runs > 1)
			older /= 2;
		now = v->stack;
		v->stack = before;
		rc = settle(w, v, looked_ns, now_ns, older);
		v->stack = now;
		ns -= older;
	}
	return rc ? rc : settle(w, v, looked_ns, now_ns, ns);
}

int dw_waits_look_times(struct dw_waits_watch *w, struct dw_tracked_thread *th, struct dw_waiter *v,
			uint64_t now_ns)
{
	struct dw_task_times times;
	uint64_t rest_ns;
	int rc = 0;

	if (now_ns < v->due_ns || dw_task_times_read(th->process->pid, th->tid, &times))
		return 0;
	now_ns = dw_clock_ns(CLOCK_MONOTONIC);
	if (v->off_ns && times.runs == v->times.runs) {
		v->looked_ns = now_ns;
		rest_ns = (now_ns - v->off_ns) / REST_SHARE;
		v->due_ns = now_ns + (rest_ns < LOOK_MAX_NS ? rest_ns : LOOK_MAX_NS);
		return dw_waits_tell_piece(w, v, now_ns);
	}
	w->is_busy = true;
	compare_clocks(w, now_ns);
	rc = take_change(w, th, v, &times, now_ns);
	return rc ? rc : 1;
}

int dw_waits_close_times(struct dw_waits_watch *w, struct dw_waiter *v, uint64_t now_ns)
{
	int rc = 0;

	/* What is owed to a thread that ran last goes to the stack seen last, but for the time
	 * since then: it may as well have been ready. */
	if (v->off_ns)
		v->looked_ns = now_ns > v->looked_ns ? now_ns : v->looked_ns;
	else if (v->has_stack && v->owed_ns > (int64_t)v->maybe_ready_ns)
		rc = settle(w, v, v->looked_ns, v->looked_ns,
			    (uint64_t)v->owed_ns - v->maybe_ready_ns);
	v->owed_ns = 0;
	rc = rc ? rc : tell_known(w, v);
	return rc ? rc
		  : dw_book_flush(&v->book, w->intake->track.profile, v->id,
				  dw_track_time(&w->intake->track, now_ns), true);
}
