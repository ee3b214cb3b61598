/*
 * A program that bears much, and publishes what it has done in FILE, a page that it shares: steps
 * by thread, in each step's middle.
 *
 *	count FILE STEPS	three threads of so many steps each; prints their sum
 *	spin FILE		a step that computes and does not end
 *	churn FILE LIBRARY	rounds until the second word of FILE is set: threads, a library that
 *				is opened and closed, a child; prints the rounds
 *	crowd THREADS MS	so many at once compute for MS milliseconds; each says what its
 *				clocks say, in ns: its id, its life, and its time on the processor
 *				without its beginning and with it
 *	relay THREADS		so many, at most eight at a time, one step each
 *
 * Ends with status 3.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone, used)) extern

enum { THREADS = 3, WORDS = 512, AT_ONCE = 8, CROWD_MAX = 1000, STATUS = 3 };

/* Words of FILE. */
enum { ROUNDS, STOP, STEPS };

/* What a thread of a crowd says. */
struct life {
	long tid;
	uint64_t wall_ns, cpu_ns;
	uint64_t whole_ns; /* cpu_ns and what it took to begin */
};

unsigned leaf(unsigned n);
void step(volatile uint64_t *count, unsigned n);
void spin(volatile uint64_t *count);
void compute(uint64_t cpu_ns);

static volatile uint64_t *published;
static uint64_t budget;
static pthread_barrier_t start;

static uint64_t read_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

OWN unsigned leaf(unsigned n)
{
	for (volatile unsigned i = 0; i < 10; i++)
		n = n * 1103515245 + 12345;
	return n;
}

OWN void step(volatile uint64_t *count, unsigned n)
{
	unsigned x = n;

	for (unsigned i = 0; i < n % 4; i++)
		x = leaf(x);
	++*count;
	leaf(x);
}

OWN void spin(volatile uint64_t *count)
{
	step(count, 1);
	for (volatile unsigned i = 0; published; i++)
		;
}

OWN void compute(uint64_t cpu_ns)
{
	uint64_t end = read_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns;
	unsigned x = 1;

	while (read_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 1000; i++)
			x = leaf(x);
}

static void *count(void *arg)
{
	for (uint64_t i = 0; i < budget; i++)
		step(arg, (unsigned)i);
	return NULL;
}

static void *live(void *arg)
{
	struct life *life = arg;
	uint64_t wall = read_ns(CLOCK_MONOTONIC), cpu = read_ns(CLOCK_THREAD_CPUTIME_ID);

	pthread_barrier_wait(&start);
	compute(budget);
	life->tid = syscall(SYS_gettid);
	life->whole_ns = read_ns(CLOCK_THREAD_CPUTIME_ID);
	life->cpu_ns = life->whole_ns - cpu;
	life->wall_ns = read_ns(CLOCK_MONOTONIC) - wall;
	return NULL;
}

static void *one_step(void *arg)
{
	step(arg, 3);
	return NULL;
}

/* Run @n threads and wait for them. The i-th gets @args + i * @bytes. */
static void run(int n, void *(*body)(void *), volatile void *args, size_t bytes)
{
	pthread_t threads[CROWD_MAX];
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], &attr, body, (char *)args + (size_t)i * bytes))
			exit(1);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void use(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	unsigned (*call)(unsigned) = NULL;

	if (library)
		*(void **)&call = dlsym(library, "library_work");
	if (!call)
		exit(1);
	for (unsigned i = 0; i < 50; i++)
		call(i);
	dlclose(library);
}

static void churn(const char *library)
{
	uint64_t unused[AT_ONCE] = {0};

	while (!published[STOP]) {
		pid_t child = fork();

		if (!child) {
			step(unused, 3);
			_exit(0);
		}
		run(AT_ONCE, one_step, unused, sizeof(*unused));
		use(library);
		waitpid(child, NULL, 0);
		published[ROUNDS]++;
		usleep(20000);
	}
	printf("%ju\n", (uintmax_t)published[ROUNDS]);
}

static void crowd(int n)
{
	static struct life lives[CROWD_MAX];

	pthread_barrier_init(&start, NULL, (unsigned)n);
	run(n, live, lives, sizeof(*lives));
	for (int i = 0; i < n; i++)
		printf("%ld %ju %ju %ju\n", lives[i].tid, (uintmax_t)lives[i].wall_ns,
		       (uintmax_t)lives[i].cpu_ns, (uintmax_t)lives[i].whole_ns);
}

static void *share(const char *path)
{
	int fd = open(path, O_RDWR);
	void *got = mmap(NULL, WORDS * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd < 0 || got == MAP_FAILED)
		exit(1);
	return got;
}

int main(int argc, char **argv)
{
	uint64_t unused[AT_ONCE] = {0}, sum = 0;

	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "crowd") && argc > 3) {
		budget = strtoull(argv[3], NULL, 10) * 1000000;
		crowd(atoi(argv[2]));
		return STATUS;
	}
	if (!strcmp(argv[1], "relay")) {
		for (int left = atoi(argv[2]); left > 0; left -= AT_ONCE)
			run(left < AT_ONCE ? left : AT_ONCE, one_step, unused, sizeof(*unused));
		return STATUS;
	}
	published = share(argv[2]);
	if (!strcmp(argv[1], "spin")) {
		spin(published + STEPS);
	} else if (!strcmp(argv[1], "churn") && argc > 3) {
		churn(argv[3]);
	} else if (!strcmp(argv[1], "count") && argc > 3) {
		budget = strtoull(argv[3], NULL, 10);
		run(THREADS, count, published + STEPS, 8 * sizeof(*published));
		for (int i = 0; i < THREADS; i++)
			sum += published[STEPS + 8 * i];
		printf("%ju\n", (uintmax_t)sum);
	} else {
		return 2;
	}
	return STATUS;
}
