/*
 * A program whose address space is its own: agent-memory MODE. Each mode makes what an agent needs
 * memory for (paths, depth, threads, stacks) and looks at what else has changed.
 *
 * holes   unmaps pieces of its memory, and maps them again at the same places: how many were taken
 * maps    addresses that are mapped at the end and were not at the beginning
 * space   lowers its limit of address space to what it has and what it needs, and takes that
 * data    the same with the limit of data
 * locked  locks its memory under a limit that it keeps to
 * spawn   a thread starts programs, from a stack with nothing above it that may be read
 * library MB FAR LIBRARY...  maps FAR MB, makes a hole of MB, opens the libraries where each just
 *         fits, some of them twice, and fills the hole
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { PAGE = 4096, THREADS = 24, DEPTH = 20000, TEXT = 1 << 20, RANGES = 4096 };

static volatile unsigned int sink;

__attribute__((noinline)) static void leaf(void)
{
	sink++;
}

__attribute__((noinline)) static void deep(int n)
{
	leaf();
	if (n > 0)
		deep(n - 1);
	sink++;
}

/* Levels of three functions each, which call all of the next: each way down is a path of its own.
 */
#define FUNCTION(name, next)                                       \
	__attribute__((noinline)) static void name(unsigned int n) \
	{                                                          \
		if (n) {                                           \
			next##_a(n - 1);                           \
			next##_b(n - 1);                           \
			next##_c(n - 1);                           \
		}                                                  \
		sink++;                                            \
	}
#define LEVEL(name, next) FUNCTION(name##_a, next) FUNCTION(name##_b, next) FUNCTION(name##_c, next)
#define end_a(n)	  leaf()
#define end_b(n)	  leaf()
#define end_c(n)	  leaf()
LEVEL(l11, end)
LEVEL(l10, l11)
LEVEL(l9, l10)
LEVEL(l8, l9)
LEVEL(l7, l8)
LEVEL(l6, l7)
LEVEL(l5, l6)
LEVEL(l4, l5)
LEVEL(l3, l4)
LEVEL(l2, l3)
LEVEL(l1, l2)
FUNCTION(wide, l1)

static void *in_thread(void *ctx)
{
	deep(100);
	wide(4);
	return ctx;
}

static void run_threads(void)
{
	pthread_t threads[THREADS];
	int n = 0;

	while (n < THREADS && !pthread_create(&threads[n], NULL, in_thread, NULL))
		n++;
	if (n < THREADS)
		printf("only %d threads\n", n);
	while (n--)
		pthread_join(threads[n], NULL);
}

/* Fill the gaps above @at, which the kernel prefers for what may lie anywhere. */
static void fill_gaps(char *at)
{
	for (size_t bytes = 64 << 20; bytes >= PAGE; bytes /= 2)
		while ((char *)mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) >
		       at)
			;
}

