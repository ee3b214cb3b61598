/*
 * What the gates around system calls do: they end intervals, so that what lies between is the
 * operating system's time.
 *
 * Handlers that run inside a call are the program's: signals.c ends the call for them and goes on
 * with it afterwards, whether the kernel restarts it or not. One that leaves by longjmp() leaves
 * nothing behind. Calls that never return (exit_group, execve) do not count.
 */
#pragma once

#include "agent/core/thread.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether an event at @rsp is another task's that runs on @t's memory: a child that vfork(),
 * posix_spawn() or clone() has made, none of whose events count. */
bool dw_system_call_is_other(struct dw_thread *t, uint64_t rsp);

/* Another task may run on @t's memory: from now on every event goes slow, until it is known to be
 * @t's own. */
void dw_system_call_share(struct dw_thread *t);

/* Whether system call @number, before which the gate stands with the stack pointer @rsp, forbids to
 * read the TSC: it would end the program from then on. */
bool dw_system_call_blinds(uint64_t rsp, uint64_t number);

/*
 * The calling thread if system call @number, before which the gate stands with the stack pointer
 * @rsp, counts for it: its kind in *@ret_kind. NULL: it does not. No thread begins here.
 */
struct dw_thread *dw_system_call_thread(uint64_t rsp, uint64_t number, enum dw_call_kind *ret_kind);
