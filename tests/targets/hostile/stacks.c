/*
 * More stacks than the system's: contexts, coroutines switched by hand on 4 KB, calls on another
 * stack, red zones in use while code jumps, stacks that are not aligned.
 */
#include "hostile.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

enum { COROUTINES = 64, SMALL_BYTES = 4096, CONTEXTS = 8, CONTEXT_BYTES = 65536 };

/* Defined in stacks-x86-64.S. */
extern void switch_stack(void **save, void *to);
extern void coroutine_start(void);
extern long call_on(void *stack_top, long (*function)(long), long argument);
extern void exit_misaligned(int status) __attribute__((noreturn));
extern long call_misaligned(long (*function)(long), long argument);

struct coroutine {
	void *stack_pointer;
	long sum;
	int number;
};

static struct coroutine coroutines[COROUTINES];
static void *main_stack_pointer;
static ucontext_t main_context, contexts[CONTEXTS];
static long sum;

NOINLINE static long fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

NOINLINE static void yield(struct coroutine *me)
{
	switch_stack(&me->stack_pointer, main_stack_pointer);
}

NOINLINE static long work_and_yield(struct coroutine *me, int depth)
{
	if (depth == 0) {
		yield(me);
		return 1;
	}
	return work_and_yield(me, depth - 1) + work_and_yield(me, depth - 1);
}

/* Called from coroutine_start on the new stack; never returns. */
void coroutine_body(struct coroutine *me);
void coroutine_body(struct coroutine *me)
{
	for (;;)
		me->sum += work_and_yield(me, 1 + me->number % 4);
}

/* A stack of 4 KB between two pages that must not be touched. */
static void *new_small_stack(void)
{
	char *map = mmap(NULL, 3 * SMALL_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED || mprotect(map + SMALL_BYTES, SMALL_BYTES, PROT_READ | PROT_WRITE))
		abort();
	return map + 2 * SMALL_BYTES;
}

static void start_coroutines(void)
{
	for (int i = 0; i < COROUTINES; i++) {
		void **top = new_small_stack();

		*--top = NULL;
		*--top = (void *)coroutine_start;
		top -= 6; /* what switch_stack pops */
		memset(top, 0, 6 * sizeof(*top));
		top[0] = &coroutines[i];
		coroutines[i].stack_pointer = top;
		coroutines[i].number = i;
	}
}

static void run_by_hand(void)
{
	start_coroutines();
	for (int i = 0; i < 200000; i++)
		switch_stack(&main_stack_pointer, coroutines[i % COROUTINES].stack_pointer);
	for (int i = 0; i < COROUTINES; i++)
		sum = sum * 31 + coroutines[i].sum;
	printf("sum %ld\n", sum);
}

static char alternate[65536];
static volatile sig_atomic_t handled;

static void on_timer(int number)
{
	(void)number;
	handled++;
	fib(3);
}

static void run_with_signals(void)
{
	stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
	struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_ONSTACK};
	struct itimerval every = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};

	sigaltstack(&stack, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	start_coroutines();
	for (int i = 0; i < 100000 || handled < 200; i++)
		switch_stack(&main_stack_pointer, coroutines[i % COROUTINES].stack_pointer);
	setitimer(ITIMER_REAL, &never, NULL);
	puts("200 signals among coroutines");
}

NOINLINE static void yield_context(int i)
{
	swapcontext(&contexts[i], &main_context);
}

NOINLINE static long work_in_context(int i, int depth)
{
	if (depth == 0) {
		yield_context(i);
		return 1;
	}
	return work_in_context(i, depth - 1) + work_in_context(i, depth - 1);
}

static void context_body(int i)
{
	for (;;) {
		sum += work_in_context(i, 5);
		yield_context(i);
	}
}

static void run_contexts(void)
{
	for (int i = 0; i < CONTEXTS; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = malloc(CONTEXT_BYTES);
		contexts[i].uc_stack.ss_size = CONTEXT_BYTES;
		contexts[i].uc_link = &main_context;
		makecontext(&contexts[i], (void (*)(void))context_body, 1, i);
	}
	for (int i = 0; i < 50000; i++)
		swapcontext(&main_context, &contexts[i % CONTEXTS]);
	printf("sum %ld\n", sum);
}

