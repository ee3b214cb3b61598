/* The time-stamp counter and the thread pointer (fs:0); see arch/clock.h. */
#pragma once

#include <stdint.h>

/* The TSC. */
static inline uint64_t dw_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

/* The TSC, when all that stands before is done, and before all that follows. Costs the time that
 * the processor gains by doing things at once. */
static inline uint64_t dw_ticks_in_order(void)
{
	uint64_t ticks;

	__asm__ volatile("lfence" ::: "memory");
	ticks = __builtin_ia32_rdtsc();
	__asm__ volatile("lfence" ::: "memory");
	return ticks;
}

/* The thread pointer, from which thread-local variables stand at fixed offsets. */
static inline uint64_t dw_thread_pointer(void)
{
	uint64_t pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
}
