/*
 * Calls from many places in many threads: `many-edges THREADS ROUNDS` makes as many threads, which
 * all run at the same time; in each round each of them calls 200 functions `caller_NN`, and each of
 * these calls 100 functions `leaf_NN` once, from a place of its own. So a thread has 20,000 calls
 * of leaves that are told apart by caller and call site.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS_MAX = 1024, STACK_BYTES = 256 << 10 };

static pthread_barrier_t all_there;
static long rounds;

/* Twice, since a macro is not expanded inside itself. */
#define TENS(ten, what, from)                                                               \
	ten(what, from##0) ten(what, from##1) ten(what, from##2) ten(what, from##3)         \
		ten(what, from##4) ten(what, from##5) ten(what, from##6) ten(what, from##7) \
			ten(what, from##8) ten(what, from##9)
#define TEN(what, from)                                                                     \
	what(from##0) what(from##1) what(from##2) what(from##3) what(from##4) what(from##5) \
		what(from##6) what(from##7) what(from##8) what(from##9)
#define TEN_CALLS(from) \
	CALL(from##0)   \
	CALL(from##1)   \
	CALL(from##2)   \
	CALL(from##3)   \
	CALL(from##4) CALL(from##5) CALL(from##6) CALL(from##7) CALL(from##8) CALL(from##9)
#define CALLS         \
	TEN_CALLS(10) \
	TEN_CALLS(11) \
	TEN_CALLS(12) \
	TEN_CALLS(13) \
	TEN_CALLS(14) TEN_CALLS(15) TEN_CALLS(16) TEN_CALLS(17) TEN_CALLS(18) TEN_CALLS(19)

#define LEAF(n)                                                 \
	__attribute__((noinline)) unsigned leaf_##n(unsigned x) \
	{                                                       \
		for (unsigned i = 0; i < 3; i++)                \
			x = x * 1664525 + (x >> 7) + n;         \
		return x;                                       \
	}
#define CALL(n) x ^= leaf_##n(x);
#define CALLER(n)                                                 \
	__attribute__((noinline)) unsigned caller_##n(unsigned x) \
	{                                                         \
		CALLS                                             \
		return x + n;                                     \
	}
#define RUN(n) x ^= caller_##n(x);

TENS(TEN, LEAF, 1)
TENS(TEN, CALLER, 1)
TENS(TEN, CALLER, 2)

static void *run(void *arg)
{
	unsigned x = (unsigned)(unsigned long)arg;

	pthread_barrier_wait(&all_there);
	for (long i = 0; i < rounds; i++) {
		TENS(TEN, RUN, 1)
		TENS(TEN, RUN, 2)
	}
	return (void *)(unsigned long)x;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
	pthread_t threads[THREADS_MAX];
	pthread_attr_t attr;
	unsigned sum = 0;

	if (n < 1 || n > THREADS_MAX)
		return 2;
	rounds = strtol(argv[2], NULL, 10);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_barrier_init(&all_there, NULL, (unsigned)n);
	for (long i = 0; i < n; i++)
		if (pthread_create(&threads[i], &attr, run, (void *)i))
			return 1;
	for (long i = 0; i < n; i++) {
		void *x;

		pthread_join(threads[i], &x);
		sum += (unsigned)(unsigned long)x;
	}
	printf("%08x\n", sum);
	return 0;
}
