/*
 * Reading and relating the clocks; see clock.h. Between two readings of the TSC the other clock is
 * read; of several tries the shortest counts, as an interruption only makes one longer. The TSC is
 * taken to run at one rate on all processors, as it does where the kernel itself counts by it.
 */
#include "collect/calls/clock.h"

#include "base/clock.h"

#include <x86intrin.h>

enum { TRIES = 8 };

void dw_moment_read(struct dw_region_moment *ret)
{
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = __rdtsc(), ns = dw_clock_ns(CLOCK_MONOTONIC), after = __rdtsc();

		if (after - before >= shortest)
			continue;
		shortest = after - before;
		ret->ticks = before + shortest / 2;
		ret->ns = ns;
	}
}

void dw_region_clock_adjust(struct dw_region_clock *c, const struct dw_region_moment *now)
{
	if (now->ticks > c->start.ticks && now->ns > c->start.ns)
		c->ns_per_tick =
			(double)(now->ns - c->start.ns) / (double)(now->ticks - c->start.ticks);
}

uint64_t dw_region_clock_span(const struct dw_region_clock *c, double ticks)
{
	double ns = ticks * c->ns_per_tick + 0.5;

	return ns < 0 ? 0 : ns < (double)INT64_MAX ? (uint64_t)ns : INT64_MAX;
}

uint64_t dw_region_clock_ns(const struct dw_region_clock *c, uint64_t ticks)
{
	return ticks > c->start.ticks ? dw_region_clock_span(c, (double)(ticks - c->start.ticks))
				      : 0;
}

uint64_t dw_region_clock_ticks(const struct dw_region_clock *c, uint64_t ns)
{
	if (c->ns_per_tick <= 0 || ns <= c->start.ns)
		return 0;
	return c->start.ticks + (uint64_t)((double)(ns - c->start.ns) / c->ns_per_tick);
}
