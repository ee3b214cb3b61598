/*
 * Two processes that give each other the turn: handoff TIMES WORK. Each time both work a little,
 * and wait for the other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned int sum;

__attribute__((noinline)) static void step(unsigned int i)
{
	sum = sum * 31 + i;
	sum ^= sum >> 7;
}

__attribute__((noinline)) static void work(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		step(i);
}

int main(int argc, char **argv)
{
	unsigned int times = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 0;
	unsigned int n = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 10) : 0;
	int there[2], back[2], status = 0;
	char turn = 0;
	pid_t child;

	if (pipe(there) || pipe(back))
		return 2;
	child = fork();
	if (child < 0)
		return 2;
	for (unsigned int i = 0; i < times; i++) {
		if (child ? write(there[1], &turn, 1) != 1 || read(back[0], &turn, 1) != 1
			  : read(there[0], &turn, 1) != 1)
			return 3;
		work(n);
		if (!child && write(back[1], &turn, 1) != 1)
			return 3;
	}
	if (!child)
		return 0;
	return waitpid(child, &status, 0) != child || status ? 4 : 0;
}
