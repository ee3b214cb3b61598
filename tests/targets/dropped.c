/*
 * A server that gives away what it has when it has started: dropped HOW PLUGIN.
 *
 * HOW is user, root (another root folder and then another user), limits (size and number of files,
 * locked memory), or nothing. Then it calls along many paths that it has not gone before, in
 * itself, in threads, and in a fork's child, opens PLUGIN, and prints the processor time of it all
 * in ms.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, NOBODY = 65534, WAYS = 8, ROUNDS = 20 };

static volatile unsigned int sink;

typedef void level(unsigned int n);

__attribute__((noinline)) static void all(level *const next[WAYS], unsigned int n)
{
	for (int i = 0; i < WAYS; i++)
		next[i](n);
}

/* Eight functions; each calls all of @next. */
#define FUNCTION(name, next, i)                                          \
	__attribute__((noinline)) static void name##_##i(unsigned int n) \
	{                                                                \
		sink += n + (i);                                         \
		all(next, n);                                            \
	}
#define LEVEL(name, next)                                                         \
	FUNCTION(name, next, 0)                                                   \
	FUNCTION(name, next, 1)                                                   \
	FUNCTION(name, next, 2)                                                   \
	FUNCTION(name, next, 3)                                                   \
	FUNCTION(name, next, 4)                                                   \
	FUNCTION(name, next, 5)                                                   \
	FUNCTION(name, next, 6)                                                   \
	FUNCTION(name, next, 7)                                                   \
	static level *const name[WAYS] = {name##_0, name##_1, name##_2, name##_3, \
					  name##_4, name##_5, name##_6, name##_7};

__attribute__((noinline)) static void leaf(unsigned int n)
{
	for (unsigned int i = 0; i < n % 3; i++)
		sink += i;
}

static level *const leaves[WAYS] = {leaf, leaf, leaf, leaf, leaf, leaf, leaf, leaf};

LEVEL(fourth, leaves)
LEVEL(third, fourth)
LEVEL(second, third)
LEVEL(first, second)

__attribute__((noinline)) static void go_all_ways(void)
{
	for (unsigned int n = 0; n < ROUNDS; n++)
		all(first, n);
}

static void *work_of_thread(void *arg)
{
	go_all_ways();
	return arg;
}

static void lower(int what, rlim_t to)
{
	struct rlimit limit = {to, to};

	if (setrlimit(what, &limit))
		perror("setrlimit");
}

static int drop(const char *how)
{
	if (!strcmp(how, "limits")) {
		lower(RLIMIT_FSIZE, 4096);
		lower(RLIMIT_NOFILE, 4);
		lower(RLIMIT_MEMLOCK, 0);
	}
	if (!strcmp(how, "root") && (chroot("/var/lib") || chdir("/")))
		return -1;
	if (!strcmp(how, "root") || !strcmp(how, "user"))
		return setgid(NOBODY) || setuid(NOBODY) ? -1 : 0;
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	struct rusage self, children;
	pid_t child;

	if (argc < 2 || drop(argv[1]))
		return 1;
	go_all_ways();
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work_of_thread, NULL))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	child = fork();
	if (!child) {
		go_all_ways();
		_exit(0);
	}
	waitpid(child, NULL, 0);
	if (argc > 2)
		printf("%s\n", dlopen(argv[2], RTLD_NOW) ? "opened" : "not opened");
	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	printf("%ld\n", (self.ru_utime.tv_sec + self.ru_stime.tv_sec + children.ru_utime.tv_sec +
			 children.ru_stime.tv_sec) *
					1000 +
				(self.ru_utime.tv_usec + self.ru_stime.tv_usec +
				 children.ru_utime.tv_usec + children.ru_stime.tv_usec) /
					1000);
	return 0;
}
