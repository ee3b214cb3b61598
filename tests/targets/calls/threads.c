/* threads N ALIVE: N threads, ALIVE at a time; some are cancelled, some leave by pthread_exit(). */
#include "counted.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { KINDS = 3, ALIVE_MAX = 1000, WORKS = 10 };

void *thread(void *arg);
void work(long n);
void leaves(long n);
void cancelled(void);
void cleanup(void *arg);

static pthread_barrier_t all_there;

OWN void work(long n)
{
	COUNTED();
	for (volatile long i = 0; i < n; i++)
		;
}

OWN void cleanup(void *arg)
{
	COUNTED();
	work((long)arg % 7);
	BARRIER();
}

OWN void leaves(long n)
{
	COUNTED();
	pthread_cleanup_push(cleanup, (void *)n);
	pthread_exit(NULL);
	pthread_cleanup_pop(0);
}

OWN void cancelled(void)
{
	COUNTED();
	pthread_cleanup_push(cleanup, NULL);
	for (;;)
		pause();
	pthread_cleanup_pop(0);
}

OWN void *thread(void *arg)
{
	long n = (long)arg;

	COUNTED();
	pthread_barrier_wait(&all_there);
	for (int i = 0; i < WORKS; i++)
		work(n % 100);
	if (n % KINDS == 1)
		leaves(n);
	if (n % KINDS == 2)
		cancelled();
	return NULL;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
	long alive = argc > 2 ? strtol(argv[2], NULL, 10) : 10;
	pthread_t threads[ALIVE_MAX];

	if (alive < 1 || alive > ALIVE_MAX)
		return 2;
	for (long at = 0; at < n; at += alive) {
		pthread_barrier_init(&all_there, NULL, (unsigned)alive);
		for (long i = 0; i < alive; i++)
			if (pthread_create(&threads[i], NULL, thread, (void *)(at + i)))
				return 1;
		for (long i = 0; i < alive; i++) {
			if ((at + i) % KINDS == 2)
				pthread_cancel(threads[i]);
			pthread_join(threads[i], NULL);
		}
		pthread_barrier_destroy(&all_there);
	}
	print_counts();
	return 0;
}
