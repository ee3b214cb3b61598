/*
 * The recorder's own priority: where hundreds of threads want every processor, an equal among them
 * comes too late to empty what the kernel and the agents fill. Elsewhere it stays: whoever is
 * interrupted by us in the middle of a request answers later (redis: its 99.9th percentile by 23
 * %).
 *
 * Of the calling thread alone. What it forks, and threads that it makes, have the usual priority
 * (SCHED_RESET_ON_FORK, sched(7)).
 */
#pragma once

#include <stdbool.h>

/* Whether more threads want the processors than can have their part soon: more than ten each. */
bool dw_priority_is_needed(void);

/* Raise it as far as we may (CAP_SYS_NICE, or RLIMIT_NICE); not where the user chose a priority or
 * policy. Whether it was raised. */
bool dw_priority_raise(void);

/* Back to the usual one, after it was raised. */
void dw_priority_restore(void);
