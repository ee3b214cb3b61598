/*
 * Work for a limit of overhead: a tiny function that is called all the time, and heavy ones.
 *
 * overhead THREADS MS [signals|fork|tiny]: each thread works until it has run for MS ms. What it
 * did is printed at the end: for each function its calls and, of the heavy ones, the thread's
 * processor time in ns. With `signals` handlers interrupt all of it; with `fork` a child works
 * after it; with `tiny` there is nothing else, and nothing is printed.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { THREADS_MAX = 64, FIB = 18, FIB_ALONE = 40, TURNS = 400000 };

/* What a thread did. */
struct done {
	uint64_t rounds, tiny;
	uint64_t light_ns, heavy_ns;
	uint64_t limit_ns;
	volatile uint64_t sink;
};

static volatile sig_atomic_t signals_seen;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

NOINLINE uint64_t tiny(struct done *d, unsigned n)
{
	d->tiny++;
	return n < 2 ? n : tiny(d, n - 1) + tiny(d, n - 2);
}

NOINLINE uint64_t light(uint64_t seed)
{
	for (int i = 0; i < TURNS; i++)
		seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed;
}

NOINLINE uint64_t heavy(uint64_t seed)
{
	for (int i = 0; i < 3 * TURNS; i++)
		seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed;
}

NOINLINE void one_round(struct done *d)
{
	uint64_t start;

	d->sink += tiny(d, FIB);
	start = cpu_ns();
	d->sink += light(d->sink);
	d->light_ns += cpu_ns() - start;
	start = cpu_ns();
	d->sink += heavy(d->sink);
	d->heavy_ns += cpu_ns() - start;
	d->rounds++;
}

static void *work(void *arg)
{
	struct done *d = arg;

	while (cpu_ns() < d->limit_ns)
		one_round(d);
	return NULL;
}

NOINLINE void handled(int signal)
{
	static struct done own;

	(void)signal;
	signals_seen++;
	tiny(&own, 3);
}

static void start_signals(void)
{
	struct sigaction action = {.sa_handler = handled, .sa_flags = SA_RESTART};
	struct itimerval often = {{0, 1000}, {0, 1000}};

	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &often, NULL);
}

static void run(unsigned n, uint64_t ms)
{
	static struct done all[THREADS_MAX], sum;
	pthread_t threads[THREADS_MAX];

	memset(all, 0, sizeof all);
	memset(&sum, 0, sizeof sum);
	for (unsigned i = 0; i < n; i++) {
		all[i].limit_ns = ms * 1000000 + (n == 1 ? cpu_ns() : 0);
		if (n > 1 && pthread_create(&threads[i], NULL, work, &all[i]))
			exit(2);
	}
	if (n == 1)
		work(&all[0]);
	for (unsigned i = 0; i < n; i++) {
		if (n > 1)
			pthread_join(threads[i], NULL);
		sum.rounds += all[i].rounds;
		sum.tiny += all[i].tiny;
		sum.light_ns += all[i].light_ns;
		sum.heavy_ns += all[i].heavy_ns;
	}
	printf("one_round %llu\ntiny %llu\nlight %llu %llu\nheavy %llu %llu\n",
	       (unsigned long long)sum.rounds, (unsigned long long)sum.tiny,
	       (unsigned long long)sum.rounds, (unsigned long long)sum.light_ns,
	       (unsigned long long)sum.rounds, (unsigned long long)sum.heavy_ns);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	uint64_t ms = argc > 2 ? (uint64_t)atoi(argv[2]) : 1000;
	const char *what = argc > 3 ? argv[3] : "";
	int status = 0;

	if (!n || n > THREADS_MAX)
		return 2;
	if (!strcmp(what, "tiny")) {
		static struct done d;

		tiny(&d, FIB_ALONE);
		return 0;
	}
	if (!strcmp(what, "signals"))
		start_signals();
	run(n, ms);
	if (strcmp(what, "fork"))
		return 0;
	if (!fork()) {
		run(n, ms);
		_exit(0);
	}
	wait(&status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}
