/*
 * Threads that wait for what never comes: parked MS HOW. Each calls a function of its own that
 * waits, for one to each kind of call; one computes all the time. After MS milliseconds the program
 * ends, HOW: "exit" from main(), "exit_group" at once, "kill" by SIGKILL, "exec" another program;
 * "stay" waits on, whoever interrupts it. With a last word "later" all waits begin half way.
 */
#include <linux/futex.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static useconds_t later_us;
static int ends[2];

static void pause_us(uint64_t us)
{
	struct timespec t = {(time_t)(us / 1000000), (long)(us % 1000000 * 1000)};

	while (nanosleep(&t, &t))
		;
}

NOINLINE void wait_condition(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

	pthread_mutex_lock(&lock);
	for (;;)
		pthread_cond_wait(&never, &lock);
}

NOINLINE void wait_read(void)
{
	char byte;

	exit(read(ends[0], &byte, 1) == 1);
}

NOINLINE void wait_accept(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof any) || listen(fd, 1))
		exit(1);
	exit(accept(fd, NULL, NULL) < 0);
}

NOINLINE void wait_epoll(void)
{
	struct epoll_event event;
	int fd = epoll_create1(0);

	exit(epoll_wait(fd, &event, 1, -1));
}

NOINLINE void wait_futex(void)
{
	static uint32_t word;

	exit((int)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
}

NOINLINE void wait_sleep(void)
{
	pause_us(1000000000);
}

NOINLINE void compute(void)
{
	for (volatile uint64_t x = 1;; x = x * 3 + 1)
		;
}

static void *run(void *what)
{
	void (*const *work)(void) = what;

	if (later_us && *work != compute)
		pause_us(later_us);
	(*work)();
	return NULL;
}

int main(int argc, char **argv)
{
	static void (*const all[])(void) = {wait_condition, wait_read,	wait_accept, wait_epoll,
					    wait_futex,	    wait_sleep, compute};
	const char *how = argc > 2 ? argv[2] : "";
	useconds_t us = argc > 2 ? (useconds_t)atoi(argv[1]) * 1000 : 0;

	later_us = argc > 3 && !strcmp(argv[3], "later") ? us / 2 : 0;
	if (pipe(ends) || (!strcmp(how, "stay") && signal(SIGINT, SIG_IGN) == SIG_ERR))
		return 1;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, run, (void *)&all[i]))
			return 1;
	}
	pause_us(us);
	if (!strcmp(how, "exit_group"))
		_exit(0);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "exec"))
		execl("/bin/true", "true", (char *)NULL);
	if (!strcmp(how, "stay"))
		pause_us(1000000000);
	return 0;
}
