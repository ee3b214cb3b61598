/*
 * Calls of functions that have many names, by those of the imports; and code without a symbol of
 * its own: imports MS.
 *
 * In the C library strtol() stands where strtoimax() does, getpid() where __getpid().
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/*
 * A function whose symbol has no size, one that only unwind rules tell of, and far behind them code
 * that nothing tells of, which spins for as many rounds as rdi says.
 */
void sizeless(void);
void nameless_loop(uint64_t rounds);
__asm__(".text\n"
	".globl sizeless\n"
	"sizeless:\n"
	".cfi_startproc\n"
	"ret\n"
	".cfi_endproc\n"
	".balign 16\n"
	".cfi_startproc\n"
	"nop\n"
	"ret\n"
	".cfi_endproc\n"
	".zero 0x30000, 0xcc\n"
	".Lspin:\n"
	"dec %rdi\n"
	"jnz .Lspin\n"
	"ret\n"
	".globl nameless_loop\n"
	".type nameless_loop, @function\n"
	"nameless_loop:\n"
	".cfi_startproc\n"
	"jmp .Lspin\n"
	".cfi_endproc\n"
	".size nameless_loop, . - nameless_loop\n");

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	uint64_t end = now_ms() + (uint64_t)(argc > 1 ? atoi(argv[1]) : 0);
	long sum = 0;

	sizeless();
	for (int i = 0; i < 7; i++)
		sum += strtol("6", NULL, 10);
	for (int i = 0; i < 5; i++)
		sum += getpid() > 0;
	while (now_ms() < end)
		nameless_loop(1000000);
	printf("%ld\n", sum);
	return 0;
}
