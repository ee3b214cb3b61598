/* Goes down DEPTH frames, works there, comes back up and starts again, until it is killed. */
#include <stdio.h>
#include <stdlib.h>

static volatile unsigned long work;

static void spin(void)
{
	for (int i = 0; i < 2000000; i++)
		work += (unsigned long)i;
}

/* A frame of its own at each level: the callee writes into its caller's. */
static __attribute__((noinline)) void down(unsigned long left, volatile unsigned long *sum)
{
	volatile unsigned long mine = left;

	if (left)
		down(left - 1, &mine);
	else
		spin();
	*sum += mine;
}

int main(int argc, char **argv)
{
	unsigned long depth = argc > 1 ? strtoul(argv[1], NULL, 10) : 16000;
	unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : ~0ul;

	while (rounds--)
		down(depth, &work);
	printf("%lu\n", work);
	return 0;
}
