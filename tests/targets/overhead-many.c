/*
 * Nine thousand tiny functions, each called as often as is told at the end: more than find room in
 * a thread's first pages.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static volatile uint64_t sink;

#define ONE(n)                                              \
	__attribute__((noinline, noclone)) void f##n(void); \
	void f##n(void)                                     \
	{                                                   \
		sink = sink + 1;                            \
	}
#define CALL(n) f##n();
#define TEN(what, n)                                                                            \
	what(n##0) what(n##1) what(n##2) what(n##3) what(n##4) what(n##5) what(n##6) what(n##7) \
		what(n##8) what(n##9)
#define TEN_ONE(n)  TEN(ONE, n)
#define TEN_CALL(n) TEN(CALL, n)
#define EACH(what, n)                                                                           \
	what(n##0) what(n##1) what(n##2) what(n##3) what(n##4) what(n##5) what(n##6) what(n##7) \
		what(n##8) what(n##9)
#define HUNDRED_ONE(n)	EACH(TEN_ONE, n)
#define HUNDRED_CALL(n) EACH(TEN_CALL, n)
#define ALL(what, n)                                                                            \
	what(n##0) what(n##1) what(n##2) what(n##3) what(n##4) what(n##5) what(n##6) what(n##7) \
		what(n##8) what(n##9)

ALL(HUNDRED_ONE, 1)
ALL(HUNDRED_ONE, 2)
ALL(HUNDRED_ONE, 3)
ALL(HUNDRED_ONE, 4)
ALL(HUNDRED_ONE, 5)
ALL(HUNDRED_ONE, 6)
ALL(HUNDRED_ONE, 7)
ALL(HUNDRED_ONE, 8)
ALL(HUNDRED_ONE, 9)

static uint64_t cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

int main(void)
{
	unsigned long rounds = 0;

	while (cpu_ms() < 700 || rounds < 1000) {
		ALL(HUNDRED_CALL, 1)
		ALL(HUNDRED_CALL, 2)
		ALL(HUNDRED_CALL, 3)
		ALL(HUNDRED_CALL, 4)
		ALL(HUNDRED_CALL, 5)
		ALL(HUNDRED_CALL, 6)
		ALL(HUNDRED_CALL, 7)
		ALL(HUNDRED_CALL, 8)
		ALL(HUNDRED_CALL, 9)
		rounds++;
	}
	printf("%lu\n", rounds);
	return 0;
}
