/*
 * When threads wait, in two ways; see waits.h.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/map.h"
#include "collect/waits/waits.h"

#include <errno.h>
#include <unistd.h>

/*
 * A record tells when a thread left its processor and whether it was taken from it: what was
 * preempted is ready. So is what was woken and has no processor yet, which only the sum of all that
 * time tells, at looks (schedstat). Records come a little later than they are made, so a stack
 * belongs to the wait in whose time it was read, which only shows when that is told to the end.
 */

static bool is_seen(const struct dw_waiter *v)
{
	return v->has_stack && v->seen_from_ns >= v->off_ns;
}

static int end_wait(struct dw_waits_watch *w, struct dw_waiter *v, uint64_t time_ns)
{
	const struct dw_track *t = &w->dispatcher->track;
	bool seen = is_seen(v) && v->seen_to_ns <= time_ns;
	uint64_t off_ns = v->off_ns;

	v->off_ns = 0;
	if (v->has_stack && v->seen_to_ns <= time_ns) {
		/* Read while one wait ended and the next one like it began. */
		if (!seen)
			dw_wait_aggregator_note(&v->aggregator, v->place, 0, v->look_ns);
		v->has_stack = false;
	}
	if (!seen) {
		dw_wait_aggregator_unseen(&v->aggregator, dw_track_time(t, off_ns),
					  dw_track_time(t, time_ns));
		return 0;
	}
	dw_wait_aggregator_note(&v->aggregator, v->place, time_ns - off_ns, v->look_ns);
	if (dw_waits_tell_parts(w, v, time_ns))
		return -ENOMEM;
	v->parts_n = 0;
	return time_ns > v->told_ns ? dw_waits_tell(w, v, v->told_ns, time_ns, time_ns - v->told_ns)
				    : 0;
}

/* When the thread of @v began, or the recording of it. */
static uint64_t born_ns(const struct dw_waits_watch *w, const struct dw_waiter *v)
{
	const struct dw_track *t = &w->dispatcher->track;

	return t->start_ns + dw_threads_get(&t->profile->threads, v->id)->begin_ns;
}

/* Tell how long @v was ready, as @times say at @now_ns. */
static int tell_ready(struct dw_waits_watch *w, struct dw_waiter *v,
		      const struct dw_task_times *times, uint64_t now_ns, uint64_t woken_ns)
{
	const struct dw_track *t = &w->dispatcher->track;
	uint64_t begin_ns = v->looked_ns ? v->looked_ns : born_ns(w, v);
	uint64_t ready_ns = times->ready_ns - v->times.ready_ns;

	v->times = *times;
	v->looked_ns = now_ns;
	return dw_wait_aggregator_ready(&v->aggregator, t->profile, v->id,
					dw_track_time(t, begin_ns), dw_track_time(t, now_ns),
					ready_ns, woken_ns);
}

/* The same with records. Those of the last preemptions are not taken in yet: they count as ends of
 * waits until then, once. */
static int tell_ready_by_records(struct dw_waits_watch *w, struct dw_waiter *v,
				 const struct dw_task_times *times)
{
	uint64_t woken_ns = times->ready_ns - v->ready_from_ns, more_ns;

	woken_ns -= v->preempted_ns < woken_ns ? v->preempted_ns : woken_ns;
	more_ns = woken_ns > v->woken_ns ? woken_ns - v->woken_ns : 0;
	v->woken_ns += more_ns;
	v->preempted_told_ns = v->preempted_ns;
	return tell_ready(w, v, times, w->last_ns, more_ns);
}

int dw_waits_switch(struct dw_waits_watch *w, const struct dw_perf_record *r)
{
	uint32_t i = dw_map_get(&w->dispatcher->track.by_tid, (uint32_t)r->tid);
	struct dw_waiter *v;

	if (!i || w->dispatcher->track.threads.v[i - 1]->ended)
		return 0;
	v = dw_waits_waiter(w, i - 1);
	if (!v)
		return -ENOMEM;
	v->is_active = w->is_busy = true;
	if (v->preempted_at_ns && r->time_ns > v->preempted_at_ns)
		v->preempted_ns += r->time_ns - v->preempted_at_ns;
	v->preempted_at_ns = r->to == DWELL_SWITCH_PREEMPTED ? r->time_ns : 0;
	if (r->to == DWELL_SWITCH_ON)
		return v->off_ns ? end_wait(w, v, r->time_ns) : 0;
	if (r->to == DWELL_SWITCH_PREEMPTED)
		v->off_ns = 0;
	else if (!v->off_ns || v->is_assumed)
		v->off_ns = v->told_ns = r->time_ns;
	v->is_assumed = false;
	return 0;
}

