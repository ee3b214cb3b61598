/*
 * The clocks of a thread.
 *
 * Time off the processor is what the monotonic clock advanced more than the thread's own, as a part
 * of the ticks between the same two moments: so the rate of the TSC need not be known. The raw
 * clock, because nobody slews the thread's clock either. That one is exact to the nanosecond in
 * Linux, and leaves out what a host takes.
 */
#include "agent/core/os-sources.h"
#include "agent/core/syscall-x86-64.h"
#include "agent/core/ticks-x86-64.h"

static uint64_t read_ns(long clock)
{
	struct timespec t = {0, 0};

	dw_syscall(SYS_clock_gettime, clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* a * b / c in 128 bits; b <= c, c is not 0. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t high;

	__asm__("mul %[b]\n\tdiv %[c]" : "+a"(a), "=&d"(high) : [b] "r"(b), [c] "r"(c) : "cc");
	return a;
}

void dw_os_clocks_read(struct dw_os_clocks *ret)
{
	ret->mono_ns = read_ns(CLOCK_MONOTONIC_RAW);
	ret->cpu_ns = read_ns(CLOCK_THREAD_CPUTIME_ID);
	ret->ticks = dw_ticks();
}

uint64_t dw_os_blocked(const struct dw_os_clocks *from, const struct dw_os_clocks *to)
{
	uint64_t mono_ns = to->mono_ns - from->mono_ns, cpu_ns = to->cpu_ns - from->cpu_ns;

	/* Clocks that a tracer or a checkpoint has set back say nothing. */
	if (to->mono_ns <= from->mono_ns || to->ticks <= from->ticks || cpu_ns >= mono_ns)
		return 0;
	return scale(to->ticks - from->ticks, mono_ns - cpu_ns, mono_ns);
}
