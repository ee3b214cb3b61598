/*
 * Limits that the program sets itself: what the agent has reserved goes before it is in the way.
 */
#pragma once

#include <stdbool.h>

/* The program has set its limit @what (RLIMIT_*). [async-signal-safe] [any-thread] */
void dw_limits_changed(int what);

/* mlockall(@flags) has failed: whether more has been given back by now, so that it may succeed.
 * [async-signal-safe] [any-thread] */
bool dw_limits_unlock(int flags);
