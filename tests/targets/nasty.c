/*
 * Programs that profilers trip over, one per mode: nasty MODE [NUMBER]. Each ends with status 0 if
 * everything in it went as it should, so that a profiler that disturbs it shows.
 *
 * Work is measured in milliseconds of the thread's own CPU clock.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;
static const char *self_path;

static long cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* The clock is read as seldom as can be: a thread that reads it gives way to others between the
 * kernel's ticks, where nobody samples it. */
__attribute__((noinline)) static void work_ms(long ms)
{
	long rounds = 20000, begin = cpu_us(), before = begin, now, left;

	do {
		for (long i = 0; i < rounds; i++)
			sink = sink * 6364136223846793005u + 1;
		now = cpu_us();
		left = begin + ms * 1000 - now;
		rounds = rounds * (left < 20000 ? left : 20000) / (now > before ? now - before : 1);
		rounds = rounds > 2000 ? rounds : 2000;
		before = now;
	} while (left > 0);
}

static int run_exit(long status)
{
	work_ms(20);
	return (int)status;
}

static int run_signal(long number)
{
	work_ms(50);
	raise((int)number);
	return 1;
}

/* Work on an alternate stack inside a handler, again and again, on top of ordinary work, for long
 * enough that a profiler comes to read what was interrupted. */
static void handle_alarm(int number)
{
	(void)number;
	work_ms(12);
}

static int run_altstack(long ms)
{
	stack_t stack = {.ss_size = 1 << 16, .ss_sp = malloc(1 << 16)};
	struct sigaction action = {.sa_handler = handle_alarm, .sa_flags = SA_ONSTACK | SA_RESTART};
	struct itimerval every = {{0, 40000}, {0, 40000}};

	if (!stack.ss_sp || sigaltstack(&stack, NULL) || sigaction(SIGALRM, &action, NULL) ||
	    setitimer(ITIMER_REAL, &every, NULL))
		return 1;
	work_ms(ms);
	return 0;
}

static jmp_buf back;

__attribute__((noinline)) static void jump_from(int depth)
{
	if (depth > 0)
		jump_from(depth - 1);
	else
		longjmp(back, 1);
	sink++;
}

static int run_longjmp(long times)
{
	for (volatile long i = 0; i < times; i++) {
		if (!setjmp(back))
			jump_from(30);
		work_ms(1);
	}
	return 0;
}

static bool wait_ok(pid_t pid)
{
	int status;

	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

static int run_fork(long children)
{
	for (long i = 0; i < children; i++) {
		pid_t pid = fork();

		if (!pid) {
			work_ms(5);
			_exit(0);
		}
		if (!wait_ok(pid))
			return 1;
	}
	return 0;
}

static int start_self(const char *mode, const char *number, bool use_vfork)
{
	pid_t pid = use_vfork ? vfork() : fork();

	if (!pid) {
		execl(self_path, self_path, mode, number, (char *)NULL);
		_exit(99);
	}
	return wait_ok(pid) ? 0 : 1;
}

static int run_vfork(long children)
{
	int bad = 0;

	for (long i = 0; i < children; i++)
		bad |= start_self("work", "5", true);
	return bad;
}

/* Short processes as a shell script makes them, two at a time. */
static int run_storm(long children)
{
	pid_t other = fork();
	int bad = 0;

	for (long i = 0; i < children / 2; i++)
		bad |= start_self("work", "1", i % 2);
	if (!other)
		_exit(bad);
	return bad || !wait_ok(other);
}

/* Ends with the work of what it execs, in the same process. */
static int run_exec(long ms)
{
	char number[32];

	work_ms(ms);
	snprintf(number, sizeof(number), "%ld", ms);
	execl(self_path, self_path, "work", number, (char *)NULL);
	return 1;
}

static int run_work(long ms)
{
	work_ms(ms);
	return 0;
}

static void *thread_body(void *data)
{
	work_ms((long)(intptr_t)data);
	return NULL;
}

/* All threads exist at once. */
static int run_threads(long n)
{
	pthread_t *threads = calloc((size_t)n, sizeof(*threads));
	pthread_attr_t small;
	int bad =
		!threads || pthread_attr_init(&small) || pthread_attr_setstacksize(&small, 1 << 16);

	for (long i = 0; !bad && i < n; i++)
		bad = pthread_create(&threads[i], &small, thread_body, (void *)(intptr_t)3);
	for (long i = 0; !bad && i < n; i++)
		bad = pthread_join(threads[i], NULL);
	return bad;
}

__attribute__((noinline)) static void descend(long depth, long ms)
{
	volatile char room[16] = {0};

	if (depth > 1)
		descend(depth - 1, ms);
	else
		work_ms(ms);
	sink += (uint64_t)room[0];
}

static int run_deep(long frames)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
	char number[32];

	if (!getenv("NASTY_DEEP")) { /* the limit of the main stack counts from exec */
		setenv("NASTY_DEEP", "1", 1);
		getrlimit(RLIMIT_STACK, &limit);
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_STACK, &limit);
		snprintf(number, sizeof(number), "%ld", frames);
		execl(self_path, self_path, "deep", number, (char *)NULL);
		return 1;
	}
	descend(frames, 500);
	return 0;
}

