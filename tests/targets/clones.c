/*
 * What the clone agent must count and must leave alone: clones count FORKS THREADS CALLS calls
 * counted() CALLS times in itself, in each thread, in each child and in a thread of each child;
 * clones refuse executes itself under a kernel that lets no code be changed.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

enum { MAX_THREADS = 1000, MDWE_REFUSE_EXEC_GAIN = 1 };

static int calls;

__attribute__((noinline)) void counted(volatile int *n)
{
	for (int i = 0; i < 3; i++)
		++*n;
}

static void *work(void *unused)
{
	volatile int n = 0;

	for (int i = 0; i < calls; i++)
		counted(&n);
	return unused;
}

static void work_in_threads(int n)
{
	pthread_t threads[MAX_THREADS];

	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			exit(1);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static int count(int forks, int threads)
{
	int status, bad = 0;

	work(NULL);
	work_in_threads(threads);
	for (int i = 0; i < forks; i++) {
		pid_t child = fork();

		if (!child) {
			work(NULL);
			work_in_threads(1);
			exit(0);
		}
		bad |= waitpid(child, &status, 0) != child || status;
	}
	return bad;
}

static int refuse(char **argv)
{
	char *again[] = {argv[0], "count", "0", "0", "1", NULL};

	if (prctl(PR_SET_MDWE, MDWE_REFUSE_EXEC_GAIN, 0, 0, 0)) {
		printf("no MDWE: %s\n", strerror(errno));
		return 0;
	}
	execv(argv[0], again);
	return 1;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "refuse"))
		return refuse(argv);
	if (argc != 5 || atoi(argv[3]) > MAX_THREADS)
		return 2;
	calls = atoi(argv[4]);
	return count(atoi(argv[2]), atoi(argv[3]));
}