int dw_waits_look_records(struct dw_waits_watch *w, struct dw_tracked_thread *th,
			  struct dw_waiter *v, uint64_t look_ns)
{
	bool is_active = v->is_active, has_times;
	struct dw_task_times times;
	int rc;

	if (v->off_ns && is_seen(v))
		return dw_waits_tell_piece(w, th, v, w->last_ns);
	if (!v->off_ns && !is_active)
		return 0;
	v->is_active = false;
	has_times = !dw_task_times_read(th->process->pid, th->tid, &times);
	if (has_times && tell_ready_by_records(w, v, &times))
		return -ENOMEM;
	rc = dw_waits_see(w, th, v, has_times ? &times : NULL);
	if (rc == DWELL_ERR_NOT_FOUND && v->is_assumed)
		v->off_ns = 0;
	v->is_assumed &= !rc;
	v->look_ns = look_ns;
	return rc == -ENOMEM ? rc : 1;
}

int dw_waits_close_records(struct dw_waits_watch *w, struct dw_waiter *v, uint64_t now_ns)
{
	struct dw_task_times times = v->times;
	int rc = 0;

	/* Of a thread that has ended only preemptions are known that came after the last look. */
	if (v->preempted_ns > v->preempted_told_ns) {
		times.ready_ns += v->preempted_ns - v->preempted_told_ns;
		rc = tell_ready(w, v, &times, now_ns, 0);
		v->preempted_told_ns = v->preempted_ns;
	}

	if (!rc && v->off_ns && (is_seen(v) || (!v->is_assumed && now_ns > v->off_ns)))
		rc = end_wait(w, v, now_ns);
	v->off_ns = 0;
	if (!rc)
		rc = dw_wait_aggregator_flush(&v->aggregator, w->dispatcher->track.profile, v->id,
					      dw_track_time(&w->dispatcher->track, now_ns), true);
	w->nameless_ns += v->aggregator.nameless_ns;
	v->aggregator.nameless_ns = 0;
	return rc;
}

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
	int rc = v->off_ns ? dw_waits_tell_parts(w, v, v->looked_ns) : 0;

	v->parts_n = 0;
	if (!rc && v->off_ns && v->looked_ns > v->told_ns)
		rc = dw_waits_tell(w, v, v->told_ns, v->looked_ns, v->looked_ns - v->told_ns);
	v->off_ns = 0;
	return rc;
}

/* @v ran since the last look, or was never looked at. */
static int take_change(struct dw_waits_watch *w, struct dw_tracked_thread *th, struct dw_waiter *v,
		       const struct dw_task_times *times, uint64_t now_ns)
{
	uint64_t looked_ns = v->looked_ns, runs = times->runs - v->times.runs, ns, older;
	struct dw_wait_place before = v->place, now;
	bool had = v->has_stack, is_first = !v->looked_ns;
	int rc = tell_known(w, v);

	if (is_first) {
		v->times = *times;
		looked_ns = born_ns(w, v);
	} else {
		v->owed_ns += (int64_t)(now_ns - looked_ns) -
			      (int64_t)(times->ran_ns - v->times.ran_ns) -
			      (int64_t)(times->ready_ns - v->times.ready_ns);
	}
	rc = rc ? rc : tell_ready(w, v, times, now_ns, 0);
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
	if (had && before.stack != v->place.stack) {
		older = ns - waits_since(w, th, now_ns, ns);
		if (runs > 1)
			older /= 2;
		now = v->place;
		v->place = before;
		rc = settle(w, v, looked_ns, now_ns, older);
		v->place = now;
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

	if (now_ns < v->due_ns)
		return 0;
	now_ns = dw_clock_ns(CLOCK_MONOTONIC);
	/* It has ended, which is told later. */
	if (dw_task_times_read(th->process->pid, th->tid, &times))
		return v->off_ns ? dw_waits_close_times(w, v, (v->looked_ns + now_ns) / 2) : 0;
	if (v->off_ns && times.runs == v->times.runs) {
		v->looked_ns = now_ns;
		rest_ns = (now_ns - v->off_ns) / REST_SHARE;
		v->due_ns = now_ns + (rest_ns < LOOK_MAX_NS ? rest_ns : LOOK_MAX_NS);
		return dw_waits_tell_piece(w, th, v, now_ns);
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
		  : dw_wait_aggregator_flush(&v->aggregator, w->dispatcher->track.profile, v->id,
					     dw_track_time(&w->dispatcher->track, now_ns), true);
}
