/*
 * A program with an allocator of its own: it sees the program's calls and nobody else's, and nobody
 * calls it before it is ready. Built with -fno-builtin, or calloc would become a call of itself.
 */
#include "hostile.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HEAP_BYTES = 64 << 20, HEADER_BYTES = 16 };

static char heap[HEAP_BYTES] __attribute__((aligned(16)));
static size_t used, allocations;

void *malloc(size_t size)
{
	size_t whole = (size + HEADER_BYTES + 15) & ~(size_t)15;
	size_t at = __atomic_fetch_add(&used, whole, __ATOMIC_RELAXED);

	__atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
	if (at + whole > HEAP_BYTES)
		return NULL;
	*(size_t *)(heap + at) = size;
	return heap + at + HEADER_BYTES;
}

void free(void *block)
{
	(void)block;
}

void *calloc(size_t count, size_t size)
{
	return malloc(count * size); /* never reused, so it is zero */
}

void *realloc(void *old, size_t size)
{
	void *block = malloc(size);

	if (old && block) {
		size_t before = *(size_t *)((char *)old - HEADER_BYTES);

		memcpy(block, old, before < size ? before : size);
	}
	return block;
}

NOINLINE static long fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void *copy_texts(void *argument)
{
	long *sum = argument;

	for (int i = 0; i < 1000; i++)
		*sum += (long)strlen(strdup("a text")) + fib(5);
	return NULL;
}

static void run_count(void)
{
	size_t before = allocations;
	long sum = 0;

	for (int i = 0; i < 100; i++)
		fib(10);
	printf("computing allocates %zu\n", allocations - before);
	copy_texts(&sum);
	printf("1000 copies allocate %zu, sum %ld\n", allocations - before, sum);
}

static void run_threads(void)
{
	pthread_t threads[4];
	long sums[4] = {0};
	size_t before = allocations;

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, copy_texts, &sums[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("allocations %zu, sum %ld\n", allocations - before, sums[0] + sums[3]);
}

static void run_library(void)
{
	size_t before = allocations;
	void *math = dlopen("libm.so.6", RTLD_NOW);

	printf("opening a library allocates %zu\n", allocations - before);
	CHECK(math && !dlclose(math));
}

static void run_child(void)
{
	size_t before = allocations;
	int status;

	if (fork() == 0)
		_exit((int)(allocations - before));
	wait(&status);
	printf("a child allocates %d\n", WEXITSTATUS(status));
}

static void run_start(void)
{
	printf("before main %zu\n", allocations);
}

static const struct hostile_case cases[] = {
	{"count", run_count}, {"threads", run_threads}, {"library", run_library},
	{"child", run_child}, {"start", run_start},	{0},
};

int main(int argc, char **argv)
{
	return hostile_main(argc, argv, cases);
}
