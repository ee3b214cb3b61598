/*
 * Large frames under callers that are known: large-frames MS [CALL_US].
 *
 * large_N() is called by caller_N() alone and that by main() alone, half of them through pointers.
 * Callers differ in depth, so that the word at which one large frame's return address stands is, a
 * call later, something else's: data, or a return address that nobody has written over.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t call_ns = 1500000;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) static void spin(uint64_t ns)
{
	uint64_t end = now_ns() + ns;

	while (now_ns() < end)
		for (volatile int i = 0; i < 1000; i++)
			;
}

/* Leave return addresses all over the stack below. */
__attribute__((noinline)) static int descend(int depth)
{
	volatile char room[1000];

	room[0] = (char)depth;
	return depth ? descend(depth - 1) + room[0] : 0;
}

#define PAIR(n, depth_bytes, frame_bytes)                            \
	__attribute__((noinline)) static void large_##n(void)        \
	{                                                            \
		volatile char room[frame_bytes];                     \
                                                                     \
		room[0] = room[sizeof room - 1] = 1;                 \
		spin(call_ns);                                       \
		room[0] = 2;                                         \
	}                                                            \
	static void (*volatile large_pointer_##n)(void) = large_##n; \
	__attribute__((noinline)) static void caller_##n(void)       \
	{                                                            \
		volatile char room[depth_bytes];                     \
                                                                     \
		room[0] = (char)(n + 1);                             \
		descend(n * 40 % 300);                               \
		if (n % 2)                                           \
			large_pointer_##n();                         \
		else                                                 \
			large_##n();                                 \
		room[0] = room[0] + 1;                               \
	}

PAIR(0, 16, 66000)
PAIR(1, 3000, 70000)
PAIR(2, 20000, 131072)
PAIR(3, 100, 200000)
PAIR(4, 50000, 90000)
PAIR(5, 64, 1000000)
PAIR(6, 90000, 68000)
PAIR(7, 8000, 300000)

static void (*const callers[])(void) = {caller_0, caller_1, caller_2, caller_3,
					caller_4, caller_5, caller_6, caller_7};

int main(int argc, char **argv)
{
	uint64_t end = now_ns() + (uint64_t)(argc > 1 ? atoi(argv[1]) : 1000) * 1000000;
	unsigned next = 1;

	if (argc > 2)
		call_ns = (uint64_t)atoi(argv[2]) * 1000;
	while (now_ns() < end) {
		next = next * 1103515245 + 12345;
		callers[next >> 16 & 7]();
	}
	puts("done");
	return 0;
}
