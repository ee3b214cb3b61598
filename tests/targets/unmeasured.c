/*
 * What goes on where nothing can be measured: unmeasured MODE [ARG].
 *
 * borrow: a child of vfork() makes the first call of leaf(), and the process LEAVES more.
 * filtered: LEAVES calls before the program installs a filter of system calls that allows all, then
 *     as many in a thread that begins under it.
 * loop SECONDS: rounds of calls, for so long at least; ignores SIGINT.
 *
 * filtered and loop print the processor time of rounds in nanoseconds, the least of some.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LEAVES = 1000, ROUND_CALLS = 200000, ROUNDS = 20 };

static volatile unsigned int sink;

/* Long enough to get a probe. */
__attribute__((noinline)) static void leaf(unsigned int n)
{
	for (unsigned int i = 0; i < n % 3 + 1; i++)
		sink += i;
}

__attribute__((noinline)) static void middle(unsigned int n)
{
	leaf(n);
	leaf(n + 1);
}

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) static uint64_t measure(void)
{
	uint64_t start = now(CLOCK_THREAD_CPUTIME_ID);

	for (unsigned int i = 0; i < ROUND_CALLS; i++)
		middle(i);
	return now(CLOCK_THREAD_CPUTIME_ID) - start;
}

/* The least of some rounds. */
static uint64_t best_round(void)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t took = measure();

		best = took < best ? took : best;
	}
	return best;
}

static int borrow(void)
{
	pid_t child = vfork();

	if (!child) {
		leaf(1);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	for (unsigned int i = 0; i < LEAVES; i++)
		leaf(i);
	return 0;
}

static void *round_of_thread(void *arg)
{
	*(uint64_t *)arg = best_round();
	return NULL;
}

static int filtered(void)
{
	struct sock_filter rules[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {1, rules};
	uint64_t took = 0;
	pthread_t thread;

	for (unsigned int i = 0; i < LEAVES; i++)
		leaf(i);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ||
	    pthread_create(&thread, NULL, round_of_thread, &took))
		return 1;
	pthread_join(thread, NULL);
	printf("%llu\n", (unsigned long long)took);
	return 0;
}

static int loop(double seconds)
{
	uint64_t end = now(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);

	signal(SIGINT, SIG_IGN);
	do {
		printf("%llu\n", (unsigned long long)best_round());
		fflush(stdout);
	} while (now(CLOCK_MONOTONIC) < end);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (!strcmp(mode, "borrow"))
		return borrow();
	if (!strcmp(mode, "filtered"))
		return filtered();
	if (!strcmp(mode, "loop") && argc > 2)
		return loop(atof(argv[2]));
	return 2;
}
