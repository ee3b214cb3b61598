/* Recursion: itself, mutual, a million deep, through qsort() and by tail calls. */
#include "counted.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { DEEP = 1000000, NUMBERS = 1000, STACK_BYTES = 512 << 20 };

unsigned fib(unsigned n);
unsigned even(unsigned n);
unsigned odd(unsigned n);
unsigned deep(unsigned n);
unsigned tail_a(unsigned n);
unsigned tail_b(unsigned n);
int compare(const void *a, const void *b);
void sort(void);

OWN unsigned fib(unsigned n)
{
	unsigned got;

	COUNTED();
	got = n < 2 ? n : fib(n - 1);
	BARRIER();
	got += n < 2 ? 0 : fib(n - 2);
	BARRIER();
	return got;
}

OWN unsigned even(unsigned n)
{
	unsigned got;

	COUNTED();
	got = n ? odd(n - 1) : 1;
	BARRIER();
	return got;
}

OWN unsigned odd(unsigned n)
{
	unsigned got;

	COUNTED();
	got = n ? even(n - 1) : 0;
	BARRIER();
	return got;
}

OWN unsigned deep(unsigned n)
{
	unsigned got;

	COUNTED();
	got = n ? deep(n - 1) + 1 : 0;
	BARRIER();
	return got;
}

/* With optimisation these are jumps. */
OWN unsigned tail_a(unsigned n)
{
	COUNTED();
	return n ? tail_b(n - 1) : 7;
}

OWN unsigned tail_b(unsigned n)
{
	COUNTED();
	return n ? tail_a(n - 1) : 8;
}

OWN int compare(const void *a, const void *b)
{
	COUNTED();
	return *(const int *)a - *(const int *)b;
}

OWN void sort(void)
{
	static int numbers[NUMBERS];

	COUNTED();
	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = i * 7919 % NUMBERS;
	qsort(numbers, NUMBERS, sizeof *numbers, compare);
	BARRIER();
}

int main(int argc, char **argv)
{
	const struct rlimit large = {STACK_BYTES, STACK_BYTES};

	if (argc < 2) {
		setrlimit(RLIMIT_STACK, &large);
		execl("/proc/self/exe", argv[0], "again", NULL);
		return 1;
	}
	if (!argv[1])
		return 1;
	printf("%u %u %u\n", fib(20), even(101), deep(DEEP));
	printf("%u\n", tail_a(1001));
	sort();
	print_counts();
	return 0;
}
