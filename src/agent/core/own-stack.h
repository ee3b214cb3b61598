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
#pragma once

#include <stdbool.h>
#include <stdint.h>

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
