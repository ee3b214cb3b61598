/* The library that tests/targets/calls.c opens. */
unsigned library_work(unsigned n);

static volatile unsigned sink;

unsigned library_work(unsigned n)
{
	for (unsigned i = 0; i < n % 7 + 1; i++)
		sink += i;
	return sink;
}
