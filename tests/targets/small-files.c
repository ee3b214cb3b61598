/*
 * Children whose files may not be large: small-files. One after the other they lower the limit of a
 * file's size, a little less each, and fork a child that calls leaf(). Prints how many of those
 * ended well.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEP = 4 << 10, STEPS = 256, LEAVES = 100 };

static volatile unsigned int sink;

__attribute__((noinline)) static void leaf(unsigned int n)
{
	for (unsigned int i = 0; i < n % 3; i++)
		sink += i;
}

__attribute__((noinline)) static void call_leaves(void)
{
	for (unsigned int i = 0; i < LEAVES; i++)
		leaf(i);
}

/* Whether a child of ours that may write @bytes has a child that ends well. */
static int ends_well(rlim_t bytes)
{
	struct rlimit limit = {bytes, bytes};
	pid_t child = fork();
	int status = -1;

	if (child) {
		waitpid(child, &status, 0);
		return status == 0;
	}
	if (setrlimit(RLIMIT_FSIZE, &limit))
		_exit(1);
	child = fork();
	if (!child) {
		call_leaves();
		_exit(0);
	}
	waitpid(child, &status, 0);
	_exit(status != 0);
}

int main(void)
{
	int well = 0;

	for (int i = 1; i <= STEPS; i++)
		well += ends_well((rlim_t)i * STEP);
	printf("%d of %d\n", well, STEPS);
	return 0;
}
