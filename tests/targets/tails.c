/*
 * Functions that end in a jump to a library: `tails COUNT`. Each is called COUNT times; what the
 * library does for them takes nearly all of the time.
 */
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { BYTES = 16384 };

static char from[BYTES], to[BYTES];
static volatile int sink;

/* Ends in the jump. */
NOINLINE void *clear(int value)
{
	return memset(to, value, BYTES);
}

/* Ends in a jump to one that does. */
NOINLINE void *clear_odd(int value)
{
	sink = value;
	return clear(value | 1);
}

/* Sometimes ends in one. */
NOINLINE void *copy_some(int value)
{
	if (value % 2)
		return memcpy(to, from, BYTES);
	sink = value;
	return to;
}

static volatile size_t four = 4;

/* Is called back by the library, and ends in a jump there. */
NOINLINE int compare(const void *a, const void *b)
{
	return memcmp(a, b, four);
}

NOINLINE void sort(int value)
{
	from[0] = (char)value;
	qsort(from, 64, 4, compare);
}

/* Has nothing of its own to do. */
NOINLINE void each(int count)
{
	void *(*volatile pointed)(int) = clear;

	for (int i = 0; i < count; i++) {
		clear(i);
		clear_odd(i);
		pointed(i);
		copy_some(i);
		sort(i);
	}
}

int main(int argc, char **argv)
{
	each(argc > 1 ? atoi(argv[1]) : 1000);
	return sink < 0;
}
