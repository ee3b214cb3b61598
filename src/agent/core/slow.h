/*
 * Slow paths, as signal handlers see them: never interrupted by a handler of the program.
 *
 * A handler that came in the middle would find the thread's tables half changed, and might leave by
 * longjmp(). So our wrapper of handlers (clones/signals.c) asks dw_slow_defer(): the signal is sent
 * again to the same thread, blocked until dw_slow_end() lets it come. Where that cannot be (faults,
 * system-call filters, SA_RESETHAND) the handler runs at once, and its probes are dropped and
 * counted (DWELL_DROP_EVENTS): dw_slow_begin() is false there. [any-thread]
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* A slow path of the calling thread. For the next two; slow.c. */
struct dw_slow {
	uint64_t sp;  /* 0 = none runs */
	uint64_t off; /* signals that were put off, by bits */
	bool is_own;  /* the agent runs code of other modules: its probes are nobody's events */
};

extern __thread struct dw_slow dw_slow
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/*
 * Enter: first thing in each slow path of the trampolines, with its stack pointer. False: a handler
 * runs in the middle of one, nothing may be touched (the drop is counted). A slow path that a
 * handler has left by longjmp() is known by its stack pointer @sp and over.
 */
bool dw_slow_begin(uint64_t sp);

/*
 * Code of other modules is about to run for the agent's own ends, and may run from clones: until
 * dw_slow_end_own() its probes pass, and are no events. @frame is the caller's frame address. False
 * inside a slow path, where they pass anyway.
 */
bool dw_slow_begin_own(uint64_t frame);

/* After that code; @has_begun is what dw_slow_begin_own() gave. Handlers that were put off run
 * here. */
void dw_slow_end_own(bool has_begun);

/* The stack pointer of the calling thread's slow path, 0 = it is in none. */
uint64_t dw_slow_sp(void);

/* Whether a slow path of this thread goes on whose events count: what comes now is a handler's that
 * has interrupted it. [async-signal-safe] */
bool dw_slow_goes_on(void);

/* Leave, after true. Handlers that were put off run here. */
void dw_slow_end(void);

/* The same, but for the handlers: the signals that were put off, by bits, are the caller's to
 * unblock. */
uint64_t dw_slow_leave(void);

/* As dw_slow_begin(), for what runs at nearly each event. */
static inline bool dw_slow_begin_quick(uint64_t sp)
{
	if (dw_slow.sp)
		return dw_slow_begin(sp);
	dw_slow.is_own = false;
	dw_slow.sp = sp;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return true;
}

/* As dw_slow_end(), likewise. */
static inline void dw_slow_end_quick(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	dw_slow.sp = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (dw_slow.off)
		dw_slow_end();
}

/* Put @number off, whose context is @context, if a slow path is interrupted and it can be: then the
 * handler must not run. [async-signal-safe] */
bool dw_slow_defer(int number, const siginfo_t *info, ucontext_t *context);

/*
 * Stacks of the agent's own, one for each thread, for all that takes more than a little room: the
 * program's may be nearly full (small threads, coroutines, alternate signal stacks).
 *
 * While a thread stands on its own one the program's handlers are put off (slow.h), so none finds
 * itself there; only where that cannot be, a handler runs on it. On an alternate signal stack
 * the kernel would take a signal for the first one and begin at its top again: there all signals
 * are blocked meanwhile. A thread has no such stack before its struct dw_thread is made, where
 * there is no memory, while it is in use (a handler; a task that shares the thread's memory), and
 * under system-call filters: then the program's stack serves. Unwinders find their way through.
 */

/* A new one: its lowest address, 0 = no memory. Its owner is a struct dw_thread. */
uint64_t dw_own_stack_make(void);

/* Let @stack, 0 = none, be the calling thread's from now on. It may be called on that one, which
 * nothing changes for, but not on another. */
void dw_own_stack_set(uint64_t stack);

/* Call @work(@arg) on the thread's own stack, where it can be, inside a slow path. */
void dw_own_stack_call(void (*work)(void *arg), void *arg);

/* Whether @sp lies in the thread's own stack. [async-signal-safe] */
bool dw_own_stack_holds(uint64_t sp);

/* The program may have changed its alternate signal stack. [async-signal-safe] */
void dw_own_stack_look_again(void);