/* One frame that is larger than any copy of the stack. */
__attribute__((noinline)) static void wide(long ms)
{
	volatile char room[4 << 20];

	for (size_t i = 0; i < sizeof(room); i += 4096)
		room[i] = 1;
	work_ms(ms);
	sink += (uint64_t)room[0];
}

static int run_wide(long ms)
{
	wide(ms);
	return 0;
}

static void *big_stack_body(void *data)
{
	descend(500000, (long)(intptr_t)data);
	return NULL;
}

static int run_bigstack(long ms)
{
	pthread_t thread;
	pthread_attr_t big;

	return pthread_attr_init(&big) || pthread_attr_setstacksize(&big, 64 << 20) ||
	       pthread_create(&thread, &big, big_stack_body, (void *)(intptr_t)ms) ||
	       pthread_join(thread, NULL);
}

static int run_dlopen(long times)
{
	for (long i = 0; i < times; i++) {
		void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
		double (*cosine)(double);

		if (!library)
			return 1;
		cosine = (double (*)(double))dlsym(library, "cos");
		for (int k = 0; cosine && k < 200000; k++)
			sink += (uint64_t)(1000 * cosine(k));
		if (dlclose(library))
			return 1;
	}
	return 0;
}

static int run_closefds(long ms)
{
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	work_ms(ms);
	return fcntl(0, F_GETFD) == -1 && errno == EBADF ? 0 : 1;
}

static int run_deleted(long ms)
{
	if (unlink(self_path))
		return 1;
	work_ms(ms);
	return 0;
}

/* Leaves a child behind that works on after the command has ended, and prints its id. */
static int run_orphan(long ms)
{
	pid_t child = fork();

	if (!child) {
		int null = open("/dev/null", O_RDWR);

		for (int fd = 0; fd < 3; fd++)
			dup2(null, fd);
		work_ms(ms);
		_exit(0);
	}
	printf("%d\n", child);
	work_ms(20);
	return 0;
}

/* What a program can see of a profiler: descriptors, signals, threads, children, environment. */
static int run_inspect(long unused)
{
	extern char **environ;
	sigset_t mask;

	(void)unused;
	for (int fd = 0; fd < 256; fd++)
		if (fcntl(fd, F_GETFD) != -1)
			printf("fd %d\n", fd);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int number = 1; number < NSIG; number++) {
		struct sigaction action;

		if (!sigaction(number, NULL, &action) && action.sa_handler != SIG_DFL)
			printf("signal %d is not at its default\n", number);
		if (sigismember(&mask, number) == 1)
			printf("signal %d is blocked\n", number);
	}
	for (int which = 0; which < RLIM_NLIMITS; which++) {
		struct rlimit limit = {0};

		getrlimit((__rlimit_resource_t)which, &limit);
		printf("limit %d %llu\n", which, (unsigned long long)limit.rlim_cur);
	}
	printf("nice %d, group %d, session %d, child %d\n", getpriority(PRIO_PROCESS, 0), getpgrp(),
	       getsid(0), waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD ? 0 : 1);
	for (char **e = environ; *e; e++)
		printf("env %s\n", *e);
	return 0;
}

/* Works a little, says so, and ends with 42 once SIGINT or SIGTERM has come, exactly once. */
static volatile sig_atomic_t signals_seen;

static void count_signal(int number)
{
	(void)number;
	signals_seen++;
}

static int run_graceful(long ms)
{
	struct timespec nap = {0, 300000000};

	signal(SIGINT, count_signal);
	signal(SIGTERM, count_signal);
	signal(SIGHUP, count_signal);
	work_ms(200);
	printf("ready\n");
	fflush(stdout);
	for (long i = 0; i < ms && !signals_seen; i++)
		work_ms(1);
	while (nanosleep(&nap, &nap)) /* a second signal would come now */
		;
	return signals_seen == 1 ? 42 : 100 + signals_seen;
}

static const struct {
	const char *name;
	int (*run)(long number);
	long number;
} modes[] = {
	{"work", run_work, 200},	   {"exit", run_exit, 0},
	{"signal", run_signal, SIGTERM},   {"altstack", run_altstack, 300},
	{"longjmp", run_longjmp, 200},	   {"fork", run_fork, 50},
	{"vfork", run_vfork, 50},	   {"storm", run_storm, 1000},
	{"exec", run_exec, 200},	   {"threads", run_threads, 500},
	{"deep", run_deep, 16000},	   {"wide", run_wide, 300},
	{"bigstack", run_bigstack, 300},   {"dlopen", run_dlopen, 100},
	{"closefds", run_closefds, 200},   {"deleted", run_deleted, 300},
	{"orphan", run_orphan, 600},	   {"inspect", run_inspect, 0},
	{"graceful", run_graceful, 20000},
};

int main(int argc, char **argv)
{
	self_path = argv[0];
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(argv[1], modes[i].name))
			return modes[i].run(argc > 2 ? atol(argv[2]) : modes[i].number);
	fprintf(stderr, "usage: nasty MODE [NUMBER]\n");
	return 2;
}
