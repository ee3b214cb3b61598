/*
 * All that makes stacks hard to unwind, one after the other until it is killed: exceptions, signal
 * handlers on the same and on another stack, realigned frames, callbacks from the C library, calls
 * through the procedure linkage table, the vdso, alloca, deep and shallow calls, threads.
 */
#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
#include <vector>

static volatile double sink;
static volatile unsigned long count;

#define NOINLINE __attribute__((noinline))

static NOINLINE void spin(int n)
{
	for (int i = 0; i < n; i++)
		count += (unsigned long)i * 7;
}

struct Guard {
	int n;
	explicit Guard(int v) : n(v)
	{
	}
	~Guard()
	{
		spin(n);
	}
};

static NOINLINE int thrower(int depth)
{
	Guard guard(20);
	std::string text(static_cast<size_t>(depth) * 9, 'x');

	if (depth == 0)
		throw std::runtime_error("bottom " + text);
	return thrower(depth - 1) + static_cast<int>(text.size());
}

static NOINLINE void exceptions()
{
	for (int i = 0; i < 800; i++) {
		try {
			sink = sink + thrower(i % 12);
		} catch (const std::exception &e) {
			count += strlen(e.what());
		}
	}
}

typedef double vector8 __attribute__((vector_size(64)));

/* A frame that must be aligned to 64 bytes, of a size not known when compiling. */
static NOINLINE double realigned(int n, double (*next)(int))
{
	volatile vector8 v = {1, 2, 3, 4, 5, 6, 7, 8};
	auto *room = static_cast<volatile char *>(__builtin_alloca(static_cast<size_t>(n)));

	room[n - 1] = 1;
	for (int i = 0; i < 300; i++)
		v = v * 1.0001;
	return v[3] + next(n) + room[n - 1];
}

static NOINLINE double leaf(int n)
{
	spin(n * 10);
	return n;
}

static NOINLINE double realigned_again(int n)
{
	return n > 64 ? realigned(n / 2, realigned_again) : leaf(n);
}

static NOINLINE int compare(const void *a, const void *b)
{
	spin(5);
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

static NOINLINE void callbacks()
{
	std::vector<int> v(1000);
	unsigned seed = 1;

	for (auto &x : v)
		x = static_cast<int>((seed = seed * 1103515245 + 12345) >> 8);
	qsort(v.data(), v.size(), sizeof v[0], compare);
	std::map<std::string, int> m;
	for (int x : v)
		m[std::to_string(x % 97)] += x;
	count += m.size();
}

static NOINLINE void library_calls()
{
	char a[256], b[256];

	for (int i = 0; i < 20000; i++) {
		memset(a, 'a', sizeof a);
		a[i % 200] = 0;
		strcpy(b, a);
		count += strlen(b) + static_cast<size_t>(atoi("12345")) +
			 static_cast<size_t>(strcmp(a, b));
		free(malloc(static_cast<size_t>(i)));
	}
}

static NOINLINE void read_clock()
{
	struct timespec t;

	for (int i = 0; i < 20000; i++) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		count += static_cast<unsigned long>(t.tv_nsec);
	}
}

static void on_signal(int)
{
	int saved = static_cast<int>(count);
	double v = realigned(100, leaf);

	sink = sink + v + saved;
}

static NOINLINE void signals()
{
	for (int i = 0; i < 30; i++) {
		raise(SIGUSR1);
		raise(SIGUSR2); /* on a stack of its own */
	}
}

static sigjmp_buf out;

static void on_fault(int)
{
	spin(20000);
	siglongjmp(out, 1);
}

/* A fault in the middle of a function: the interrupted address is no return address. */
static NOINLINE void faults()
{
	for (int i = 0; i < 10; i++)
		if (!sigsetjmp(out, 1))
			*reinterpret_cast<volatile int *>(static_cast<uintptr_t>(i) + 8) = 1;
}

static NOINLINE unsigned long ladder(int depth)
{
	volatile char room[40];

	room[depth % 40] = static_cast<char>(depth);
	if (depth == 0) {
		spin(200000);
		return 1;
	}
	return ladder(depth - 1) + static_cast<unsigned long>(room[depth % 40]);
}

static void install(int number, void (*handler)(int), int flags)
{
	struct sigaction act = {};

	act.sa_handler = handler;
	act.sa_flags = flags;
	sigaction(number, &act, nullptr);
}

static void *worker(void *)
{
	for (int i = 0; i < 8; i++) {
		count += ladder(30);
		callbacks();
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], nullptr, 10) : -1;
	const size_t alt_bytes = 1 << 20;
	stack_t alt = {};

	alt.ss_size = alt_bytes;
	alt.ss_sp = mmap(nullptr, alt_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	sigaltstack(&alt, nullptr);
	install(SIGUSR1, on_signal, 0);
	install(SIGUSR2, on_signal, SA_ONSTACK);
	install(SIGSEGV, on_fault, SA_ONSTACK | SA_NODEFER);
	while (rounds--) {
		pthread_t thread;

		exceptions();
		sink = sink + realigned_again(1000);
		callbacks();
		library_calls();
		read_clock();
		signals();
		faults();
		count += ladder(100);
		pthread_create(&thread, nullptr, worker, nullptr);
		worker(nullptr);
		pthread_join(thread, nullptr);
	}
	printf("%lu\n", static_cast<unsigned long>(count & 0));
	return 0;
}
