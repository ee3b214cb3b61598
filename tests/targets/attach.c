/*
 * A program to attach to: it works for ever, in a way that its first argument says, and ends when
 * its standard input does.
 *
 * shares N  N threads called "worker", each three times as long in outer_work as in inner_work
 * storm     threads of 5 ms each, four at a time
 * forks     processes of 1 ms each, one at a time; the number of them is printed at the end
 * reads     system calls that copy memory
 *
 * Two modes end by themselves:
 * faults N  N pages are touched for the first time, by touch_pages
 * sleeps N  N times a millisecond is slept, by sleep_on
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_MS = 1000000, STORM_THREADS = 4, PIECE = 2000 };

static __thread volatile unsigned long sum; /* its own, or threads would wait for each other */

static long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A macro: a function would have the time of its callers. */
#define ADD(n)                             \
	for (unsigned i = 0; i < (n); i++) \
	sum += i

__attribute__((noinline)) static void inner_work(void)
{
	ADD(PIECE);
	sum++;
}

__attribute__((noinline)) static void outer_work(void)
{
	inner_work();
	ADD(3 * PIECE);
	sum++;
}

static void work_ms(long ms)
{
	long end = cpu_ns() + ms * NS_PER_MS;

	while (cpu_ns() < end)
		outer_work();
}

static void *work_on(void *arg)
{
	prctl(PR_SET_NAME, "worker");
	for (;;)
		outer_work();
	return arg;
}

static void *work_shortly(void *arg)
{
	work_ms(5);
	return arg;
}

static void *storm(void *arg)
{
	for (;;) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work_shortly, NULL))
			break;
		pthread_join(thread, NULL);
	}
	return arg;
}

static volatile long forks;

static void *fork_on(void *arg)
{
	for (;;) {
		pid_t pid = fork();

		if (pid < 0)
			break;
		if (!pid) {
			work_ms(1);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		forks++;
	}
	return arg;
}

static void *read_on(void *arg)
{
	static char block[1 << 20];
	int fd = open("/dev/zero", O_RDONLY);

	while (fd >= 0 && read(fd, block, sizeof block) > 0)
		;
	return arg;
}

__attribute__((noinline)) static void touch_pages(size_t n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *p =
		mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise((void *)p, n * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i++)
		p[i * page] = 1;
}

__attribute__((noinline)) static void sleep_on(size_t n)
{
	const struct timespec ms = {.tv_nsec = NS_PER_MS};

	while (n--)
		nanosleep(&ms, NULL);
	sum++;
}

static void start(void *(*work)(void *), int n)
{
	for (int i = 0; i < n; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, NULL))
			exit(1);
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	size_t n = argc > 2 ? (size_t)atol(argv[2]) : 1;
	char c;

	if (!strcmp(mode, "faults"))
		touch_pages(n);
	else if (!strcmp(mode, "sleeps"))
		sleep_on(n);
	if (!strcmp(mode, "faults") || !strcmp(mode, "sleeps"))
		return 0;
	if (!strcmp(mode, "shares"))
		start(work_on, (int)n);
	else if (!strcmp(mode, "storm"))
		start(storm, STORM_THREADS);
	else if (!strcmp(mode, "forks"))
		start(fork_on, 1);
	else if (!strcmp(mode, "reads"))
		start(read_on, 1);
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	printf("%ld\n", forks);
	return 0;
}
