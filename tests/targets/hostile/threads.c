/*
 * Many threads, all doing the same; storage of their own; the ways in which they end.
 */
#include "hostile.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Thread_local char large_storage[4096];
static _Thread_local long counter = 7;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static long total;

NOINLINE static long fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void *add(void *number)
{
	long mine = fib((intptr_t)number % 12);

	CHECK(counter == 7 && large_storage[100] == 0);
	counter += mine;
	memset(large_storage, 1, sizeof(large_storage));
	pthread_mutex_lock(&lock);
	total += counter;
	pthread_mutex_unlock(&lock);
	return number;
}

static void start_and_join(int rounds, int count)
{
	static pthread_t threads[1000];

	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < count; i++)
			CHECK(!pthread_create(&threads[i], NULL, add, (void *)(intptr_t)i));
		for (int i = 0; i < count; i++) {
			void *result;

			CHECK(!pthread_join(threads[i], &result) && (intptr_t)result == i);
		}
	}
	printf("total %ld\n", total);
}

static void run_some(void)
{
	start_and_join(10, 20);
}

static void run_thousand(void)
{
	start_and_join(1, 1000);
}

static void *meet(void *number)
{
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&lock);
		total += fib(6) + (intptr_t)number;
		pthread_mutex_unlock(&lock);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void run_barrier(void)
{
	pthread_t threads[8];

	pthread_barrier_init(&barrier, NULL, 8);
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, meet, (void *)(intptr_t)i);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	printf("total %ld\n", total);
}

static sem_t ended;

static void *end_detached(void *number)
{
	pthread_detach(pthread_self());
	__atomic_add_fetch(&total, fib((intptr_t)number % 10), __ATOMIC_RELAXED);
	sem_post(&ended);
	return NULL;
}

static void run_detached(void)
{
	pthread_t thread;

	sem_init(&ended, 0, 0);
	for (int i = 0; i < 200; i++) {
		CHECK(!pthread_create(&thread, NULL, end_detached, (void *)(intptr_t)i));
		sem_wait(&ended);
	}
	printf("total %ld\n", total);
}

static void *end_by_hand(void *argument)
{
	total += fib(10);
	*(volatile int *)argument = 1;
	syscall(SYS_exit, 0);
	return NULL;
}

/* Ends without the C library's knowledge; nobody can join it. */
static void run_raw_exit(void)
{
	pthread_t thread;

	for (int i = 0; i < 20; i++) {
		volatile int is_done = 0;

		CHECK(!pthread_create(&thread, NULL, end_by_hand, (void *)&is_done));
		while (!is_done)
			usleep(100);
	}
	usleep(2000);
	printf("total %ld\n", total);
}

static void *name_me(void *argument)
{
	char name[32] = "";

	(void)argument;
	prctl(PR_GET_NAME, name);
	printf("inherited %s\n", name);
	pthread_setname_np(pthread_self(), "my own name");
	pthread_getname_np(pthread_self(), name, sizeof(name));
	printf("mine %s\n", name);
	return NULL;
}

static void run_names(void)
{
	pthread_t thread;
	pthread_attr_t attributes;
	void *stack;
	size_t size;

	pthread_create(&thread, NULL, name_me, NULL);
	pthread_join(thread, NULL);
	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &stack, &size);
	CHECK((char *)&size > (char *)stack && (char *)&size < (char *)stack + size);
}

static const struct hostile_case cases[] = {
	{"some", run_some},
	{"thousand", run_thousand},
	{"barrier", run_barrier},
	{"detached", run_detached},
	{"raw-exit", run_raw_exit},
	{"names", run_names},
	{0},
};

int main(int argc, char **argv)
{
	return hostile_main(argc, argv, cases);
}
