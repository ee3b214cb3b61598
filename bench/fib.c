/* Calls and nothing else: fib N prints fib(N); fib N floor prints instead what two readings of the
 * TSC take, in nanoseconds of processor time, for as many calls as fib(N) makes. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) long fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 30, before = 1, calls = 1;
	double start;

	if (argc < 3) {
		printf("%ld\n", fib(n));
		return 0;
	}
	for (long i = 0, now = 1; i < n; i++) { /* fib(n) makes 2 fib(n + 1) - 1 calls */
		long next = before + now;

		before = now;
		now = next;
		calls = 2 * before - 1;
	}
	start = cpu_ns();
	for (long i = 0; i < calls; i++) {
		__asm__ volatile("rdtsc" : : : "rax", "rdx");
		__asm__ volatile("rdtsc" : : : "rax", "rdx");
	}
	printf("%.3f\n", (cpu_ns() - start) / (double)calls);
	return 0;
}
