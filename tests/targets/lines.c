/*
 * Lines of known times: three loops in one function, the second and the third twice and four times
 * as long as the first. The program says what each took of its thread's processor time, and how
 * often its line was come to. Then a line that calls a function, and one in a recursion.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/* A microsecond or so, of steps that wait for one another. */
#define MIX(x, k)                     \
	for (int k = 0; k < 120; k++) \
	(x) = ((x) ^ (x) >> 29) * 0xbf58476d1ce4e5b9u + 1

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

__attribute__((noinline)) static uint64_t three_parts(uint64_t x, int64_t ns[4])
{
	ns[0] = cpu_ns();
	for (int i = 0; i < 50000; i++)
		MIX(x, first);
	ns[1] = cpu_ns();
	for (int i = 0; i < 100000; i++)
		MIX(x, second);
	ns[2] = cpu_ns();
	for (int i = 0; i < 200000; i++)
		MIX(x, third);
	ns[3] = cpu_ns();
	return x;
}

__attribute__((noinline)) static uint64_t callee(uint64_t x)
{
	for (int i = 0; i < 1000; i++)
		MIX(x, fourth);
	return x;
}

__attribute__((noinline)) static uint64_t recursive(uint64_t x, int depth)
{
	MIX(x, fifth);
	if (depth)
		x = recursive(x, depth - 1) / 3 + 1;
	return x;
}

int main(void)
{
	int64_t ns[4];
	uint64_t x = three_parts(1, ns);

	for (int i = 0; i < 20; i++)
		x += callee(x);
	for (int i = 0; i < 100; i++)
		x += recursive(x, i);
	for (int i = 0; i < 3; i++)
		printf("%" PRId64 "\n", ns[i + 1] - ns[i]);
	return !x;
}
