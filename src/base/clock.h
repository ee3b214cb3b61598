/*
 * The time of a clock as one number of nanoseconds.
 */
#pragma once

#include <stdint.h>
#include <time.h>

/* What @clock, which the system must have, shows now. */
static inline uint64_t dw_clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
