/*
 * Built with -fsplit-stack: functions call a helper that reads the bytes behind the call, and may
 * go on in another piece of stack.
 */
#include "hostile.h"

#include <pthread.h>

NOINLINE static long deep(long n)
{
	volatile char frame[3000];

	frame[n % 3000] = (char)n;
	return n ? deep(n - 1) + frame[n % 3000] : 0;
}

static void run_deep(void)
{
	long sum = 0;

	for (int i = 0; i < 20; i++)
		sum += deep(2000);
	printf("sum %ld\n", sum);
}

static void *run_thread(void *argument)
{
	*(long *)argument = deep(3000);
	return NULL;
}

static void run_threads(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	long result = 0, sum = 0;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	for (int i = 0; i < 20; i++) {
		pthread_create(&thread, &attributes, run_thread, &result);
		pthread_join(thread, NULL);
		sum += result;
	}
	printf("sum %ld\n", sum);
}

static const struct hostile_case cases[] = {{"deep", run_deep}, {"threads", run_threads}, {0}};

int main(int argc, char **argv)
{
	return hostile_main(argc, argv, cases);
}
