/*
 * small-stacks MODE BYTES: functions on stacks that end so many bytes below them, above a page that
 * nobody may touch; and what a handler on an alternate stack keeps there while others come.
 *
 *	coroutine	a new stack each time, and each again
 *	thread		the first function of a thread
 *	handler		the handler of a signal, on an alternate stack of what the kernel needs and
 *			BYTES
 *	child		a fork's child
 *	nested		large stacks; handlers that come all the time
 */
#include "counted.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, TIMES = 20, CANARIES = 64, HANDLERS = 300, ALTERNATE_BYTES = 64 << 10 };

/* What call_with_room() takes. */
struct room {
	void (*call)(void);
	char *low;
	size_t bytes;
};

void *call_with_room(void *room);
unsigned leaf(unsigned n);
unsigned twig(unsigned n);
void in_small(void);
void waits(void);
void forks(void);
void on_signal(int number);
void keeps(int number);
void comes(int number);

static volatile unsigned sink, handled, broken;

OWN unsigned leaf(unsigned n)
{
	COUNTED();
	BARRIER();
	return n + 1;
}

OWN unsigned twig(unsigned n)
{
	unsigned got;

	COUNTED();
	got = leaf(n) + leaf(n + 1);
	BARRIER();
	return got;
}

OWN void waits(void)
{
	COUNTED();
	poll(NULL, 0, 1);
	BARRIER();
}

OWN void in_small(void)
{
	COUNTED();
	for (unsigned i = 0; i < 3; i++)
		sink += twig(i);
	waits();
	sink += leaf(1);
	BARRIER();
}

OWN void forks(void)
{
	COUNTED();
	if (!fork()) {
		in_small();
		_exit(0);
	}
	BARRIER();
}

OWN void on_signal(int number)
{
	COUNTED();
	sink += (unsigned)number;
	in_small();
	BARRIER();
}

/* Comes while keeps() is on the alternate stack, all the time. */
OWN void comes(int number)
{
	volatile char mine[512];

	COUNTED();
	memset((char *)mine, number, sizeof(mine));
	handled++;
	BARRIER();
}

/* Calls what is new each time: each call's place is one of its own. */
OWN void keeps(int number)
{
	volatile unsigned canaries[CANARIES];
	unsigned until = handled + 3;

	COUNTED();
	for (unsigned i = 0; i < CANARIES; i++)
		canaries[i] = i * (unsigned)number;
	while (handled < until) {
		in_small();
		for (unsigned i = 0; i < CANARIES; i++)
			broken += canaries[i] != i * (unsigned)number;
	}
	BARRIER();
}

/* @bytes of stack, with a page below that ends the program. */
static char *make_stack(size_t bytes)
{
	size_t whole = (bytes + 2 * PAGE - 1) & -(size_t)PAGE;
	char *at = mmap(NULL, whole + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

	if (at == MAP_FAILED || mprotect(at, PAGE, PROT_NONE))
		exit(1);
	return at + PAGE;
}

static void handle(int number, void (*handler)(int), char *stack, size_t bytes, int flags)
{
	const stack_t alternate = {.ss_sp = stack, .ss_size = bytes};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK | flags};

	if (sigaltstack(&alternate, NULL) || sigaction(number, &action, NULL))
		exit(1);
}

static void nest(void)
{
	struct itimerval every = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
	char *stack = make_stack(ALTERNATE_BYTES);

	handle(SIGUSR1, keeps, stack, ALTERNATE_BYTES, 0);
	handle(SIGALRM, comes, stack, ALTERNATE_BYTES, SA_NODEFER);
	setitimer(ITIMER_REAL, &every, NULL);
	while (handled < HANDLERS)
		raise(SIGUSR1);
	setitimer(ITIMER_REAL, &never, NULL);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	size_t bytes = (argc > 2 ? strtoul(argv[2], NULL, 0) : 1024) & -(size_t)16;
	size_t whole = bytes + getauxval(AT_MINSIGSTKSZ);
	struct room room = {in_small, make_stack(whole), bytes + 8};
	pthread_t thread;

	if (!strcmp(mode, "child"))
		room.call = forks;
	for (int i = 0; i < TIMES && strcmp(mode, "nested"); i++) {
		if (!strcmp(mode, "thread")) {
			pthread_create(&thread, NULL, call_with_room, &room);
			pthread_join(thread, NULL);
		} else if (!strcmp(mode, "handler")) {
			handle(SIGUSR1, on_signal, room.low, whole, 0);
			raise(SIGUSR1);
		} else {
			call_with_room(&room);
			call_with_room(&room);
			room.low = make_stack(whole);
		}
		while (wait(NULL) > 0)
			;
	}
	if (!strcmp(mode, "nested"))
		nest();
	print_counts();
	return broken != 0;
}
