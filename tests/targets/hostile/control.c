/*
 * Control flow that compilers make: switches of all densities, computed goto, tail calls, callbacks
 * through libraries, functions as values.
 */
#include "hostile.h"

#include <dirent.h>
#include <fnmatch.h>
#include <pthread.h>
#include <search.h>

NOINLINE static long dense(long which, long number)
{
	switch (which) {
	case 0:
		return number + 1;
	case 1:
		return number * 3;
	case 2:
		printf("two ");
		return 5;
	case 3:
		return number ^ 55;
	case 4:
		return number >> 1;
	case 5:
		return -number;
	case 6:
		number += 3;
		/* fall through */
	case 7:
		return number & 9;
	case 8:
		return number / 7;
	case 9:
		return number % 13;
	case 10:
		return number;
	default:
		return 0;
	}
}

NOINLINE static int sparse(int which)
{
	switch (which) {
	case -2000000000:
		return 1;
	case -5:
		return 2;
	case 0 ... 3:
		return 3;
	case 77:
		return 4;
	case 1000 ... 100000:
		return 5;
	case 2000000000:
		return 6;
	default:
		return 7;
	}
}

/* Case bodies of a few bytes each. */
NOINLINE static unsigned tiny_cases(unsigned which, unsigned a)
{
	switch (which) {
	case 0:
		a++;
		break;
	case 1:
		a--;
		break;
	case 2:
		a = ~a;
		break;
	case 3:
		a = -a;
		break;
	case 4:
		a <<= 1;
		break;
	case 5:
		a >>= 1;
		break;
	case 6:
		return 0;
	case 7:
		__builtin_unreachable();
	}
	return a;
}

/* The loop is entered in its middle. */
NOINLINE static int copy_device(char *to, const char *from, int count)
{
	int rounds = (count + 7) / 8;

	switch (count % 8) {
	case 0:
		do {
			*to++ = *from++;
			/* fall through */
		case 7:
			*to++ = *from++;
			/* fall through */
		case 6:
			*to++ = *from++;
			/* fall through */
		case 5:
			*to++ = *from++;
			/* fall through */
		case 4:
			*to++ = *from++;
			/* fall through */
		case 3:
			*to++ = *from++;
			/* fall through */
		case 2:
			*to++ = *from++;
			/* fall through */
		case 1:
			*to++ = *from++;
		} while (--rounds > 0);
	}
	return rounds;
}

static void run_switches(void)
{
	char from[64] = "the quick brown fox jumps over the lazy dog and more than that", to[64];
	unsigned tiny = 1;
	long sum = 0;

	for (int i = 0; i < 200000; i++) {
		sum += dense(i % 12 == 2 ? 1 : i % 12, i);
		tiny = tiny_cases((unsigned)i % 6, tiny + (unsigned)i);
	}
	for (int i = -3000; i < 3000; i++)
		sum += sparse(i * 700001) + sparse(i);
	for (int i = 1; i < 60; i++) {
		memset(to, 0, sizeof(to));
		copy_device(to, from, i);
		CHECK(strlen(to) == (size_t)i);
	}
	printf("%ld\nsum %ld, tiny %u\n", dense(2, 0), sum, tiny);
}

/* A virtual machine as interpreters have it: every instruction jumps to the next one. */
NOINLINE static long interpret(const unsigned char *program, long steps)
{
	static const void *const labels[] = {&&add, &&twice, &&halve, &&flip, &&jump, &&stop};
	static const int offsets[] = {0, &&twice - &&add, &&halve - &&add, &&flip - &&add};
	const unsigned char *at = program;
	long a = 1;

#define NEXT goto *(--steps > 0 ? labels[*at++] : labels[5])
	NEXT;
add:
	a += 7;
	NEXT;
twice:
	a *= 2;
	NEXT;
halve:
	a /= 3;
	if (a & 1)
		goto *(&&add + offsets[a & 3]);
	NEXT;
flip:
	a ^= 0x55;
	NEXT;
jump:
	at = program;
	NEXT;
stop:
	return a;
#undef NEXT
}

static void run_interpreter(void)
{
	unsigned char program[1000];
	unsigned x = 1;
	long sum = 0;

	for (int i = 0; i < 999; i++) {
		x = x * 1103515245 + 12345;
		program[i] = (unsigned char)((x >> 16) % 4);
	}
	program[999] = 4;
	for (int i = 0; i < 50; i++)
		sum += interpret(program, 10000 + i);
	printf("sum %ld\n", sum);
}

/* States that call each other by tail calls: optimized, this needs no stack. */
struct machine {
	long left, count[3];
};

static int state_b(struct machine *machine);
static int state_c(struct machine *machine);

NOINLINE static int state_a(struct machine *machine)
{
	machine->count[0]++;
	if (machine->left-- <= 0)
		return 1;
	return machine->left & 1 ? state_b(machine) : state_c(machine);
}

NOINLINE static int state_b(struct machine *machine)
{
	static int (*const next[])(struct machine *) = {state_a, state_b, state_c};

	machine->count[1]++;
	if (machine->left-- <= 0)
		return 2;
	return next[machine->left % 3](machine);
}

