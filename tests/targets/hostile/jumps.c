/*
 * Leaving functions by other ways than returning: longjmp in all its forms, contexts, labels of
 * enclosing functions.
 */
#include "hostile.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { LEVELS = 40 };

static jmp_buf levels[LEVELS];
static sigjmp_buf from_handler;
static volatile long count;
static volatile sig_atomic_t signals;

NOINLINE static int down(int depth, int level)
{
	count++;
	if (depth == 0)
		longjmp(levels[level], 1);
	return depth < 0 ? 0 : down(depth - 1, level) + 1;
}

NOINLINE static int climb(int wanted)
{
	volatile int level = wanted;

	if (level == LEVELS)
		return 0;
	if (setjmp(levels[level]) == 0)
		down(level * 3 + 5, level);
	else
		count += climb(level + 1);
	return level;
}

static void run_levels(void)
{
	for (int i = 0; i < 500; i++)
		climb(0);
	printf("count %ld\n", count);
}

NOINLINE static long fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void on_signal_leave(int number)
{
	signals++;
	fib(5);
	siglongjmp(from_handler, number);
}

static void run_handler(void)
{
	volatile int got = 0;

	signal(SIGUSR1, on_signal_leave);
	for (volatile int i = 0; i < 3000; i++) {
		int number = sigsetjmp(from_handler, 1);

		if (number == 0)
			raise(SIGUSR1);
		got += number;
	}
	printf("got %d, signals %d\n", got, (int)signals);
}

/* Torn out of any instruction of a computation, which then starts again. */
static void run_timer(void)
{
	struct itimerval every = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
	volatile int torn = 0;
	long result;

	signal(SIGALRM, on_signal_leave);
	if (sigsetjmp(from_handler, 1))
		torn++;
	else
		setitimer(ITIMER_REAL, &every, NULL);
	if (torn >= 300)
		setitimer(ITIMER_REAL, &never, NULL);
	do {
		result = fib(16);
	} while (torn < 300);
	printf("fib %ld, torn at least %d\n", result, 300);
}

static char alternate[65536];

static void run_altstack(void)
{
	stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
	struct sigaction action = {.sa_handler = on_signal_leave, .sa_flags = SA_ONSTACK};
	volatile int got = 0;

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR2, &action, NULL);
	for (volatile int i = 0; i < 1000; i++) {
		if (sigsetjmp(from_handler, 1) == 0)
			raise(SIGUSR2);
		else
			got++;
	}
	printf("got %d\n", got);
}

static void *builtin_buffer[5];

NOINLINE static void builtin_down(int depth)
{
	count++;
	if (depth == 0)
		__builtin_longjmp(builtin_buffer, 1);
	builtin_down(depth - 1);
	count--;
}

/* The compiler's own longjmp: the address of a label of this function is in the buffer. */
static void run_builtin(void)
{
	volatile int got = 0;

	for (volatile int i = 0; i < 2000; i++) {
		if (__builtin_setjmp(builtin_buffer) == 0)
			builtin_down(i % 20);
		else
			got++;
	}
	printf("got %d, count %ld\n", got, count);
}

static void run_context(void)
{
	ucontext_t context;
	volatile int rounds = 0;

	getcontext(&context);
	rounds++;
	if (rounds < 2000) {
		fib(5);
		setcontext(&context);
	}
	printf("rounds %d\n", rounds);
}

static jmp_buf never_returns;

__attribute__((noreturn, noinline)) static void leave(int value)
{
	longjmp(never_returns, value);
}

/* Its last instruction is a call that does not return: the return address is past its end. */
NOINLINE static int ends_with_a_call(int value)
{
	if (value < 0)
		return value;
	leave(value + 1);
}

static void run_noreturn(void)
{
	volatile long sum = 0;

	for (volatile int i = -500; i < 500; i++) {
		int value = setjmp(never_returns);

		sum += value ? value : ends_with_a_call(i);
	}
	printf("sum %ld\n", sum);
}

static void run_after_vfork(void)
{
	volatile int sum = 0;

	for (volatile int i = 0; i < 20; i++) {
		int status = 0;
		pid_t child = vfork();

		if (child == 0)
			_exit(i);
		waitpid(child, &status, 0);
		sum += WEXITSTATUS(status);
		if (setjmp(levels[0]) == 0)
			down(3, 0);
	}
	printf("sum %d, count %ld\n", sum, count);
}

#ifndef __clang__
static void call_it(void (*function)(int), int argument)
{
	function(argument);
}

/* A nested function goes to a label of the one around it. */
NOINLINE static int enclosing(int depth)
{
	__label__ outside;
	int seen = 0;
	void inner(int left)
	{
		seen++;
		if (left == 0)
			goto outside;
		call_it(inner, left - 1);
	}

	call_it(inner, depth);
	return -1;
outside:
	return seen;
}

static void run_nested_function(void)
{
	int sum = 0;

	for (int i = 0; i < 1000; i++)
		sum += enclosing(i % 17);
	printf("sum %d\n", sum);
}
#endif

static const struct hostile_case cases[] = {
	{"levels", run_levels},
	{"handler", run_handler},
	{"timer", run_timer},
	{"altstack", run_altstack},
	{"builtin", run_builtin},
	{"context", run_context},
	{"noreturn", run_noreturn},
	{"after-vfork", run_after_vfork},
#ifndef __clang__
	{"nested-function", run_nested_function},
#endif
	{0},
};

int main(int argc, char **argv)
{
	return hostile_main(argc, argv, cases);
}
