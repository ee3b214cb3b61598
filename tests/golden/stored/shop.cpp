/*
 * A program for stored sessions: work in inlined and recursive functions, waits, a thread, a child,
 * and as many paths as the argument says (two to its power), more than a small tree has room for.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint64_t sink;

static inline uint64_t mix(uint64_t v)
{
	return v * 6364136223846793005u + 1442695040888963407u;
}

__attribute__((noinline)) static uint64_t price(uint64_t article)
{
	for (int i = 0; i < 300; i++)
		article = mix(article) ^ (article >> 7);
	return article;
}

/* Two functions a level, each of which calls both of the next. */
template <int Level> struct Shelf {
	__attribute__((noinline)) static uint64_t upper(int levels, uint64_t way)
	{
		if (levels == Level)
			return price(way);
		return (way & 1 ? Shelf<Level + 1>::upper : Shelf<Level + 1>::lower)(levels, way / 2) + 1;
	}

	__attribute__((noinline)) static uint64_t lower(int levels, uint64_t way)
	{
		if (levels == Level)
			return price(way + 1);
		return (way & 1 ? Shelf<Level + 1>::lower : Shelf<Level + 1>::upper)(levels, way / 2) + 2;
	}
};

template <> struct Shelf<16> {
	static uint64_t upper(int, uint64_t way) { return way; }
	static uint64_t lower(int, uint64_t way) { return way; }
};

__attribute__((noinline)) static unsigned count_boxes(unsigned n)
{
	return n ? count_boxes(n - 1) + (unsigned)price(n) : 0;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *static_cast<const uint64_t *>(a), y = *static_cast<const uint64_t *>(b);

	return x < y ? -1 : x > y;
}

__attribute__((noinline)) static void sort_orders()
{
	static thread_local uint64_t orders[2000];

	for (uint64_t i = 0; i < 2000; i++)
		orders[i] = price(i);
	qsort(orders, 2000, sizeof *orders, compare);
	sink = sink + orders[7];
}

static void *clerk(void *arg)
{
	for (int i = 0; i < 5; i++) {
		sort_orders();
		usleep(5000);
	}
	return arg;
}

int main(int argc, char **argv)
{
	int levels = argc > 1 ? atoi(argv[1]) : 4;
	int rounds = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t thread;
	pid_t child;

	pthread_create(&thread, nullptr, clerk, nullptr);
	for (int round = 0; round < rounds; round++) {
		for (uint64_t way = 0; way < 2u << levels; way++)
			sink = sink + (way & 1 ? Shelf<0>::upper : Shelf<0>::lower)(levels, way / 2);
		sink = sink + count_boxes(1000);
	}
	pthread_join(thread, nullptr);
	child = fork();
	if (child == 0) {
		sort_orders();
		_exit(0);
	}
	waitpid(child, nullptr, 0);
	puts("done");
	return 0;
}
