/*
 * What a debugger looks at: debugged LIBRARY. A thread waits in chains of calls of its own, the
 * first one in a chain through the library (debugged-library.c), which is opened for that and
 * closed. Says "waiting" when all are there, goes on with each line from standard input, and says
 * what it has computed.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static sem_t is_there, end;

static NOINLINE int wait_for_line(void)
{
	char byte = 0;

	printf("waiting\n");
	fflush(stdout);
	while (read(0, &byte, 1) == 1 && byte != '\n')
		;
	return byte == '\n';
}

static NOINLINE int called_back(int n)
{
	return n + wait_for_line();
}

static NOINLINE int second_inner(int n)
{
	sem_post(&is_there);
	while (sem_wait(&end))
		;
	return n + 1;
}

static NOINLINE int second_outer(int n)
{
	return 3 * second_inner(n + 1);
}

static void *second(void *unused)
{
	(void)unused;
	printf("%d\n", second_outer(1));
	return NULL;
}

static NOINLINE int through_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*outer)(int (*)(int), int) =
		library ? (int (*)(int (*)(int), int))dlsym(library, "library_outer") : NULL;
	int n = outer ? outer(called_back, 1) : -1;

	if (library)
		dlclose(library);
	return n;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 2 || sem_init(&is_there, 0, 0) || sem_init(&end, 0, 0) ||
	    pthread_create(&thread, NULL, second, NULL))
		return 1;
	while (sem_wait(&is_there))
		;
	printf("%d\n", through_library(argv[1]));
	printf("%d\n", wait_for_line());
	sem_post(&end);
	pthread_join(thread, NULL);
	return 0;
}
