/*
 * A coroutine and main() in turns: inner-stack frame has its stack in an array of main()'s, else it
 * is static. What is called is the same, in the same order.
 */
#include <stdio.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { STACK_BYTES = 65536 };

static ucontext_t back, coroutine;
static volatile int sum;

NOINLINE void leaf(void)
{
	sum++;
}

NOINLINE void yield(void)
{
	swapcontext(&coroutine, &back);
}

NOINLINE void helper(void)
{
	leaf();
	yield();
	leaf();
}

NOINLINE void body(void)
{
	for (int i = 0; i < 3; i++)
		helper();
}

NOINLINE void resume(void)
{
	swapcontext(&back, &coroutine);
	sum++;
}

NOINLINE void own(void)
{
	leaf();
	sum++;
}

int main(int argc, char **argv)
{
	static char elsewhere[STACK_BYTES];
	char inner[STACK_BYTES];
	int is_inner = argc > 1 && *argv[1] == 'f';

	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = is_inner ? inner : elsewhere;
	coroutine.uc_stack.ss_size = STACK_BYTES;
	coroutine.uc_link = &back;
	makecontext(&coroutine, body, 0);
	for (int i = 0; i < 4; i++) {
		resume();
		own();
	}
	printf("%d\n", sum);
	return 0;
}