static void context_ends(int a, int b)
{
	sum += fib(a) * b;
}

static void run_context_ends(void)
{
	static char stack[CONTEXT_BYTES];
	ucontext_t context;

	for (int i = 0; i < 5000; i++) {
		getcontext(&context);
		context.uc_stack.ss_sp = stack;
		context.uc_stack.ss_size = sizeof(stack);
		context.uc_link = &main_context;
		makecontext(&context, (void (*)(void))context_ends, 2, i % 10, i % 7);
		swapcontext(&main_context, &context);
	}
	printf("sum %ld\n", sum);
}

static long on_other_stack(long n)
{
	return fib(n) + (n > 0 ? on_other_stack(n - 1) : 0);
}

static void run_pivot(void)
{
	void *stack = new_small_stack();

	for (int i = 0; i < 2000; i++)
		sum += call_on(stack, on_other_stack, i % 12);
	printf("sum %ld\n", sum);
}

NOINLINE static long leaf_switch(int which, long a, long b)
{
	volatile long t1 = a, t2 = b, t3 = a ^ b, t4 = a * b, t5 = 7, t6 = 8;

	switch (which) {
	case 0:
		t1 += t2;
		break;
	case 1:
		t1 -= t3;
		break;
	case 2:
		t1 ^= t4;
		break;
	case 3:
		t1 = t2 * 3 + t5;
		break;
	case 4:
		t1 = t6;
		break;
	case 5:
		t1 = t3 + t4;
		break;
	case 6:
		return t5;
	case 7:
		t2 = t1;
		break;
	default:
		t1 = 0;
	}
	return t1 + t2 * 2 + t3 * 3 + t4 * 5 + t5 * 7 + t6;
}

NOINLINE static long leaf_goto(const unsigned char *program)
{
	static const void *const labels[] = {&&a, &&b, &&c, &&d, &&e};
	volatile long state[4] = {1, 2, 3, 4};
	long accumulator = 0;

	goto *labels[*program++];
a:
	accumulator += state[accumulator & 3];
	goto *labels[*program++];
b:
	accumulator ^= state[1];
	state[2]++;
	goto *labels[*program++];
c:
	state[accumulator & 3] += accumulator;
	goto *labels[*program++];
d:
	accumulator = accumulator * 3 + state[2];
	goto *labels[*program++];
e:
	return accumulator + state[0] * 7 + state[3];
}

/* Leaf functions that keep values below the stack pointer across indirect jumps. */
static void run_red_zone(void)
{
	unsigned char program[1000];
	unsigned x = 1;

	for (int i = 0; i < 500000; i++)
		sum += leaf_switch(i % 9, i, sum & 1023);
	for (int i = 0; i < 999; i++) {
		x = x * 1103515245 + 12345;
		program[i] = (x >> 16) & 3;
	}
	program[999] = 4;
	for (int i = 0; i < 2000; i++)
		sum += leaf_goto(program + i % 500);
	printf("sum %ld\n", sum);
}

NOINLINE static uintptr_t address_at(int depth)
{
	volatile char here[16];

	here[0] = (char)depth;
	return (depth ? address_at(depth - 1) : (uintptr_t)__builtin_frame_address(0)) +
	       (here[0] & 0);
}

/* A program that measures its own stack: frames are as large as they are in a plain run. */
static void run_frame_size(void)
{
	printf("100 frames take %ld bytes\n", (long)(address_at(0) - address_at(100)));
}

static void at_exit(void)
{
	puts("at exit");
}

static void run_exit_misaligned(void)
{
	atexit(at_exit);
	exit_misaligned(0);
}

static void run_call_misaligned(void)
{
	for (int i = 0; i < 1000; i++)
		sum += call_misaligned(fib, i % 15);
	printf("sum %ld\n", sum);
}

static const struct hostile_case cases[] = {
	{"by-hand", run_by_hand},
	{"with-signals", run_with_signals},
	{"contexts", run_contexts},
	{"context-ends", run_context_ends},
	{"pivot", run_pivot},
	{"red-zone", run_red_zone},
	{"frame-size", run_frame_size},
	{"exit-misaligned", run_exit_misaligned},
	{"call-misaligned", run_call_misaligned},
	{0},
};

int main(int argc, char **argv)
{
	return hostile_main(argc, argv, cases);
}
