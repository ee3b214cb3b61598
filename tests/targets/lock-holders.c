/*
 * Threads that wait for locks which others have, in functions of their own. Prints, of each
 * function that has a lock, how long others waited for it meanwhile, in microseconds, as these
 * found.
 *
 * lock-holders plain|recursive|priority|rounds: "rounds" is six threads that pass it round.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WAITERS = 3, ROUNDS = 200, ROUND_THREADS = 6, ROUNDS_EACH = 60 };

static pthread_mutex_t lock;
static pthread_barrier_t all_ready;
static atomic_uint_fast64_t waited_us;
static volatile unsigned sink;

static uint64_t clock_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static uint64_t now_us(void)
{
	return clock_us(CLOCK_MONOTONIC);
}

__attribute__((noinline)) static void compute_with_lock(unsigned ms)
{
	for (uint64_t end = now_us() + ms * 1000ull; now_us() < end;)
		for (unsigned i = 0; i < 10000; i++)
			sink += i;
	__asm__ volatile(""); /* no tail call */
}

__attribute__((noinline)) static void sleep_with_lock(unsigned ms)
{
	usleep(ms * 1000);
	__asm__ volatile("");
}

__attribute__((noinline)) static void want_lock(void)
{
	uint64_t begin = now_us();

	pthread_mutex_lock(&lock);
	atomic_fetch_add(&waited_us, now_us() - begin);
	pthread_mutex_unlock(&lock);
}

static void *wait_once(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&all_ready);
	want_lock();
	return NULL;
}

/* The main thread has the lock and does one thing after the other. */
__attribute__((noinline)) static void keep_lock(void)
{
	pthread_t threads[WAITERS];
	uint64_t begin, middle, end;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < WAITERS; i++)
		pthread_create(&threads[i], NULL, wait_once, NULL);
	pthread_barrier_wait(&all_ready);
	begin = now_us();
	compute_with_lock(240);
	middle = now_us();
	sleep_with_lock(700);
	end = now_us();
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < WAITERS; i++)
		pthread_join(threads[i], NULL);
	printf("compute_with_lock %llu\n", (unsigned long long)(WAITERS * (middle - begin)));
	printf("sleep_with_lock %llu\n", (unsigned long long)(WAITERS * (end - middle)));
}

/* The lock goes from one to the next, each of whom keeps it for a while. */
static void *hold_in_turn(void *arg)
{
	uint64_t begin;

	(void)arg;
	pthread_barrier_wait(&all_ready);
	begin = now_us();
	pthread_mutex_lock(&lock);
	atomic_fetch_add(&waited_us, now_us() - begin);
	usleep(120000);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void pass_lock_on(void)
{
	pthread_t threads[WAITERS];

	waited_us = 0;
	for (int i = 0; i < WAITERS; i++)
		pthread_create(&threads[i], NULL, hold_in_turn, NULL);
	pthread_barrier_wait(&all_ready);
	for (int i = 0; i < WAITERS; i++)
		pthread_join(threads[i], NULL);
	printf("hold_in_turn %llu\n", (unsigned long long)waited_us);
}

static atomic_bool is_over;

static void *hold_shortly(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&all_ready);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		usleep(2000);
		pthread_mutex_unlock(&lock);
		usleep(500);
	}
	is_over = true;
	return NULL;
}

static void *want_often(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&all_ready);
	while (!is_over) {
		want_lock();
		usleep(1000);
	}
	return NULL;
}

static void hold_often(void)
{
	pthread_t holder, waiter;

	waited_us = 0;
	pthread_create(&holder, NULL, hold_shortly, NULL);
	pthread_create(&waiter, NULL, want_often, NULL);
	pthread_barrier_wait(&all_ready);
	pthread_join(holder, NULL);
	pthread_join(waiter, NULL);
	printf("hold_shortly %llu\n", (unsigned long long)waited_us);
}

static void *hold_in_rounds(void *arg)
{
	for (int i = 0; i < ROUNDS_EACH; i++) {
		uint64_t begin = now_us();

		pthread_mutex_lock(&lock);
		atomic_fetch_add(&waited_us, now_us() - begin);
		usleep(3000);
		pthread_mutex_unlock(&lock);
		usleep(2000);
	}
	return arg;
}

static void pass_lock_round(void)
{
	pthread_t threads[ROUND_THREADS];

	for (int i = 0; i < ROUND_THREADS; i++)
		pthread_create(&threads[i], NULL, hold_in_rounds, NULL);
	for (int i = 0; i < ROUND_THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("hold_in_rounds %llu\n", (unsigned long long)waited_us);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "plain";
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	if (!strcmp(kind, "recursive"))
		pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	if (!strcmp(kind, "priority"))
		pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&lock, &attr);
	if (!strcmp(kind, "rounds")) {
		pass_lock_round();
		return 0;
	}
	pthread_barrier_init(&all_ready, NULL, WAITERS + 1);
	keep_lock();
	pass_lock_on();
	pthread_barrier_destroy(&all_ready);
	pthread_barrier_init(&all_ready, NULL, 3);
	hold_often();
	return 0;
}
