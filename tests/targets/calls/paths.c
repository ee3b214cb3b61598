/*
 * More paths than fit into memory: ten levels of six functions, each calls some of the next level,
 * and one calls back to the first level now and then, so that what is outermost matters.
 */
#include "counted.h"

enum { FUNCTIONS = 6, LEVELS = 10, ROUNDS = 60, CALLS_MAX = 3, BACK = 5000 };

#define ALL(f, l)    f(l, 0) f(l, 1) f(l, 2) f(l, 3) f(l, 4) f(l, 5)
#define TWO(f, a, b) ALL(f, a) ALL(f, b)
#define EACH(f)	     TWO(f, 0, 1) TWO(f, 2, 3) TWO(f, 4, 5) TWO(f, 6, 7) TWO(f, 8, 9)

static unsigned random_state = 1;

static unsigned any(unsigned below)
{
	random_state = random_state * 1103515245 + 12345;
	return (random_state >> 16) % below;
}

void next_level(int level);
void back(int level);

#define DECLARE(level, i) void level_##level##_##i(void);
#define NAME(level, i)	  level_##level##_##i,
#define DEFINE(level, i)                   \
	OWN void level_##level##_##i(void) \
	{                                  \
		COUNTED();                 \
		next_level(level + 1);     \
		BARRIER();                 \
	}

EACH(DECLARE)

static void (*const functions[])(void) = {EACH(NAME)};

OWN void back(int level)
{
	COUNTED();
	next_level(level);
	BARRIER();
}

OWN void next_level(int level)
{
	COUNTED();
	if (level == LEVELS)
		return;
	if (!any(BACK))
		back(level / 2);
	for (unsigned n = 1 + any(CALLS_MAX); n; n--)
		functions[level * FUNCTIONS + (int)any(FUNCTIONS)]();
	BARRIER();
}

EACH(DEFINE)

int main(void)
{
	for (int i = 0; i < ROUNDS; i++)
		next_level(0);
	print_counts();
	return 0;
}
