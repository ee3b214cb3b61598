/*
 * Waits by the kernel's records of switches; see waits.h.
 *
 * A record tells when a thread left its processor and whether it was taken from it: what was
 * preempted does not wait. Records come a little later than they are made, so a stack belongs to
 * the wait in whose time it was read, which only shows when that is told to the end.
 */
#include "base/error.h"
#include "base/map.h"
#include "collect/waits/watch.h"

#include <errno.h>

static bool is_seen(const struct dw_waiter *v)
{
	return v->has_stack && v->seen_from_ns >= v->off_ns;
}

/* The wait of @v ends at @time_ns. */
static int end_wait(struct dw_waits_watch *w, struct dw_waiter *v, uint64_t time_ns)
{
	const struct dw_track *t = &w->intake->track;
	bool seen = is_seen(v) && v->seen_to_ns <= time_ns;
	uint64_t off_ns = v->off_ns;

	v->off_ns = 0;
	if (v->has_stack && v->seen_to_ns <= time_ns) {
		/* Read while one wait ended and the next one like it began. */
		if (!seen)
			dw_book_note(&v->book, v->stack, 0, v->look_ns);
		v->has_stack = false;
	}
	if (!seen) {
		dw_book_unseen(&v->book, dw_track_time(t, off_ns), dw_track_time(t, time_ns));
		return 0;
	}
	dw_book_note(&v->book, v->stack, time_ns - off_ns, v->look_ns);
	return time_ns > v->told_ns ? dw_waits_tell(w, v, v->told_ns, time_ns, time_ns - v->told_ns)
				    : 0;
}

int dw_waits_switch(struct dw_waits_watch *w, const struct dw_perf_record *r)
{
	uint32_t i = dw_map_get(&w->intake->track.by_tid, (uint32_t)r->tid);
	struct dw_waiter *v;

	if (!i || w->intake->track.threads.v[i - 1]->ended)
		return 0;
	v = dw_waits_waiter(w, i - 1);
	if (!v)
		return -ENOMEM;
	v->is_active = w->is_busy = true;
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
		return dw_waits_tell_piece(w, v, w->last_ns);
	if (!v->off_ns && !is_active)
		return 0;
	v->is_active = false;
	has_times = !dw_task_times_read(th->process->pid, th->tid, &times);
	rc = dw_waits_see(w, th, v, has_times ? &times : NULL);
	if (rc == DWELL_ERR_NOT_FOUND && v->is_assumed)
		v->off_ns = 0;
	v->is_assumed &= !rc;
	v->look_ns = look_ns;
	return rc == -ENOMEM ? rc : 1;
}

int dw_waits_close_records(struct dw_waits_watch *w, struct dw_waiter *v, uint64_t now_ns)
{
	int rc = 0;

	if (v->off_ns && (is_seen(v) || (!v->is_assumed && now_ns > v->off_ns)))
		rc = end_wait(w, v, now_ns);
	v->off_ns = 0;
	if (!rc)
		rc = dw_book_flush(&v->book, w->intake->track.profile, v->id,
				   dw_track_time(&w->intake->track, now_ns), true);
	w->nameless_ns += v->book.nameless_ns;
	v->book.nameless_ns = 0;
	return rc;
}
