/*
 * signals [alternate]: a timer's handler calls functions, 5000 times a second, and is itself
 * interrupted by another one, while the program calls and returns. Ends after so many calls.
 */
#include "counted.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { CALLS = 3000000, NESTED_EACH = 4, ALTERNATE_BYTES = 64 << 10, PERIOD_US = 200 };

void handler(int signal);
void nested(int signal);
unsigned in_handler(unsigned n);
unsigned leaf(unsigned n);
unsigned caller(unsigned n);

OWN unsigned leaf(unsigned n)
{
	COUNTED();
	BARRIER();
	return n;
}

OWN unsigned caller(unsigned n)
{
	unsigned got;

	COUNTED();
	got = leaf(n) + leaf(n + 1);
	BARRIER();
	return got;
}

OWN unsigned in_handler(unsigned n)
{
	unsigned got;

	COUNTED();
	got = n ? in_handler(n - 1) : 0;
	BARRIER();
	return got;
}

OWN void nested(int signal)
{
	COUNTED();
	in_handler((unsigned)signal % 3);
	BARRIER();
}

OWN void handler(int signal)
{
	static unsigned n;

	COUNTED();
	in_handler(3);
	if (++n % NESTED_EACH == 0)
		raise(SIGUSR1);
	in_handler((unsigned)signal % 3);
	BARRIER();
}

int main(int argc, char **argv)
{
	const stack_t alternate = {.ss_sp = malloc(ALTERNATE_BYTES), .ss_size = ALTERNATE_BYTES};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	struct itimerval every = {{0, PERIOD_US}, {0, PERIOD_US}}, never = {{0, 0}, {0, 0}};
	timer_t timer;
	struct itimerspec fast = {{0, PERIOD_US * 1000}, {0, PERIOD_US * 1000}};

	if (argc > 1 && !strcmp(argv[1], "alternate")) {
		action.sa_flags |= SA_ONSTACK;
		sigaltstack(&alternate, NULL);
	}
	sigaction(SIGALRM, &action, NULL);
	action.sa_handler = nested;
	sigaction(SIGUSR1, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	if (!timer_create(CLOCK_MONOTONIC, NULL, &timer))
		timer_settime(timer, 0, &fast, NULL);
	for (unsigned i = 0; i < CALLS; i++)
		caller(i);
	timer_delete(timer);
	setitimer(ITIMER_REAL, &never, NULL);
	print_counts();
	return 0;
}
