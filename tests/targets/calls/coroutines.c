/*
 * coroutines KIND: two of them and main go round, each in recursion of its own: "context" by
 * swapcontext(), "own" by a switch in assembly that is a function of this program.
 */
#include "counted.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { TIMES = 10000, STACK_BYTES = 64 << 10, SHORT = 500 };

void switch_stack(void **from, void *to);
void ping(void);
void pong(void);
void short_one(void);
unsigned rest(unsigned n);
void go(int from, int to);
void round_and_round(int self, int other);

static ucontext_t contexts[3];
static void *stacks[3];
static int is_own;

OWN unsigned rest(unsigned n)
{
	unsigned got;

	COUNTED();
	got = n ? rest(n - 1) + 1 : 0;
	BARRIER();
	return got;
}

OWN void go(int from, int to)
{
	COUNTED();
	if (is_own)
		switch_stack(&stacks[from], stacks[to]);
	else
		swapcontext(&contexts[from], &contexts[to]);
	BARRIER();
}

OWN void round_and_round(int self, int other)
{
	COUNTED();
	for (int i = 0; i < TIMES; i++) {
		rest((unsigned)(i % 3));
		go(self, other);
	}
	BARRIER();
}

OWN void ping(void)
{
	COUNTED();
	round_and_round(1, 2);
	go(1, 0);
	abort();
}

OWN void pong(void)
{
	COUNTED();
	round_and_round(2, 0);
	go(2, 1);
	abort();
}

OWN void short_one(void)
{
	COUNTED();
	rest(2);
	go(1, 0);
	abort();
}

static void start(int i, char *stack, void (*body)(void))
{
	void **top = (void **)(stack + STACK_BYTES);

	if (is_own) {
		*--top = NULL;			  /* the body's own return address, never used */
		*--top = (void *)(uintptr_t)body; /* where switch_stack() returns to */
		for (int saved = 0; saved < 6; saved++)
			*--top = NULL;
		stacks[i] = top;
	} else {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stack;
		contexts[i].uc_stack.ss_size = STACK_BYTES;
		makecontext(&contexts[i], body, 0);
	}
}

int main(int argc, char **argv)
{
	char *first = malloc(STACK_BYTES), *second = malloc(STACK_BYTES);

	is_own = argc > 1 && !strcmp(argv[1], "own");
	start(1, first, ping);
	start(2, second, pong);
	round_and_round(0, 1);
	/* One after the other on the same stack, none comes to its end. */
	for (int i = 0; i < SHORT; i++) {
		start(1, first, short_one);
		go(0, 1);
	}
	print_counts();
	return 0;
}
