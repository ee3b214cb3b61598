/*
 * Processes and threads that make each other: families MODE N. Calls are known:
 *
 *	orphan		leaf 10 times, and the first process ends; its child lives on, calls
 *in_child N times, and has a child that calls it N times threads		4 threads, each N
 *children that call in_child 10 times; and leaf 10 times after each
 *	exec		N times: two threads call leaf 100 times, and a third one executes the
 *program again, after before_exec; main is called N + 1 times
 *	vfork		4 threads, each N children by vfork() that call leaf and execute; and leaf
 *10 times after each: the calls of the children count nowhere
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone, used)) extern

enum { THREADS = 4 };

unsigned leaf(unsigned n);
unsigned in_child(unsigned n);
unsigned before_exec(unsigned n);

static volatile unsigned sink;
static int times;
static const char *self;
static pthread_barrier_t barrier;

OWN unsigned leaf(unsigned n)
{
	for (unsigned i = 0; i < n % 7 + 1; i++)
		sink += i;
	return sink;
}

OWN unsigned in_child(unsigned n)
{
	return leaf(n) + 1;
}

OWN unsigned before_exec(unsigned n)
{
	return leaf(n) + 2;
}

static void in_children(int n)
{
	for (int i = 0; i < n; i++)
		in_child((unsigned)i);
}

static void leaves(int n)
{
	for (int i = 0; i < n; i++)
		leaf((unsigned)i);
}

static void *fork_often(void *arg)
{
	for (int i = 0; i < times; i++) {
		pid_t child = fork();

		if (!child) {
			in_children(10);
			_exit(0);
		}
		waitpid(child, NULL, 0);
		leaves(10);
	}
	return arg;
}

static void *vfork_often(void *arg)
{
	for (volatile int i = 0; i < times; i++) {
		pid_t child = vfork();

		if (!child) {
			leaf(1);
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		waitpid(child, NULL, 0);
		leaves(10);
	}
	return arg;
}

static void *call_leaves(void *arg)
{
	leaves(100);
	pthread_barrier_wait(&barrier);
	pause();
	return arg;
}

static void *execute(void *arg)
{
	char left[16];

	pthread_barrier_wait(&barrier);
	before_exec(1);
	snprintf(left, sizeof left, "%d", times - 1);
	execl(self, self, "exec", left, (char *)NULL);
	return arg;
}

static void exec_in_thread(void)
{
	pthread_t threads[3];

	pthread_barrier_init(&barrier, NULL, 3);
	pthread_create(&threads[0], NULL, call_leaves, NULL);
	pthread_create(&threads[1], NULL, call_leaves, NULL);
	pthread_create(&threads[2], NULL, execute, NULL);
	for (;;)
		pause();
}

static void orphan(void)
{
	pid_t parent = getpid();

	if (fork()) {
		leaves(10);
		return;
	}
	while (getppid() == parent)
		usleep(1000);
	in_children(times);
	if (fork()) {
		wait(NULL);
		return;
	}
	in_children(times);
}

static void run_threads(void *(*body)(void *))
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, body, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	self = argv[0];
	times = atoi(argv[2]);
	if (!strcmp(argv[1], "orphan"))
		orphan();
	else if (!strcmp(argv[1], "threads"))
		run_threads(fork_often);
	else if (!strcmp(argv[1], "vfork"))
		run_threads(vfork_often);
	else if (!strcmp(argv[1], "exec") && times)
		exec_in_thread();
	return 0;
}
