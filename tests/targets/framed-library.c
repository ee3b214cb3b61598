/* Functions that keep frame pointers, as some distributions build all: wait_framed() waits @ms. */
#include <sys/syscall.h>
#include <time.h>

void wait_framed(long ms);

/* In a function without a frame of its own, as those of the C library that wait for locks. */
__attribute__((noinline, optimize("omit-frame-pointer"))) static long
sleep_for(const struct timespec *t)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"((long)SYS_nanosleep), "D"(t), "S"(0L)
			 : "rcx", "r11", "memory");
	return result;
}

void wait_framed(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
	volatile char room[64 + ms % 2]; /* the stack pointer alone does not lead out of here */

	room[0] = (char)sleep_for(&t);
	(void)room[0];
}
