/*
 * Calls between modules that both have probes: by name, through pointers, back, and in recursion
 * that changes sides. With -DLIBRARY the library's side; its own call of an exported function goes
 * by name too.
 */
#include "counted.h"

typedef unsigned callback(unsigned n);

unsigned library_leaf(unsigned n);
unsigned library_calls_back(callback *back, unsigned n);
unsigned library_recurses(callback *back, unsigned n);
void library_counts(void);

#ifdef LIBRARY

OWN unsigned library_leaf(unsigned n)
{
	COUNTED();
	BARRIER();
	return n + 1;
}

OWN unsigned library_calls_back(callback *back, unsigned n)
{
	unsigned got;

	COUNTED();
	got = back(n) + library_leaf(n);
	BARRIER();
	return got;
}

OWN unsigned library_recurses(callback *back, unsigned n)
{
	unsigned got;

	COUNTED();
	got = n ? back(n - 1) + 1 : 0;
	BARRIER();
	return got;
}

OWN void library_counts(void)
{
	print_counts();
}

#else

enum { TIMES = 1000, DEPTH = 20 };

unsigned called_back(unsigned n);
unsigned recurses(unsigned n);
unsigned through_pointer(callback *call, unsigned n);

OWN unsigned called_back(unsigned n)
{
	COUNTED();
	BARRIER();
	return n * 2;
}

OWN unsigned recurses(unsigned n)
{
	unsigned got;

	COUNTED();
	got = library_recurses(recurses, n) + 1;
	BARRIER();
	return got;
}

OWN unsigned through_pointer(callback *call, unsigned n)
{
	unsigned got;

	COUNTED();
	got = call(n);
	BARRIER();
	return got;
}

int main(void)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < TIMES; i++) {
		sum += library_leaf(i) + library_calls_back(called_back, i);
		sum += through_pointer(library_leaf, i) + through_pointer(called_back, i);
		sum += recurses(i % DEPTH);
	}
	print_counts();
	library_counts();
	return sum == 0;
}

#endif
