/*
 * Calls that differ, each measured by itself: spin() computes for one time or another, rest()
 * sleeps, nest() calls itself. Prints for each function, in nanoseconds, the shortest and the
 * longest call as seen inside it, and as its caller sees them.
 */
#include <stdio.h>
#include <time.h>

enum { SPIN, REST, NEST, FUNCTIONS, CALLS = 40, DEPTH = 5 };

struct seen {
	long long inner_min, inner_max, outer_min, outer_max;
};

static struct seen seen[FUNCTIONS];

static inline __attribute__((always_inline)) long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static inline __attribute__((always_inline)) void widen(long long *min, long long *max,
							long long ns)
{
	if (!*min || ns < *min)
		*min = ns;
	if (ns > *max)
		*max = ns;
}

/* Without a call: probes would take time that only the program sees. */
static inline __attribute__((always_inline)) long burn(long us)
{
	unsigned long long start = __builtin_ia32_rdtsc();
	long n = 0;

	while (__builtin_ia32_rdtsc() - start < (unsigned long long)us * 2000)
		n++;
	return n;
}

__attribute__((noinline)) static long spin(long us)
{
	long long start = now();
	long n = burn(us);

	widen(&seen[SPIN].inner_min, &seen[SPIN].inner_max, now() - start);
	return n;
}

__attribute__((noinline)) static void rest(long us)
{
	long long start = now();

	nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
	widen(&seen[REST].inner_min, &seen[REST].inner_max, now() - start);
}

/* The outermost call counts. */
__attribute__((noinline)) static long nest(int depth, long us)
{
	long long start = now();
	long n = burn(us) + (depth ? nest(depth - 1, us) : 0);

	if (depth == DEPTH)
		widen(&seen[NEST].inner_min, &seen[NEST].inner_max, now() - start);
	return n;
}

/* Calls are short, now and then long, and neither at first, when they are new to everybody. */
static long measure(int which, int i)
{
	int kind = i ? 1 + !(i % 7) : 0;
	static const long us[FUNCTIONS][3] = {
		[SPIN] = {900, 500, 5000}, [REST] = {900, 500, 8000}, [NEST] = {400, 200, 900}};
	long long start = now();
	long n = 0;

	if (which == SPIN)
		n = spin(us[SPIN][kind]);
	else if (which == REST)
		rest(us[REST][kind]);
	else
		n = nest(DEPTH, us[NEST][kind]);
	widen(&seen[which].outer_min, &seen[which].outer_max, now() - start);
	return n;
}

int main(void)
{
	static const char *const names[] = {"spin", "rest", "nest"};
	long n = 0;

	for (int i = 0; i < CALLS; i++)
		for (int which = 0; which < FUNCTIONS; which++)
			n += measure(which, i);
	for (int i = 0; i < FUNCTIONS; i++)
		printf("%s %lld %lld %lld %lld\n", names[i], seen[i].inner_min, seen[i].inner_max,
		       seen[i].outer_min, seen[i].outer_max);
	return n < 0;
}
