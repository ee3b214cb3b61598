/* Increments and values; see call-values.h. */
#include "collect/calls/call-values.h"

#define TICKS_MAX (1ull << 56) /* of one increment: years */

static uint64_t bounded(uint64_t n)
{
	return n < TICKS_MAX ? n : TICKS_MAX;
}

/* How much a counter has grown. */
static uint64_t increase(uint64_t now, uint64_t old)
{
	return now > old ? bounded(now - old) : 0;
}

/* Likewise, where it may fall. */
static int64_t change(uint64_t now, uint64_t old)
{
	return now >= old ? (int64_t)increase(now, old) : -(int64_t)increase(old, now);
}

/* Likewise, below 0 too: of the shortest calls more may be taken off than they took. */
static int64_t difference(uint64_t now, uint64_t old)
{
	return (int64_t)(now - old) < 0 ? -(int64_t)bounded(old - now)
					: (int64_t)bounded(now - old);
}

/* Ticks by which overhead has grown, which begins anew at 0 when it has no room. */
static uint64_t overhead_increment(uint32_t now, uint32_t old, uint32_t most)
{
	return (uint64_t)((now - old) & most) * DWELL_OVERHEAD_TICKS;
}

double dw_probe_ticks(int32_t cost)
{
	return (double)cost / DWELL_TICK_PARTS;
}

struct dw_call_increment dw_call_increment(const struct dw_tree_node *now,
					   const struct dw_tree_node *old,
					   const struct dw_tree_os *os,
					   const struct dw_tree_os *os_old)
{
	int64_t elapsed = change(now->elapsed, old->elapsed);

	return (struct dw_call_increment){
		.elapsed = elapsed,
		.application = elapsed - change(os->ticks, os_old->ticks),
		.delimited = elapsed - change(os->probe_ticks, os_old->probe_ticks),
		.slow = overhead_increment(now->overhead, old->overhead, UINT32_MAX >> 1),
		.blocked = increase(os->blocked_ticks, os_old->blocked_ticks),
		.ready = increase(os->ready_ticks, os_old->ready_ticks),
		.os_cpu = increase(os->cpu_ticks, os_old->cpu_ticks),
		.calls = increase(now->calls, old->calls),
		.switches = dw_call_count_increase(os->switches, os_old->switches),
		.io_calls = dw_call_count_increase(os->io_calls, os_old->io_calls),
		.blocking_calls =
			dw_call_count_increase(os->blocking_calls, os_old->blocking_calls),
	};
}

struct dw_call_increment dw_call_increment_inclusive(const uint64_t now[2], const uint64_t old[2],
						     const struct dw_tree_os *os,
						     const struct dw_tree_os *os_old)
{
	int64_t elapsed = difference(now[0], old[0]) + difference(now[1], old[1]);

	return (struct dw_call_increment){
		.elapsed = elapsed,
		.application = elapsed - change(os->ticks, os_old->ticks),
		.delimited = elapsed - change(os->probe_ticks, os_old->probe_ticks),
		.blocked = increase(os->blocked_ticks, os_old->blocked_ticks),
		.ready = increase(os->ready_ticks, os_old->ready_ticks),
		.os_cpu = increase(os->cpu_ticks, os_old->cpu_ticks),
		.switches = dw_call_count_increase(os->switches, os_old->switches),
		.io_calls = dw_call_count_increase(os->io_calls, os_old->io_calls),
		.blocking_calls =
			dw_call_count_increase(os->blocking_calls, os_old->blocking_calls),
	};
}

double dw_call_taken(const struct dw_call_increment *r, double cost)
{
	double elapsed = (double)r->elapsed, application = (double)r->application;
	/* Elapsed time is charged ahead further than the program's part of it is known. */
	double most = application < elapsed ? application : elapsed;
	double taken = cost < most ? cost : most;

	return taken > 0 ? taken : 0;
}

void dw_call_values_of(const struct dw_call_increment *r, double cost,
		       const struct dw_region_clock *clock, struct dw_call_values *ret)
{
	double elapsed = (double)r->elapsed, application = (double)r->application;
	double taken = dw_call_taken(r, cost);

	*ret = (struct dw_call_values){
		.calls = r->calls,
		.elapsed_ns = dw_region_clock_span(clock, elapsed - taken),
		.application_ns = dw_region_clock_span(clock, application - taken),
		.delimited_ns = dw_region_clock_span(clock, (double)r->delimited - taken),
		.overhead_ns = dw_region_clock_span(clock, taken + (double)r->slow),
		.blocked_ns = dw_region_clock_span(clock, (double)r->blocked),
		.ready_ns = dw_region_clock_span(clock, (double)r->ready),
		.os_cpu_ns = dw_region_clock_span(clock, (double)r->os_cpu),
		.switches = r->switches,
		.io_calls = r->io_calls,
		.blocking_calls = r->blocking_calls,
	};
}
