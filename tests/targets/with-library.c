/* A small program that uses a large library which is not its own (launcher-library.c), and does
 * something itself: own_work() is called N times. */
#include <stdio.h>
#include <stdlib.h>

unsigned run_work(unsigned n);
unsigned own_work(unsigned n);

__attribute__((noinline, noclone)) unsigned own_work(unsigned n)
{
	unsigned sum = n;

	for (volatile unsigned i = 0; i < 4; i++)
		sum = sum * 31 + i;
	return sum;
}

int main(int argc, char **argv)
{
	unsigned sum = run_work(1);

	for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--)
		sum += own_work(sum);
	printf("%u\n", sum);
	return 0;
}
