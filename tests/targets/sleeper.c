/* Calls chosen() of sleeper-library.c N times. */
#include <stdio.h>
#include <stdlib.h>

int chosen(int n);

int main(int argc, char **argv)
{
	int sum = 0;

	for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--)
		sum = chosen(sum);
	printf("%d\n", sum);
	return 0;
}
