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

#include "agent/core/os-sources.h"
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
	/* os-interval.c: of the time since the last probe, which only the classic rule keeps whole,
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
