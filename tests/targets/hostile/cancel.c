/*
 * Threads that are cancelled or leave by pthread_exit: all cleanups and destructors run, whatever
 * instruction they were at.
 */
#include "hostile.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static int cleaned, destroyed;
static volatile int started;
static pthread_key_t key;
static sem_t never;

NOINLINE static long fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void clean(void *argument)
{
	__atomic_add_fetch(&cleaned, *(int *)argument, __ATOMIC_RELAXED);
}

static int one = 1, ten = 10;

NOINLINE static void wait_deep(int depth)
{
	pthread_cleanup_push(clean, &one);
	if (depth)
		wait_deep(depth - 1);
	else {
		started = 1;
		for (;;)
			usleep(1000000);
	}
	pthread_cleanup_pop(0);
}

static void *wait_in_call(void *depth)
{
	wait_deep((int)(intptr_t)depth);
	return NULL;
}

static void cancel(pthread_t thread)
{
	void *result;

	while (!started)
		usleep(100);
	CHECK(!pthread_cancel(thread));
	CHECK(!pthread_join(thread, &result) && result == PTHREAD_CANCELED);
	started = 0;
}

static void run_deferred(void)
{
	pthread_t thread;

	for (int i = 0; i < 100; i++) {
		pthread_create(&thread, NULL, wait_in_call, (void *)(intptr_t)(i % 20));
		cancel(thread);
	}
	printf("cleaned %d\n", cleaned);
}

static volatile long sink;

static void *compute(void *argument)
{
	(void)argument;
	pthread_cleanup_push(clean, &one);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;) {
		started = 1;
		sink += fib(15);
	}
	pthread_cleanup_pop(0);
	return NULL;
}

/* Cancelled at any instruction: of a function, of its entry, of its return. */
static void run_asynchronous(void)
{
	pthread_t thread;

	for (int i = 0; i < 300; i++) {
		pthread_create(&thread, NULL, compute, NULL);
		while (!started)
			usleep(50);
		usleep((useconds_t)(i % 50) * 10);
		cancel(thread);
	}
	printf("cleaned %d\n", cleaned);
}

static void *test_cancel(void *argument)
{
	int old;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	started = 1;
	sem_wait((sem_t *)argument);
	pthread_testcancel();
	pthread_cleanup_push(clean, &ten);
	pthread_setcancelstate(old, &old);
	for (;;)
		pthread_testcancel();
	pthread_cleanup_pop(0);
	return NULL;
}

static void run_state(void)
{
	pthread_t thread;
	sem_t go;
	void *result;

	sem_init(&go, 0, 0);
	for (int i = 0; i < 50; i++) {
		pthread_create(&thread, NULL, test_cancel, &go);
		CHECK(!pthread_cancel(thread));
		sem_post(&go);
		CHECK(!pthread_join(thread, &result) && result == PTHREAD_CANCELED);
	}
	printf("cleaned %d\n", cleaned);
}

static void destroy(void *value)
{
	int round = (int)(intptr_t)value;

	__atomic_add_fetch(&destroyed, 1, __ATOMIC_RELAXED);
	if (round > 1)
		pthread_setspecific(key, (void *)(intptr_t)(round - 1));
}

NOINLINE static void leave_deep(int depth)
{
	pthread_cleanup_push(clean, &one);
	if (depth == 0)
		pthread_exit(&ten);
	leave_deep(depth - 1);
	pthread_cleanup_pop(0);
}

static void *leave(void *depth)
{
	pthread_setspecific(key, (void *)3);
	leave_deep((int)(intptr_t)depth);
	return NULL;
}

static void run_exit(void)
{
	pthread_t thread;
	void *result;

	pthread_key_create(&key, destroy);
	for (int i = 0; i < 100; i++) {
		pthread_create(&thread, NULL, leave, (void *)(intptr_t)(i % 10));
		CHECK(!pthread_join(thread, &result) && result == &ten);
	}
	printf("cleaned %d, destroyed %d\n", cleaned, destroyed);
}

static void *block(void *argument)
{
	char byte;

	pthread_cleanup_push(clean, &ten);
	started = 1;
	switch ((int)(intptr_t)argument) {
	case 0:
		sem_wait(&never);
		break;
	case 1:
		pause();
		break;
	case 2:
		CHECK(read(0, &byte, 0) < 0);
		sem_wait(&never);
		break;
	default:
		for (;;)
			CHECK(write(1, "", 0) == 0);
	}
	pthread_cleanup_pop(0);
	return NULL;
}

static void run_blocked(void)
{
	pthread_t thread;

	close(0);
	sem_init(&never, 0, 0);
	for (int i = 0; i < 40; i++) {
		pthread_create(&thread, NULL, block, (void *)(intptr_t)(i & 3));
		cancel(thread);
	}
	printf("cleaned %d\n", cleaned);
}

static void *on_small_stack(void *argument)
{
	volatile char some[2048];

	memset((char *)some, 1, sizeof(some));
	*(long *)argument = fib(10) + some[7];
	return argument;
}

static void run_small_stack(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	void *result;
	long got, sum = 0;

	pthread_attr_init(&attributes);
	CHECK(!pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN));
	for (int i = 0; i < 200; i++) {
		CHECK(!pthread_create(&thread, &attributes, on_small_stack, &got));
		CHECK(!pthread_join(thread, &result) && result == &got);
		sum += got;
	}
	printf("sum %ld\n", sum);
}

static void on_signal(int number)
{
	(void)number;
	fib(6);
}

static void run_signals_too(void)
{
	pthread_t thread;

	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 50; i++) {
		pthread_create(&thread, NULL, i & 1 ? compute : wait_in_call, (void *)5);
		while (!started)
			usleep(50);
		for (int k = 0; k < 20; k++)
			pthread_kill(thread, SIGUSR1);
		cancel(thread);
	}
	printf("cleaned %d\n", cleaned);
}

static void *last_thread(void *argument)
{
	(void)argument;
	usleep(1000);
	puts("the last thread ends the program");
	return NULL;
}

static void run_main_leaves(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, last_thread, NULL);
	pthread_cleanup_push(clean, &one);
	pthread_exit(NULL);
	pthread_cleanup_pop(0);
}

static const struct hostile_case cases[] = {
	{"deferred", run_deferred},
	{"asynchronous", run_asynchronous},
	{"state", run_state},
	{"exit", run_exit},
	{"blocked", run_blocked},
	{"small-stack", run_small_stack},
	{"signals-too", run_signals_too},
	{"main-leaves", run_main_leaves},
	{0},
};

int main(int argc, char **argv)
{
	return hostile_main(argc, argv, cases);
}
