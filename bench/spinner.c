/*
 * A fixed amount of work on a stack of a given depth: spinner [STEPS_MILLIONS] [STACK_KB].
 *
 * It prints the CPU time that the work took, in ns. What a profiler takes from the program per
 * sample is the slope of that time over the sampling rate.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FRAME_BYTES = 1024 };

static volatile uint64_t sink;

__attribute__((noinline)) static void work(long steps)
{
	uint64_t x = 1;

	for (long i = 0; i < steps; i++)
		x = x * 6364136223846793005u + (x >> 29) + 1;
	sink = x;
}

__attribute__((noinline)) static void descend(long frames, long steps)
{
	volatile char room[FRAME_BYTES - 64];

	room[0] = 1;
	if (frames > 1)
		descend(frames - 1, steps);
	else
		work(steps);
	sink += (uint64_t)room[0];
}

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int main(int argc, char **argv)
{
	long millions = argc > 1 ? atol(argv[1]) : 1000;
	long frames = (argc > 2 ? atol(argv[2]) : 80) * 1024 / FRAME_BYTES;
	int64_t start = cpu_ns();

	descend(frames, millions * 1000000);
	printf("%lld\n", (long long)(cpu_ns() - start));
	return 0;
}
