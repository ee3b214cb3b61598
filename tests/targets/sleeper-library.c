/* A library with a function that the loader waits for, when it is called first: its resolver
 * sleeps. That is too short for a probe. */
#include <sys/syscall.h>
#include <time.h>

int chosen(int n);

static int implementation(int n)
{
	for (volatile int i = 0; i < 10; i++)
		n += i;
	return n;
}

static int (*resolve(void))(int)
{
	static const struct timespec pause = {0, 20000000};
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"((long)SYS_nanosleep), "D"(&pause), "S"(0L)
			 : "rcx", "r11", "memory");
	return implementation;
}

int chosen(int n) __attribute__((ifunc("resolve")));
