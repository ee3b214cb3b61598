/* longjmp() out of three levels, and out of handlers: on the same stack, on another one. */
#include "counted.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 2000, ALTERNATE_BYTES = 64 << 10 };

static sigjmp_buf back;

void one(int i);
void two(int i);
void three(int i);
void around(int i);
void raiser(int i);
void handler(int signal);
void in_handler(void);
unsigned after(unsigned n);

OWN void three(int i)
{
	COUNTED();
	if (i % 2)
		siglongjmp(back, 1);
	BARRIER();
}

OWN void two(int i)
{
	COUNTED();
	three(i);
	BARRIER();
}

OWN void one(int i)
{
	COUNTED();
	two(i);
	BARRIER();
}

OWN unsigned after(unsigned n)
{
	COUNTED();
	BARRIER();
	return n;
}

OWN void around(int i)
{
	COUNTED();
	if (!sigsetjmp(back, i % 4 == 1))
		one(i);
	after((unsigned)i);
	BARRIER();
}

OWN void in_handler(void)
{
	COUNTED();
	siglongjmp(back, 1);
}

OWN void handler(int signal)
{
	COUNTED();
	if (signal == SIGUSR1)
		in_handler();
	after(1);
	BARRIER();
}

OWN void raiser(int i)
{
	COUNTED();
	if (!sigsetjmp(back, 1))
		raise(i % 2 ? SIGUSR1 : SIGUSR2);
	after((unsigned)i);
	BARRIER();
}

int main(void)
{
	const stack_t alternate = {.ss_sp = malloc(ALTERNATE_BYTES), .ss_size = ALTERNATE_BYTES};
	struct sigaction action = {.sa_handler = handler};

	for (int i = 0; i < TIMES; i++)
		around(i);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	for (int i = 0; i < TIMES; i++)
		raiser(i);
	action.sa_flags = SA_ONSTACK;
	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	for (int i = 0; i < TIMES; i++)
		raiser(i);
	print_counts();
	return 0;
}
