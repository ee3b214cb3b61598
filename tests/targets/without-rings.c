/*
 * Runs a command where this user's locked memory for perf rings has run out: without-rings COMMAND
 * [ARG...]. Events can be opened, rings cannot be mapped. As a user that nothing else runs as, and
 * without CAP_IPC_LOCK.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Map a ring of @pages and keep it. */
static int take(size_t pages)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_DUMMY,
				       .exclude_kernel = 1};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd >= 0 && mmap(NULL, (1 + pages) * 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
			       (int)fd, 0) != MAP_FAILED;
}

int main(int argc, char **argv)
{
	int status;
	pid_t child;

	setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){0, 0});
	for (size_t pages = 64, n = 0; pages && n < 10000; n++)
		if (!take(pages))
			pages /= 2;
	child = argc > 1 ? fork() : -1;
	if (!child) {
		execvp(argv[1], argv + 1);
		_exit(99);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0) {
		perror("without-rings");
		return 99;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}
