/*
 * The TSC in nanoseconds: two moments on both clocks, the more apart the better.
 *
 * One thread per object.
 */
#pragma once

#include "wire/region.h"

#include <stdint.h>

struct dw_region_clock {
	struct dw_region_moment start; /* what the recording's times count from */
	double ns_per_tick;	       /* 0 = only one moment is known */
};

/* This moment on both clocks, exact to some 100 ns. */
void dw_moment_read(struct dw_region_moment *ret);

/* Learn the rate from @now, some time after c->start. A moment that is not later is ignored. */
void dw_region_clock_adjust(struct dw_region_clock *c, const struct dw_region_moment *now);

/* The time of @ticks since c->start, 0 for those before. */
uint64_t dw_region_clock_ns(const struct dw_region_clock *c, uint64_t ticks);

/* The ticks at @ns of CLOCK_MONOTONIC, 0 = not known. */
uint64_t dw_region_clock_ticks(const struct dw_region_clock *c, uint64_t ns);

/* How long @ticks take, 0 for less than none, no more than fits 63 bits. */
uint64_t dw_region_clock_span(const struct dw_region_clock *c, double ticks);
