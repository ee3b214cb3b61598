/*
 * What the operating system does to a thread: switches, and system calls that count.
 *
 * Sources for switches, the first that proves itself at the start of the process: the page of a
 * perf event (PERF_COUNT_SW_DUMMY: its lock word changes at each switch; no privilege at
 * perf_event_paranoid 2), the thread's own restartable sequence left at a descriptor that does
 * nothing (the kernel clears it; registrations of 32 bytes only, and never while the program uses
 * it; a program that looks at its own sequence sees it set), none. Both are one word that a probe
 * compares: dw_tree_thread.os_word with os_seen. Facts: perf_event_open(2), and the kernel's
 * headers linux/perf_event.h and linux/rseq.h.
 *
 * All functions are for the thread that they are about, from the slow path. They make system calls
 * and need dw_agent_may_call(). [async-signal-safe]
 */
#pragma once

#include "agent/calls/os-sources.h"
#include "wire/call-tree.h"
#include "wire/system-calls.h"

#include <stdbool.h>
#include <stdint.h>

/* What is kept of a thread between two looks; zero-initialised. */
struct dw_os_state {
	struct dw_os_clocks clocks; /* at the last look that found a switch */
	void *page;		    /* of the perf event, NULL = none */
	uint64_t *rseq;		    /* pointer of the restartable sequence, NULL = not used */
	uint32_t word;		    /* what *os_word was when the source was armed */
	uint32_t waits; /* how often it had left the processor of itself, when asked last */
	/* Of the time since the last probe, which only the classic rule keeps whole,
	 * what other events have ended already, and whether the system did anything in it. */
	uint64_t probe_ticks;
	bool has_event;
	bool is_shared;	       /* another task may be running on this thread's memory */
	uint16_t foreign_left; /* events around @foreign_sp that are known to be such a one's */
	uint64_t foreign_sp;
	uint8_t call; /* enum dw_call_kind of the system call that has begun and was not counted */
};

/* What a look found: of the time since the last event. */
struct dw_os_look {
	uint64_t now;	   /* TSC, taken after the source was armed again */
	uint64_t blocked;  /* ticks since the look before that the thread was off the processor */
	uint64_t on_cpu;   /* ticks since then that it was on it */
	uint32_t switches; /* at least; 0 = it was not switched */
};

/* What this process can have; zero-initialised = nothing. */
struct dw_os_choice {
	bool has_perf, has_rseq; /* have proven themselves */
	bool is_foreign;	 /* the program has restartable sequences of its own */
	ptrdiff_t rseq_offset;	 /* from the thread pointer */
};

extern struct dw_os_choice dw_os_choice;

/*
 * Choose the sources of this process: once, before main, with one thread. @forced names the only
 * one that is tried ("perf", "rseq" or "none", something may follow); NULL = all are. @proven names
 * those that the process before this one has proven (wire/region.h), which are believed; NULL =
 * none.
 */
void dw_os_start(const char *forced, const char *proven);

/* Give @t its source: os_word, os_seen, os_source. Where nothing can be had, a word that never
 * changes. */
void dw_os_thread_start(struct dw_tree_thread *t, struct dw_os_state *s);

/* Give back what the ended thread of @t had. From any thread. */
void dw_os_thread_end(struct dw_tree_thread *t, struct dw_os_state *s);

/*
 * Look whether the thread was switched since the last look, and arm the source again: first that,
 * then the clocks, so that nothing is lost in between. Bounded tries.
 */
void dw_os_look(struct dw_tree_thread *t, struct dw_os_state *s, struct dw_os_look *ret);

/* What kind of system call @number is, whose second argument is @argument: not counted, I/O or
 * blocking. */
enum dw_call_kind dw_os_call_kind(uint64_t number, uint64_t argument);

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

/* What an interval between two events was. */
struct dw_interval {
	uint64_t elapsed;				     /* ticks; slow paths taken off */
	uint64_t os, os_probe, os_cpu, os_blocked, os_ready; /* as in struct dw_tree_os */
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
	os->ready_ticks += interval->os_ready;
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

/*
 * What the probes around system calls do: they end intervals, so that what lies between is the
 * operating system's time.
 *
 * Handlers that run inside a call are the program's: whoever calls them ends the call for them and
 * goes on with it afterwards, whether the kernel restarts it or not. One that leaves by longjmp()
 * leaves nothing behind. Calls that never return (exit_group, execve) do not count.
 */
struct dw_thread;

/* Whether an event at @sp is another task's that runs on @t's memory: a child that vfork(),
 * posix_spawn() or clone() has made, none of whose events count. */
bool dw_system_call_is_other(struct dw_thread *t, uint64_t sp);

/* Another task may run on @t's memory: from now on every event goes slow, until it is known to be
 * @t's own. */
void dw_system_call_share(struct dw_thread *t);

/* Whether system call @number with these arguments forbids to read the TSC: it would end the
 * program from then on. */
bool dw_system_call_blinds(uint64_t number, uint64_t first, uint64_t second);

/*
 * The calling thread if system call @number with this @second argument, before which the probe
 * stands with the stack pointer @sp, counts for it: its kind in *@ret_kind. NULL: it does not. No
 * thread begins here.
 */
struct dw_thread *dw_system_call_thread(uint64_t sp, uint64_t number, uint64_t second,
					enum dw_call_kind *ret_kind);
