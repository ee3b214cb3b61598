/*
 * Threads that want more processors than there are: some spin all the time, others sleep now and
 * then. Prints how long all were ready without a processor, and how long those that sleep waited
 * without that, as lines "NAME MICROSECONDS".
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SPINNERS_MAX = 64, NAPPERS = 3, DURATION_MS = 2000 };

static volatile uint64_t sink;
static uint64_t ready[SPINNERS_MAX + NAPPERS], waited[SPINNERS_MAX + NAPPERS];

static uint64_t clock_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* How long the thread was ready, but had no processor (sched-stats.rst). */
static uint64_t ready_us(void)
{
	FILE *f = fopen("/proc/thread-self/schedstat", "r");
	unsigned long long ran, ns = 0;

	if (!f || fscanf(f, "%llu %llu", &ran, &ns) != 2)
		exit(1);
	fclose(f);
	return ns / 1000;
}

__attribute__((noinline)) static void nap(void)
{
	usleep(1000);
	sink++;
}

/* Spin, with a nap now and then if @arg says so, and note the thread's times. */
static void *run(void *arg)
{
	size_t i = (size_t)arg;
	uint64_t began = clock_us(CLOCK_MONOTONIC), cpu = clock_us(CLOCK_THREAD_CPUTIME_ID);
	uint64_t before = ready_us(), end = began + DURATION_MS * 1000;

	while (clock_us(CLOCK_MONOTONIC) < end) {
		if (i >= SPINNERS_MAX)
			nap();
		for (int k = 0; k < 100000; k++)
			sink++;
	}
	ready[i] = ready_us() - before;
	waited[i] = clock_us(CLOCK_MONOTONIC) - began - (clock_us(CLOCK_THREAD_CPUTIME_ID) - cpu) -
		    ready[i];
	return NULL;
}

int main(void)
{
	size_t spinners = (size_t)sysconf(_SC_NPROCESSORS_ONLN) * 2 + 1;
	pthread_t threads[SPINNERS_MAX + NAPPERS];
	uint64_t all = 0, naps = 0;

	spinners = spinners < SPINNERS_MAX ? spinners : SPINNERS_MAX;
	for (size_t i = 0; i < SPINNERS_MAX + NAPPERS; i++)
		if ((i < spinners || i >= SPINNERS_MAX) &&
		    pthread_create(&threads[i], NULL, run, (void *)i))
			return 1;
	for (size_t i = 0; i < SPINNERS_MAX + NAPPERS; i++) {
		if (i >= spinners && i < SPINNERS_MAX)
			continue;
		pthread_join(threads[i], NULL);
		all += ready[i];
		naps += i < SPINNERS_MAX ? 0 : waited[i];
	}
	printf("ready %llu\nnap %llu\n", (unsigned long long)all, (unsigned long long)naps);
	return 0;
}
