/*
 * A program that knows where its time goes: os-truth MS runs functions that compute, sleep, read,
 * write, wait and handle signals, each for about MS milliseconds. It prints a line for each: name,
 * and in ns what passed meanwhile, what of it on the processor, and what of that in reads and
 * writes; then for all. os-truth MS compute only computes.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { BLOCK_BYTES = 32 << 20 };

static uint64_t budget_ns;
static uint64_t inside_ns; /* on the processor, in reads and writes */
static char block[BLOCK_BYTES];

static uint64_t read_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t cpu_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static NOINLINE uint64_t mix(uint64_t x)
{
	for (int i = 0; i < 1000; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

NOINLINE void compute(void)
{
	uint64_t end = cpu_ns() + budget_ns, x = end;

	while (cpu_ns() < end)
		for (int i = 0; i < 100; i++)
			x = mix(x);
	if (x == 1)
		puts("");
}

NOINLINE void sleep_often(void)
{
	for (int i = 0; i < 20; i++)
		usleep((useconds_t)(budget_ns / 20000));
}

/* Bytes that cost the kernel time and nobody else. */
NOINLINE void read_zeros(void)
{
	int fd = open("/dev/zero", O_RDONLY);
	uint64_t end = cpu_ns() + budget_ns, begin;

	do {
		begin = cpu_ns();
		if (read(fd, block, sizeof block) < 0)
			exit(1);
		inside_ns += cpu_ns() - begin;
	} while (begin < end);
	close(fd);
}

/* Into memory, through the page cache. */
NOINLINE void write_file(void)
{
	char path[] = "/dev/shm/os-truth-XXXXXX";
	int fd = mkstemp(path);
	uint64_t end = cpu_ns() + budget_ns, begin;

	unlink(path);
	do {
		begin = cpu_ns();
		if (pwrite(fd, block, sizeof block, 0) < 0)
			exit(1);
		inside_ns += cpu_ns() - begin;
	} while (begin < end);
	close(fd);
}

/* From a process that is late. */
static NOINLINE void read_late(void)
{
	int ends[2];
	char byte;

	if (pipe(ends))
		exit(1);
	if (!fork()) {
		for (int i = 0; i < 10; i++) {
			usleep((useconds_t)(budget_ns / 10000));
			if (write(ends[1], "x", 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	for (int i = 0; i < 10; i++)
		if (read(ends[0], &byte, 1) != 1)
			exit(1);
	wait(NULL);
	close(ends[0]);
	close(ends[1]);
}

NOINLINE void read_pipe(void)
{
	read_late();
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static void *hold(void *unused)
{
	for (int i = 0; i < 4; i++) {
		pthread_mutex_lock(&lock);
		pthread_barrier_wait(&barrier);
		usleep((useconds_t)(budget_ns / 4000));
		pthread_mutex_unlock(&lock);
		pthread_barrier_wait(&barrier);
	}
	return unused;
}

/* Until another thread lets go. */
NOINLINE void wait_locked(void)
{
	pthread_t holder;

	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&holder, NULL, hold, NULL))
		exit(1);
	for (int i = 0; i < 4; i++) {
		pthread_barrier_wait(&barrier);
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		pthread_barrier_wait(&barrier);
	}
	pthread_join(holder, NULL);
}

static sigjmp_buf back;
static volatile uint64_t handler_cpu_ns;

/* Use the processor for @ns. */
NOINLINE void handle(uint64_t ns)
{
	uint64_t begin = cpu_ns(), x = ns;

	while (cpu_ns() < begin + ns)
		x = mix(x);
	handler_cpu_ns += cpu_ns() - begin + (x == 1);
}

static void on_alarm(int number)
{
	(void)number;
	handle(budget_ns / 20);
}

static void on_alarm_jump(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

static void set_alarm(void (*handler)(int), uint64_t every_ns)
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = SA_RESTART};
	struct itimerval timer = {{0, 0}, {0, 0}};

	timer.it_value.tv_usec = timer.it_interval.tv_usec = (suseconds_t)(every_ns / 1000);
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* The same, with a handler that computes meanwhile. */
NOINLINE void read_interrupted(void)
{
	set_alarm(on_alarm, budget_ns / 5);
	read_late();
	set_alarm(SIG_IGN, 0);
}

/* A handler leaves the system call for good, then the time is the program's. */
NOINLINE void jump_out(void)
{
	int ends[2];
	char byte;

	if (pipe(ends))
		exit(1);
	if (!sigsetjmp(back, 1)) {
		set_alarm(on_alarm_jump, budget_ns / 5);
		exit(read(ends[0], &byte, 1) == 1);
	}
	set_alarm(SIG_IGN, 0);
	handle(budget_ns / 2);
	close(ends[0]);
	close(ends[1]);
}

/* The child of a vfork() borrows this thread's memory, and writes. */
NOINLINE void spawn(void)
{
	pid_t child = vfork();

	if (!child) {
		if (write(1, "", 0))
			_exit(1);
		execl("/bin/sleep", "sleep", "0.1", (char *)NULL);
		_exit(1);
	}
	waitpid(child, NULL, 0);
}

static void print(const char *name, uint64_t wall, uint64_t cpu, uint64_t inside)
{
	printf("%s %ju %ju %ju\n", name, (uintmax_t)wall, (uintmax_t)cpu, (uintmax_t)inside);
}

static void run(const char *name, void (*work)(void))
{
	uint64_t wall = read_ns(CLOCK_MONOTONIC), cpu = cpu_ns(), inside = inside_ns;

	work();
	cpu = cpu_ns() - cpu;
	wall = read_ns(CLOCK_MONOTONIC) - wall;
	print(name, wall, cpu, inside_ns - inside);
}

int main(int argc, char **argv)
{
	uint64_t wall = read_ns(CLOCK_MONOTONIC), cpu = cpu_ns();

	budget_ns = (argc > 1 ? strtoull(argv[1], NULL, 10) : 100) * 1000000;
	run("compute", compute);
	if (argc < 3) {
		run("sleep_often", sleep_often);
		run("read_zeros", read_zeros);
		run("write_file", write_file);
		run("read_pipe", read_pipe);
		run("wait_locked", wait_locked);
		run("read_interrupted", read_interrupted);
		run("jump_out", jump_out);
		run("spawn", spawn);
	}
	print("handle", 0, handler_cpu_ns, 0);
	print("all", read_ns(CLOCK_MONOTONIC) - wall, cpu_ns() - cpu, inside_ns);
	return 0;
}
