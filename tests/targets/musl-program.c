/* A program of another C library: prints its environment. */
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	for (char **entry = environ; *entry; entry++)
		puts(*entry);
	return 0;
}
