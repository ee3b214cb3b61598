/* Prints its environment; built static and with another C library, for tests of agents. */
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	for (char **entry = environ; *entry; entry++)
		puts(*entry);
	return 0;
}