NOINLINE static int state_c(struct machine *machine)
{
	machine->count[2]++;
	if (machine->left-- <= 0)
		return 3;
	return machine->left % 5 ? state_a(machine) : state_b(machine);
}

static bool is_even(unsigned n);

NOINLINE static bool is_odd(unsigned n)
{
	return n == 0 ? false : is_even(n - 1);
}

NOINLINE static bool is_even(unsigned n)
{
	return n == 0 ? true : is_odd(n - 1);
}

static void run_tail_calls(void)
{
#ifdef __OPTIMIZE__
	struct machine machine = {.left = 3000000};
#else
	struct machine machine = {.left = 20000};
#endif
	int last = state_a(&machine);

	CHECK(machine.count[0] + machine.count[1] + machine.count[2] > machine.left);
	CHECK(last >= 1 && last <= 3);
	CHECK(is_even(1000) && is_odd(1001) && !is_even(999));
	printf("last %d\n", last);
}

static int compare(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

static int compare_with(const void *left, const void *right, void *count)
{
	++*(long *)count;
	return compare(left, right);
}

static long visited;

static void visit(const void *node, VISIT which, int depth)
{
	visited += which * 3 + depth + **(const int *const *)node;
}

static int choose(const struct dirent *entry)
{
	return !fnmatch("s*", entry->d_name, 0);
}

static void run_callbacks(void)
{
	static int numbers[20000];
	int key = 4711, *found, count;
	void *root = NULL;
	struct dirent **entries;
	long compared = 0;

	for (int i = 0; i < 20000; i++)
		numbers[i] = (int)((i * 7919L) % 20011);
	qsort(numbers, 20000, sizeof(int), compare);
	found = bsearch(&key, numbers, 20000, sizeof(int), compare);
	qsort_r(numbers, 20000, sizeof(int), compare_with, &compared);
	for (int i = 0; i < 2000; i++)
		tsearch(&numbers[(i * 37) % 2000], &root, compare);
	twalk(root, visit);
	count = scandir("/proc/self", &entries, choose, alphasort);
	printf("found %d, compared %ld, visited %ld, names %d\n", found ? *found : -1, compared,
	       visited, count > 0);
}

static int once_count;

static void count_once(void)
{
	once_count++;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Functions keep their identity: their addresses compare equal wherever they come from. */
static void run_identity(void)
{
	static int (*volatile const kept[])(const void *, const void *) = {compare, compare};
	int (*volatile other)(const void *, const void *) = compare;
	int (*volatile text)(const char *) = puts;

	CHECK(kept[0] == kept[1] && kept[0] == other && text == puts);
	CHECK(hostile_is_own_code((uintptr_t)other));
	for (int i = 0; i < 3; i++)
		pthread_once(&once, count_once);
	text("puts through a pointer");
	printf("once %d\n", once_count);
}

NOINLINE __attribute__((cold)) static long rare(long number)
{
	return number * 17 % 1000;
}

/* Cold parts are split off and end up elsewhere. */
NOINLINE static long hot(long number)
{
	long sum = number;

	for (int i = 0; i < 20; i++) {
		if (__builtin_expect((sum & 1023) == 77, 0)) {
			sum += rare(sum);
			if (sum > 1000000)
				return rare(sum) - 5;
			sum ^= rare(number);
		}
		sum = sum * 5 + i;
	}
	return sum & 0xffff;
}

static void run_cold_parts(void)
{
	long sum = 0;

	for (int i = 0; i < 20000; i++)
		sum += hot(i);
	printf("sum %ld\n", sum);
}

NOINLINE static long variable_frames(int n)
{
	char variable[n + 1] __attribute__((aligned(1)));
	char *more = __builtin_alloca((size_t)n * 3 + 1);
	long sum = 0;

	memset(variable, n, sizeof(variable));
	memset(more, n + 1, (size_t)n * 3 + 1);
	for (int i = 0; i <= n; i++)
		sum += variable[i] * more[i * 3];
	return n ? sum + variable_frames(n - 1) : sum;
}

NOINLINE static long aligned_frame(long n, ...)
{
	long here[8] __attribute__((aligned(64)));
	char *more = __builtin_alloca((size_t)(n % 7) + 1);

	CHECK(((uintptr_t)here & 63) == 0);
	here[n & 7] = n;
	*more = (char)n;
	return (n ? aligned_frame(n - 1, n) : 0) + here[n & 7] + *more;
}

static void run_frames(void)
{
	printf("variable %ld, aligned %ld\n", variable_frames(60), aligned_frame(50));
}

static const struct hostile_case cases[] = {
	{"switches", run_switches},	{"interpreter", run_interpreter},
	{"tail-calls", run_tail_calls}, {"callbacks", run_callbacks},
	{"identity", run_identity},	{"cold-parts", run_cold_parts},
	{"frames", run_frames},		{0},
};

int main(int argc, char **argv)
{
	return hostile_main(argc, argv, cases);
}
