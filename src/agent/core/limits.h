/*
 * Limits that the program sets itself: what the agent has reserved goes before it is in the way.
 */
#pragma once

#include <stdbool.h>

/* The program is about to set limit @what (RLIMIT_*) of process @pid, 0 = itself, to what is at
 * @to. [async-signal-safe] [any-thread] */
void dw_limits_change(int pid, int what, const void *to);

/* mlockall(@flags) has failed: whether more has been given back by now, so that it may succeed.
 * [async-signal-safe] [any-thread] */
bool dw_limits_unlock(int flags);
