/*
 * A program that knows how often each of its functions is called: calls MODE [ARG].
 *
 *	plain		leaf 1000 times, odd and even each other 100 deep
 *	fork N		N children, each calls in_child 10 times
 *	exec N		executes itself N times in a row, calls before_exec each time
 *	spawn N		N copies of itself at once, each as "plain"
 *	open FILE	dlopen()s FILE and calls its library_work 50 times, three times over
 *	threads N	N threads, each calls in_thread 1000 times
 *	signal N	dies by signal N after 10 calls of leaf
 *	sleep S		calls leaf 10 times, says so, sleeps S seconds, exits with 5
 *
 * Its functions are global and loop, so that none is too short to be probed, and none is inlined;
 * but brief() is short, and called as often as leaf().
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone, used)) extern

extern char **environ;
static volatile unsigned sink;

unsigned leaf(unsigned n);
unsigned even(unsigned n);
unsigned odd(unsigned n);
unsigned in_child(unsigned n);
unsigned before_exec(unsigned n);
unsigned in_thread(unsigned n);
unsigned brief(unsigned n);

static unsigned work(unsigned n)
{
	for (unsigned i = 0; i < n % 7 + 1; i++)
		sink += i;
	return sink;
}

OWN unsigned brief(unsigned n)
{
	return sink + n;
}

OWN unsigned leaf(unsigned n)
{
	return work(n) + brief(n);
}

OWN unsigned even(unsigned n)
{
	return n ? odd(n - 1) + work(n) : 0;
}

OWN unsigned odd(unsigned n)
{
	return n ? even(n - 1) + work(n) : 1;
}

OWN unsigned in_child(unsigned n)
{
	return work(n) + 2;
}

OWN unsigned before_exec(unsigned n)
{
	return work(n) + 3;
}

OWN unsigned in_thread(unsigned n)
{
	return work(n) + 4;
}

static void plain(void)
{
	for (unsigned i = 0; i < 1000; i++)
		leaf(i);
	printf("%d\n", even(100) > 0);
}

static void fork_children(int n)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid) {
			for (unsigned k = 0; k < 10; k++)
				in_child(k);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static int execute(const char *self, int n)
{
	char left[16];

	before_exec((unsigned)n);
	if (n == 0)
		return 0;
	snprintf(left, sizeof left, "%d", n - 1);
	execl(self, self, "exec", left, NULL);
	return 1;
}

static int spawn(char *self, int n)
{
	char *argv[] = {self, (char[]){"plain"}, NULL};
	int failed = 0, status;

	for (int i = 0; i < n; i++)
		failed |= posix_spawn(&(pid_t){0}, self, NULL, NULL, argv, environ);
	while (wait(&status) > 0)
		failed |= status;
	return failed;
}

static int open_library(const char *path)
{
	for (int i = 0; i < 3; i++) {
		void *library = dlopen(path, RTLD_NOW);
		unsigned (*call)(unsigned) = NULL;

		if (library)
			*(void **)&call = dlsym(library, "library_work");
		if (!call) {
			puts(dlerror());
			return 1;
		}
		for (unsigned k = 0; k < 50; k++)
			call(k);
		dlclose(library);
	}
	return 0;
}

static void *thread(void *arg)
{
	for (unsigned i = 0; i < 1000; i++)
		in_thread(i);
	return arg;
}

static void start_threads(int n)
{
	pthread_t threads[64];

	for (int i = 0; i < n && i < 64; i++)
		pthread_create(&threads[i], NULL, thread, NULL);
	for (int i = 0; i < n && i < 64; i++)
		pthread_join(threads[i], NULL);
}

static void call_ten(void)
{
	for (unsigned i = 0; i < 10; i++)
		leaf(i);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "plain", *word = argc > 2 ? argv[2] : "1";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(mode, "plain"))
		plain();
	else if (!strcmp(mode, "fork"))
		fork_children(atoi(word));
	else if (!strcmp(mode, "exec"))
		return execute(argv[0], atoi(word));
	else if (!strcmp(mode, "spawn"))
		return spawn(argv[0], atoi(word));
	else if (!strcmp(mode, "open"))
		return open_library(word);
	else if (!strcmp(mode, "threads"))
		start_threads(atoi(word));
	else if (!strcmp(mode, "signal"))
		call_ten(), raise(atoi(word));
	else if (!strcmp(mode, "sleep"))
		return call_ten(), puts("called"), sleep((unsigned)atoi(word)), 5;
	else
		return 2;
	return 0;
}
