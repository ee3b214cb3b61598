/*
 * Children: of fork() with open frames, of vfork(), of a raw clone() on our memory, and an end by
 * _exit() deep in calls. The program's own counts are those of the first process: what vfork()'s
 * and clone()'s children call is counted nowhere.
 */
#include "counted.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 20, STACK_BYTES = 64 << 10 };

void outer(int n);
void inner(int n);
void in_child(int n);
void work(int n);
int shares(void *arg);
void quick(void);

static int is_borrowed; /* this task shares another's memory */

OWN void work(int n)
{
	if (!is_borrowed)
		COUNTED();
	for (volatile int i = 0; i < n; i++)
		;
}

OWN void in_child(int n)
{
	COUNTED();
	work(n);
	BARRIER();
}

OWN void inner(int n)
{
	pid_t child;

	COUNTED();
	child = fork();
	if (!child) {
		for (int i = 0; i < 10; i++)
			in_child(n);
		_exit(3);
	}
	waitpid(child, NULL, 0);
	work(n);
	BARRIER();
}

OWN void outer(int n)
{
	COUNTED();
	inner(n);
	BARRIER();
}

OWN void quick(void)
{
	static char *const words[] = {"true", NULL};
	pid_t child;

	COUNTED();
	is_borrowed = 1;
	child = vfork();
	if (!child) {
		work(3);
		execv("/bin/true", words);
		_exit(1);
	}
	is_borrowed = 0;
	waitpid(child, NULL, 0);
	work(1);
	BARRIER();
}

OWN int shares(void *arg)
{
	work(*(int *)arg);
	BARRIER();
	return 0;
}

int main(void)
{
	char *stack = malloc(STACK_BYTES);
	int n = 1000;
	pid_t child;

	for (int i = 0; i < CHILDREN; i++)
		outer(i);
	for (int i = 0; i < CHILDREN; i++)
		quick();
	for (int i = 0; i < CHILDREN; i++) {
		is_borrowed = 1;
		child = clone(shares, stack + STACK_BYTES, CLONE_VM | SIGCHLD, &n);
		waitpid(child, NULL, 0);
		is_borrowed = 0;
		work(1);
	}
	print_counts();
	_exit(0);
}
