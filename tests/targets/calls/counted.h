/*
 * Functions that count themselves: what a profiler must say of them is known whatever happens.
 *
 * COUNTED stands first in each function; print_counts() prints "NAME N" for all of them, sorted by
 * nobody. Functions are global and not inlined.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
#define OWN extern "C" __attribute__((noinline, used))
#else
#define OWN __attribute__((noinline, used)) extern
#endif

struct counted {
	const char *name;
	uint64_t n;
	uint64_t unused[2]; /* one size for the section's steps, however the compiler aligns */
} __attribute__((aligned(32)));

/* Each module's own. */
extern struct counted __start_counted[] __attribute__((visibility("hidden")));
extern struct counted __stop_counted[] __attribute__((visibility("hidden")));

#define COUNTED()                                                                          \
	do {                                                                               \
		static struct counted here                                                 \
			__attribute__((section("counted"), used)) = {__func__, 0, {0, 0}}; \
		__atomic_fetch_add(&here.n, 1, __ATOMIC_RELAXED);                          \
	} while (0)

/* Keeps the compiler from seeing through a call or making a jump of it. */
#define BARRIER() __asm__ volatile("" : : : "memory")

static inline void print_counts(void)
{
	for (struct counted *c = __start_counted; c < __stop_counted; c++)
		printf("%s %llu\n", c->name, (unsigned long long)c->n);
	fflush(stdout);
}
