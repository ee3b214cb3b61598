/*
 * The timers of this process's threads. The kernel keeps a timer whose thread has ended, and counts
 * it against the user's limit of signals: so each new one looks at some old ones.
 * [async-signal-safe] [any-thread]
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What the signals of our timers carry, to tell them from those that others send. */
#define DWELL_TIMER_VALUE ((void *)0x64776c6c)

/* Memory for timers. False: none. */
bool dw_timers_start(void);

/* Give the thread @tid of this process its timer. False: the kernel refused. */
bool dw_timer_arm(uint32_t tid);

/* Delete all timers, but remember whose they were. */
void dw_timers_stop(void);

/* The same of the timer of @tid, if it has one. */
void dw_timer_stop(uint32_t tid);

/* After those: make them again. */
void dw_timers_resume(void);

/* In a fork's child, which has no timers: forget them. */
void dw_timers_forget(void);
