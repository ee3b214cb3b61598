/* Functions that keep frame pointers, as some distributions build all: wait_framed() waits @ms,
 * above what looks like the frame of a function that has called it through a pointer. */
#include <stdint.h>
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

static uintptr_t after_call;

__attribute__((noipa)) static void note(void)
{
	after_call = (uintptr_t)__builtin_return_address(0);
}

__attribute__((noipa)) static void call_by_pointer(void (*volatile f)(void))
{
	f();
	__asm__ volatile("" : : : "memory");
}

void wait_framed(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
	volatile uintptr_t
		room[64 + ms % 2]; /* the stack pointer alone does not lead out of here */

	call_by_pointer(note);
	for (int i = 0; i < 64; i += 2) {
		room[i] = (uintptr_t)__builtin_frame_address(0);
		room[i + 1] = after_call;
	}
	room[0] = (uintptr_t)sleep_for(&t);
	(void)room[0];
}
