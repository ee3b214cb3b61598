/* Waits MS in wait_framed() of framed-library.c, through a stub that is no jump alone: linked for
 * CET. */
#include <stdio.h>
#include <stdlib.h>

void wait_framed(long ms);

__attribute__((noinline)) static void wait_through_stub(long ms)
{
	wait_framed(ms);
	puts("waited");
}

int main(int argc, char **argv)
{
	wait_through_stub(argc > 1 ? atol(argv[1]) : 100);
	return 0;
}
