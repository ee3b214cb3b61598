/*
 * Processes that nobody waits for: daemons MS computes for a quarter of MS ms of processor time and
 * starts two daemons that compute for MS each; it ends after them. daemons MS filter has a child
 * instead that computes as long and has a system-call filter of its own, which allows all.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

NOINLINE uint64_t work(uint64_t n)
{
	volatile uint64_t x = n;

	while (n--)
		x = x * 3 + 1;
	return x;
}

NOINLINE void compute(uint64_t ns)
{
	while (cpu_ns() < ns)
		work(100000);
}

/* @end is closed when all daemons have ended. */
static void start_daemon(int end, uint64_t ns)
{
	if (!fork()) {
		if (fork())
			_exit(0);
		setsid();
		compute(ns);
		close(end);
		_exit(0);
	}
}

static void filter(void)
{
	struct sock_filter all[] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
	struct sock_fprog program = {1, all};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(1);
}

int main(int argc, char **argv)
{
	uint64_t ns = argc > 1 ? strtoull(argv[1], NULL, 10) * 1000000 : 0;
	int ends[2], status = 0;
	char byte;

	if (argc > 2 && !strcmp(argv[2], "filter")) {
		if (!fork()) {
			filter();
			compute(ns / 2);
			/* That a switch is missed is known by the first look after it. */
			usleep(1000);
			compute(ns);
			_exit(0);
		}
		compute(ns);
		wait(&status);
		return status != 0;
	}
	if (pipe(ends))
		return 1;
	start_daemon(ends[1], ns);
	start_daemon(ends[1], ns);
	close(ends[1]);
	compute(ns / 4);
	return read(ends[0], &byte, 1) != 0;
}
