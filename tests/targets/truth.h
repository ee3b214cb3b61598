/* What truth.c and its libraries share: the work, and how a part describes itself. */
#pragma once

#include <stdint.h>

#ifdef __clang__
#define OWN_FUNCTION __attribute__((noinline))
#else
#define OWN_FUNCTION __attribute__((noinline, noclone))
#endif
#define INLINED static inline __attribute__((always_inline))

#define CODE(function) ((void (*)(void))(function))

#define MULTIPLIER 6364136223846793005u

/* One step of work that no compiler can skip or vectorise. */
#define STEP(x) ((x)*MULTIPLIER + ((x) >> 29) + 1)

struct part {
	const char *function; /* that does the work itself */
	const char *outer;    /* that it was inlined into, or NULL */
	uint64_t (*run)(uint64_t x, long steps);
	void (*code)(void);	   /* where the work's code starts */
	int percent;		   /* of the processor time */
	int first_line, last_line; /* of the function, in @source */
	const char *source;
};
