/*
 * Calls of each kind that a limit of overhead switches off, as many as are told: overhead-kinds KIND
 * prints "FUNCTION CALLS" for each function whose calls it knows. Each works until it has had some
 * hundred thousand calls in several slices of a recording.
 */
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE extern "C" __attribute__((noinline, noclone))

enum { MS = 500, THREADS = 6, EACH = 20000 };

static volatile uint64_t sink;
static __thread uint64_t made[8]; /* calls of this thread, as each kind says */
static uint64_t sums[8];

/* Of this thread's time: milliseconds since it asked first. */
static long passed()
{
	static __thread timespec start;
	timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!start.tv_sec)
		start = now;
	return (now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000;
}

static bool goes_on()
{
	return passed() < MS;
}

NOINLINE void odd(unsigned n);

NOINLINE void even(unsigned n)
{
	made[0]++;
	sink = sink + n;
	if (n)
		odd(n - 1);
	sink = sink + 1;
}

NOINLINE void odd(unsigned n)
{
	made[1]++;
	sink = sink + n;
	if (n)
		even(n - 1);
	sink = sink + 1;
}

static void recursion()
{
	for (int i = 0; i < EACH / 20; i++)
		even(40);
}

static jmp_buf back;

NOINLINE void jump(unsigned n)
{
	made[1]++;
	if (!n)
		longjmp(back, 1);
	if (sink + 1) /* always */
		jump(n - 1);
	sink = sink + 1;
}

NOINLINE void jumped(unsigned n)
{
	made[0]++;
	if (!setjmp(back))
		jump(n);
}

static void jumps()
{
	for (int i = 0; i < EACH; i++)
		jumped(i % 4);
}

struct guard {
	~guard()
	{
		sink = sink + 1;
	}
};

NOINLINE void thrower(unsigned n)
{
	guard g;

	made[1]++;
	if (!n)
		throw 1;
	if (sink + 1)
		thrower(n - 1);
	sink = sink + 1;
}

NOINLINE void catcher(unsigned n)
{
	made[0]++;
	try {
		thrower(n);
	} catch (int) {
		sink = sink + 1;
	}
}

static void exceptions()
{
	for (int i = 0; i < EACH / 20; i++)
		catcher(i % 3);
}

NOINLINE void last(unsigned n)
{
	made[2]++;
	sink = sink + n;
}

NOINLINE void middle(unsigned n)
{
	made[1]++;
	sink = sink + 1;
	last(n + 1); /* a jump */
}

/* Ends in a jump out of the program. */
NOINLINE int out(int n)
{
	made[3]++;
	sink = sink + 1;
	return abs(n) > 5 ? putenv((char *)"KINDS=1") : getpid();
}

NOINLINE void first(unsigned n)
{
	made[0]++;
	middle(n);
	sink = sink + (uint64_t)out((int)n);
}

static void tails()
{
	for (unsigned i = 0; i < EACH; i++)
		first(i % 4);
}

NOINLINE int late(int n)
{
	made[0]++;
	sink = sink + 1;
	return n < 0 ? rand() : n;
}

static int (*volatile chosen)(int) = late;

/* It is measured no more when it ends in a jump out of the program for the first time. */
static void late_tails()
{
	bool jumps = passed() > MS / 2;

	for (int i = 0; i < EACH; i++, made[1] += jumps)
		sink = sink + (uint64_t)chosen(jumps ? -1 : i);
}

NOINLINE void pointed(unsigned n)
{
	made[0]++;
	sink = sink + n;
}

static void (*volatile inside)(unsigned) = pointed;
static int (*volatile outside)() = rand;

NOINLINE void through_pointers(unsigned n)
{
	made[1]++;
	inside(n);
	sink = sink + (uint64_t)outside();
}

static void pointers()
{
	for (unsigned i = 0; i < EACH; i++, made[2]++)
		through_pointers(i);
}

NOINLINE void imported(unsigned n)
{
	made[0]++;
	sink = sink + n + (uint64_t)rand();
}

static void imports()
{
	for (unsigned i = 0; i < EACH; i++, made[1]++)
		imported(i);
}

static const struct {
	const char *kind, *names[4];
	void (*work)();
} kinds[] = {
	{"recursion", {"even", "odd"}, recursion},
	{"jumps", {"jumped", "jump"}, jumps},
	{"exceptions", {"catcher", "thrower"}, exceptions},
	{"tails", {"first", "middle", "last", "out"}, tails},
	{"late-tails", {"late", "rand"}, late_tails},
	{"pointers", {"pointed", "through_pointers", "rand"}, pointers},
	{"imports", {"imported", "rand"}, imports},
};

static void *work(void *arg)
{
	auto one = (void (*)())arg;

	while (goes_on())
		one();
	for (int i = 0; i < 8; i++)
		__atomic_fetch_add(&sums[i], made[i], __ATOMIC_RELAXED);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	bool has_threads = !strcmp(kind, "threads"), forks = !strcmp(kind, "forks");
	pthread_t threads[THREADS];
	int pipes[2];

	for (auto &k : kinds) {
		if (strcmp(k.kind, has_threads ? "recursion" : forks ? "imports" : kind))
			continue;
		for (int i = 0; has_threads && i < THREADS; i++)
			if (pthread_create(&threads[i], NULL, work, (void *)k.work))
				return 2;
		for (int i = 0; has_threads && i < THREADS; i++)
			pthread_join(threads[i], NULL);
		if (!has_threads)
			work((void *)k.work);
		for (int i = 0; forks && i < THREADS; i++) {
			if (pipe(pipes))
				return 2;
			if (!fork()) {
				memset(made, 0, sizeof made);
				for (int n = 0; n < 20; n++)
					k.work();
				_exit(write(pipes[1], made, sizeof made) != sizeof made);
			}
			if (read(pipes[0], made, sizeof made) != sizeof made)
				return 3;
			for (int n = 0; n < 8; n++)
				sums[n] += made[n];
			wait(NULL);
		}
		for (int i = 0; i < 4 && k.names[i]; i++)
			printf("%s %llu\n", k.names[i], (unsigned long long)sums[i]);
		return 0;
	}
	return 2;
}
