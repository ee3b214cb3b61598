/*
 * Work of known length on both sides of calls, for e2e tests of what probes cost.
 *
 *	split N	N calls each: of a function, of one through a pointer, and on very many paths, which
 *		need much memory for call trees; 25 N of one that does little
 *
 * Work is a chain of multiplications, each of which waits for the one before, the same everywhere:
 * direct() and pointed() have one of their own for each call, all other functions one too. little()
 * has less of it, as its callee does, and leaves it to a function that is too short for probes.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHAIN(x)    __asm__ volatile(".rept 128\n\timul $3, %0, %0\n\t.endr" : "+r"(x))
#define LITTLE(x)   __asm__ volatile(".rept 20\n\timul $3, %0, %0\n\t.endr" : "+r"(x))
#define FUNCTION(f) static __attribute__((noinline)) uint64_t f
#define PATH_CALLS  18ul
#define WORK(f, ret)            \
	FUNCTION(f)(uint64_t x) \
	{                       \
		CHAIN(x);       \
		return ret;     \
	}

/* Two functions, each of which calls one of two by a bit of its argument. */
#define STEP(n, next)                                                   \
	WORK(left##n, x & 2u << n ? left##next(x) : right##next(x + 2)) \
	WORK(right##n, x & 2u << n ? left##next(x + 4) : right##next(x + 6))

WORK(direct_callee, x)
WORK(pointed_callee, x + 2)
WORK(left17, x)
WORK(right17, x + 2)
STEP(16, 17)
STEP(15, 16)
STEP(14, 15)
STEP(13, 14)
STEP(12, 13)
STEP(11, 12)
STEP(10, 11)
STEP(9, 10)
STEP(8, 9)
STEP(7, 8)
STEP(6, 7)
STEP(5, 6)
STEP(4, 5)
STEP(3, 4)
STEP(2, 3)
STEP(1, 2)
STEP(0, 1)

static uint64_t (*volatile pointer)(uint64_t) = pointed_callee;

FUNCTION(direct)(long n, uint64_t x)
{
	while (n--) {
		CHAIN(x);
		x = direct_callee(x);
	}
	return x;
}

FUNCTION(pointed)(long n, uint64_t x)
{
	while (n--) {
		CHAIN(x);
		x = pointer(x);
	}
	return x;
}

FUNCTION(short_work)(uint64_t x)
{
	LITTLE(x);
	return x;
}

FUNCTION(little_callee)(uint64_t x)
{
	LITTLE(x);
	__asm__ volatile(".skip 32, 0x90"); /* not short */
	return x;
}

FUNCTION(little)(unsigned long n, uint64_t x)
{
	while (n--)
		x = little_callee(short_work(x));
	return x;
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	uint64_t x = direct((long)n, 3) + pointed((long)n, 5);

	for (unsigned long i = 0; i < n; i += PATH_CALLS)
		x += i & 1 ? left0(i * 2654435761u | 1) : right0(i * 2654435761u | 1);
	x += little(25 * n, x);
	printf("%llx\n", (unsigned long long)x);
	return 0;
}