static int holes(void)
{
	static const size_t sizes[] = {PAGE, 4 * PAGE, 16 * PAGE, 64 << 10, 256 << 10, 1 << 20};
	enum { SIZES = sizeof sizes / sizeof *sizes, EACH = 8, BYTES = 64 << 20 };
	char *all = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *at = all + PAGE, *places[SIZES * EACH];
	int taken = 0;

	fill_gaps(all);
	for (int i = 0; i < SIZES * EACH; i++) {
		places[i] = at;
		munmap(at, sizes[i / EACH]);
		at += sizes[i / EACH] + PAGE;
	}
	run_threads();
	wide(9);
	run_threads();
	for (int i = 0; i < SIZES * EACH; i++)
		taken +=
			mmap(places[i], sizes[i / EACH], PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != places[i];
	printf("%d holes taken\n", taken);
	return 0;
}

/* Ranges of addresses, neighbours as one. */
struct ranges {
	unsigned long from[RANGES], to[RANGES];
	int n;
};

static void read_maps(struct ranges *ret)
{
	static char text[TEXT];
	int fd = open("/proc/self/maps", O_RDONLY), n = 0, more;
	unsigned long from, to;

	while ((more = read(fd, text + n, sizeof text - 1 - n)) > 0)
		n += more;
	text[n] = 0;
	close(fd);
	ret->n = 0;
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = 0;
		if (strstr(line, "[stack]") || sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		if (ret->n && ret->to[ret->n - 1] == from)
			ret->to[ret->n - 1] = to;
		else if (ret->n < RANGES)
			ret->from[ret->n] = from, ret->to[ret->n++] = to;
	}
}

static bool is_within(const struct ranges *r, unsigned long from, unsigned long to)
{
	for (int i = 0; i < r->n; i++)
		if (r->from[i] <= from && to <= r->to[i])
			return true;
	return false;
}

static int maps(void)
{
	static struct ranges before, after;
	int n = 0;

	printf("begin\n"); /* stdout has its memory */
	read_maps(&before);
	deep(DEPTH);
	wide(9);
	for (int i = 0; i < 3; i++)
		if (!fork())
			_exit(0);
	read_maps(&after);
	for (int i = 0; i < after.n; i++) {
		if (is_within(&before, after.from[i], after.to[i]))
			continue;
		n++;
		fprintf(stderr, "%lx-%lx\n", after.from[i], after.to[i]);
	}
	printf("%d ranges mapped anew\n", n);
	return 0;
}

/* Take @bytes in pieces, as malloc() does. How many there are. */
static size_t take(size_t bytes)
{
	size_t piece = 1 << 20, got = 0;

	while (got < bytes && mmap(NULL, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0) != MAP_FAILED)
		got += piece;
	return got;
}

/* The limit is what a plain run may have: little beside its threads' stacks and its memory. */
static int space(size_t limit)
{
	struct rlimit to = {limit, limit};
	pthread_attr_t attr;
	size_t needed = limit - (limit >> 3) - ((size_t)THREADS << 16);

	wide(5);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	pthread_setattr_default_np(&attr);
	if (setrlimit(RLIMIT_AS, &to))
		perror("setrlimit");
	run_threads();
	printf("%s\n", take(needed) >= needed ? "all taken" : "not all taken");
	run_threads();
	wide(8);
	getrlimit(RLIMIT_AS, &to);
	printf("limit %zu\n", (size_t)to.rlim_cur);
	return 0;
}

static int data(size_t limit)
{
	struct rlimit to = {limit, limit};
	size_t needed = limit - (limit >> 3);

	wide(5);
	if (setrlimit(RLIMIT_DATA, &to))
		perror("setrlimit");
	wide(11);
	deep(DEPTH);
	printf("%s\n", take(needed) >= needed ? "all taken" : "not all taken");
	return 0;
}

static int locked(size_t limit)
{
	struct rlimit to = {limit, limit};

	if (setrlimit(RLIMIT_MEMLOCK, &to))
		perror("setrlimit");
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		printf("mlockall: %s\n", strerror(errno));
	else
		printf("locked\n");
	wide(8);
	printf("%s\n", take(limit / 4) >= limit / 4 ? "all taken" : "not all taken");
	return 0;
}

static void *spawn_some(void *ctx)
{
	extern char **environ;
	char *argv[] = {(char *)"/bin/true", NULL};
	int error, status;
	pid_t pid;

	for (int i = 0; i < 4; i++) {
		error = posix_spawn(&pid, *argv, NULL, NULL, argv, environ);
		status = -1;
		if (!error)
			waitpid(pid, &status, 0);
		printf("error %d status %x\n", error, status);
	}
	return ctx;
}

/* The children's stack comes to lie right below the guard page of the thread's. */
static int spawn(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	printf("begin\n"); /* stdout has its memory */
	fill_gaps(mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	if (!pthread_create(&thread, &attr, spawn_some, NULL))
		pthread_join(thread, NULL);
	return 0;
}

/* Open the library at @path in a gap of @gap bytes at @at, and run it. Whether it lies there. */
static bool open_at(const char *path, char *at, size_t gap, void **ret)
{
	char *function;

	*ret = dlopen(path, RTLD_NOW);
	function = *ret ? dlsym(*ret, "library_work") : NULL;
	if (!function)
		return false;
	printf("library %d\n", ((int (*)(int))function)(5));
	return function >= at && function < at + gap;
}

/* The gap for libraries is smaller than the distance at which their images want to lie. */
static int library(size_t bytes, size_t far, char *const *paths)
{
	const size_t gap = 1 << 20, below = 100 << 20;
	char *last = NULL, *hole;
	void *opened;
	int n = 0;

	printf("begin\n");
	if (far)
		mmap(NULL, far, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	hole = mmap(NULL, below + bytes + PAGE + gap, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	fill_gaps(hole);
	hole += below;
	last = hole + bytes + PAGE;
	munmap(last, gap);
	munmap(hole, bytes);
	for (; *paths; paths++, n++) {
		if (!open_at(*paths, last, gap, &opened))
			printf("library elsewhere\n");
		if (n % 2)
			continue;
		dlclose(opened);
		open_at(*paths, last, gap, &opened);
	}
	printf("hole %s\n", mmap(hole, bytes, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
				 -1, 0) == hole
				    ? "free"
				    : "taken");
	mmap(hole, bytes, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	while (n--)
		open_at(*--paths, last, gap, &opened);
	return 0;
}

/* What a sampler can find. */
__attribute__((noinline)) static void work(void)
{
	while (clock() < CLOCKS_PER_SEC / 10)
		for (int i = 0; i < 100000; i++)
			sink++;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	size_t limit = argc > 2 ? strtoull(argv[2], NULL, 0) << 20 : 0;

	work();
	if (!strcmp(mode, "holes"))
		return holes();
	if (!strcmp(mode, "maps"))
		return maps();
	if (!strcmp(mode, "space"))
		return space(limit);
	if (!strcmp(mode, "data"))
		return data(limit);
	if (!strcmp(mode, "locked"))
		return locked(limit);
	if (!strcmp(mode, "spawn"))
		return spawn();
	if (!strcmp(mode, "library") && argc > 4)
		return library(limit, strtoull(argv[3], NULL, 0) << 20, argv + 4);
	return 2;
}
