/*
 * Language extensions that put code where none is expected, or choose it late. GCC only: clang has
 * no nested functions.
 */
#include "hostile.h"

#include <dlfcn.h>
#include <unistd.h>

static int call_twice(int (*function)(int), int number)
{
	return function(number) + function(number + 1);
}

/* A nested function whose address is taken: the compiler writes a trampoline on the stack. */
NOINLINE static int with_trampoline(int base)
{
	int calls = 0;
	int inner(int number)
	{
		calls++;
		return number > 0 ? number + base + inner(number - 2) : base;
	}

	return call_twice(inner, base) * 100 + calls;
}

static void run_trampolines(void)
{
	long sum = 0;

	for (int i = 0; i < 1000; i++)
		sum += with_trampoline(i % 20);
	printf("sum %ld\n", sum);
}

__attribute__((target_clones("default,avx2,avx512f"))) long cloned_sum(const int *numbers,
								       int count);
long cloned_sum(const int *numbers, int count)
{
	long sum = 0;

	for (int i = 0; i < count; i++)
		sum += numbers[i] * 3 + 1;
	return sum;
}

static void run_target_clones(void)
{
	static int numbers[1000];
	long sum = 0;

	for (int i = 0; i < 1000; i++)
		numbers[i] = i;
	for (int i = 0; i < 1000; i++)
		sum += cloned_sum(numbers, i);
	printf("sum %ld\n", sum);
}

extern int not_there(int) __attribute__((weak));

NOINLINE int weak_one(int number) __attribute__((weak));
int weak_one(int number)
{
	return number + 1;
}

static void run_weak(void)
{
	int sum = 0;

	for (int i = 0; i < 100; i++)
		sum += weak_one(not_there ? not_there(i) : i);
	printf("sum %d\n", sum);
}

__attribute__((naked, noinline)) static long naked(long number)
{
	(void)number;
	__asm__("lea 3(%rdi, %rdi), %rax\n\tret");
}

__attribute__((noinline)) static long with_goto(long number)
{
	__asm__ goto("test $1, %0\n\tjne %l[odd]" : : "r"(number) : "cc" : odd);
	return number / 2;
odd:
	return number * 3 + 1;
}

static void run_assembly(void)
{
	long sum = 0;

	for (int i = 1; i < 300; i++) {
		sum += naked(i);
		for (long number = i; number != 1; sum++)
			number = with_goto(number);
	}
	printf("sum %ld\n", sum);
}

/* What -finstrument-functions calls: entries and exits with addresses that have names. */
static int depth, deepest, entered;

#define NOT_HOOKED __attribute__((no_instrument_function))

NOT_HOOKED void __cyg_profile_func_enter(void *function, void *from);
void __cyg_profile_func_enter(void *function, void *from)
{
	(void)function;
	entered += hostile_is_own_code((uintptr_t)from);
	depth++;
	if (depth > deepest)
		deepest = depth;
}

NOT_HOOKED void __cyg_profile_func_exit(void *function, void *from);
void __cyg_profile_func_exit(void *function, void *from)
{
	(void)function;
	(void)from;
	depth--;
}

/* Compiled with -finstrument-functions; those around are not. */
extern long hooked_fib(long n);

static void run_hooks(void)
{
	printf("fib %ld, ", hooked_fib(15));
	printf("entered %d, depth %d, deepest %d\n", entered, depth, deepest);
}

static const struct hostile_case cases[] = {
	{"trampolines", run_trampolines},
	{"target-clones", run_target_clones},
	{"weak", run_weak},
	{"assembly", run_assembly},
	{"hooks", run_hooks},
	{0},
};

int main(int argc, char **argv)
{
	return hostile_main(argc, argv, cases);
}
