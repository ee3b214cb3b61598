/*
 * What the operating system did in an interval between two events of a thread, by both rules.
 *
 * By the event rule the system's transitions are events: of an interval with a switch only the time
 * off the processor is the system's, and all of one between the two sides of a counted system call.
 * By the classic rule only probes are events, and what lies between two of them is the system's as
 * a whole when it did anything there.
 *
 * For the thread itself, in slow paths; these set thread->last afterwards.
 */
#pragma once

#include "agent/core/os-events.h"

/* What an interval between two events was. */
struct dw_interval {
	uint64_t elapsed;			   /* ticks; slow paths taken off */
	uint64_t os, os_probe, os_cpu, os_blocked; /* as in struct dw_tree_os */
	uint32_t switches, io_calls, blocking_calls;
	uint32_t overhead; /* in units */
	enum dw_os_kind os_kind;
};

/* Add the operating system's part of @interval to @os. */
static inline void dw_interval_add(struct dw_tree_os *os, const struct dw_interval *interval)
{
	os->ticks += interval->os;
	os->probe_ticks += interval->os_probe;
	os->cpu_ticks += interval->os_cpu;
	os->blocked_ticks += interval->os_blocked;
	os->switches += interval->switches;
	os->io_calls += interval->io_calls;
	os->blocking_calls += interval->blocking_calls;
}

/* What ends an interval. */
enum dw_os_event {
	DWELL_EVENT_PROBE,
	DWELL_EVENT_CALL, /* a side of a counted system call */
};

/*
 * Close the interval from t->last to @now, when the event @event came: what is to be charged to
 * t->current, in *@ret. Returns its end: @now, or later where the thread was switched meanwhile.
 * The state is DWELL_THREAD_RUNNING afterwards.
 */
uint64_t dw_os_close(struct dw_tree_thread *t, struct dw_os_state *s, uint64_t now,
		     enum dw_os_event event, struct dw_interval *ret);

/*
 * What of a slow path that is about to end *@now, and began at @begin, was not its own time because
 * the thread was switched: to be charged to t->current, and not to be called overhead. *@now is the
 * look's time then: what comes between that and the return is seen at the next event. False:
 * nothing.
 */
bool dw_os_close_slow(struct dw_tree_thread *t, struct dw_os_state *s, uint64_t begin,
		      uint64_t *now, struct dw_interval *ret);

/*
 * A system call of @kind begins, at the end of an interval; what ends the next one is slow.
 * DWELL_CALL_NOT_COUNTED goes on with one that a handler has interrupted and that was counted then.
 */
void dw_os_call_begin(struct dw_tree_thread *t, struct dw_os_state *s, enum dw_call_kind kind);
