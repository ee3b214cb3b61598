/*
 * A task on borrowed memory, as leak checkers make one: borrower MINE OTHERS. The program calls
 * work() MINE times; then a task that shares its memory and thread-local storage, has a stack of
 * its own and comes by no function of the C library calls it OTHERS times; then the program MINE
 * times again.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { STACK_BYTES = 1 << 20 };

static volatile long sum;

NOINLINE void work(long n)
{
	sum += n;
}

NOINLINE void mine(long n)
{
	for (long i = 0; i < n; i++)
		work(i);
}

NOINLINE void others(long n)
{
	for (long i = 0; i < n; i++)
		work(i);
}

static long call(long number, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;

	__asm__ volatile("syscall"
			 : "+a"(number)
			 : "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return number;
}

/* Let a task call others(@n) on the stack below @top, and wait for it. */
static NOINLINE void lend(long *top, long n)
{
	const long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_UNTRACED;
	long pid = SYS_clone;

	*--top = n;
	*--top = (long)others;
	__asm__ volatile("xor %%edx, %%edx\n\t"
			 "xor %%r10d, %%r10d\n\t"
			 "xor %%r8d, %%r8d\n\t"
			 "syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "pop %%rax\n\t"
			 "pop %%rdi\n\t"
			 "call *%%rax\n\t"
			 "mov %2, %%eax\n\t"
			 "xor %%edi, %%edi\n\t"
			 "syscall\n"
			 "1:"
			 : "+a"(pid), "+S"(top)
			 : "i"(SYS_exit), "D"(flags)
			 : "rcx", "rdx", "r8", "r10", "r11", "memory");
	if (pid < 0)
		exit(1);
	while (call(SYS_wait4, pid, 0, __WALL, 0) != pid)
		;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[1]) : 0, more = argc > 2 ? atol(argv[2]) : 0;
	char *stack =
		mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED)
		return 1;
	mine(n);
	lend((long *)(stack + STACK_BYTES), more);
	mine(n);
	printf("%ld\n", sum);
	return 0;
}
