/*
 * Calls with known times, for reports: main rests 24 times 100 ms, two threads of worker() rest 10
 * times 20 ms each and compute beside it, even() and odd() take turns.
 */
#include <pthread.h>
#include <time.h>

__attribute__((noinline)) static long compute(long n)
{
	volatile long sum = 0;

	for (long i = 0; i < n; i++)
		sum += i;
	return sum;
}

__attribute__((noinline)) static int odd(int n);

__attribute__((noinline)) static int even(int n)
{
	return n ? odd(n - 1) : (int)compute(100) & 1;
}

__attribute__((noinline)) static int odd(int n)
{
	return n ? even(n - 1) : (int)compute(100) & 1;
}

__attribute__((noinline)) static void rests(int n, long ms)
{
	while (n--)
		nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static void *worker(void *unused)
{
	for (int i = 0; i < 10; i++) {
		compute(300000);
		rests(1, 20);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	for (int i = 0; i < 100; i++)
		even(i % 10);
	rests(24, 100);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
