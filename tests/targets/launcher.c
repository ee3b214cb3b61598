/* A program that has its library do all (launcher-library.c), N times: launcher N. */
#include <stdio.h>
#include <stdlib.h>

unsigned run_work(unsigned n);

int main(int argc, char **argv)
{
	printf("%u\n", run_work(argc > 1 ? (unsigned)atoi(argv[1]) : 1));
	return 0;
}
