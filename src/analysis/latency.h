/*
 * Latency: samples of time as time of the whole recording's, not of a thread's. Each is divided by
 * the number of threads that ran at that time, so that their sum is the time in which anything ran,
 * and what a function has of it is what the clock would show less without it.
 */
#pragma once

#include "model/profile.h"

#include <stdint.h>

/*
 * How much time each sample of @p stands for, ns by its number: malloc()ed. Threads run at the time
 * of a sample that have one themselves at most half a period before or behind it.
 * *@ret = NULL where samples are none of time, or there are none. 0 or -ENOMEM.
 */
int dw_latency_of_samples(const struct dw_profile *p, uint32_t **ret);
