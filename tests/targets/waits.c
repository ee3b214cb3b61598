/*
 * Waits of known length, each in a function of its own: asleep, for a lock, for a pipe, for a disk,
 * for a child; many short ones in two places, and shorter ones in another; short ones of a hundred
 * threads, untold; a spin that is no wait.
 * Prints what each took, by the clock, of processor time, and of time that it was ready but given
 * no processor, as lines "NAME MICROSECONDS MICROSECONDS MICROSECONDS".
 *
 * "waits PARTS [FACTOR] [ready]": PARTS names them; FACTOR stretches them; with "ready" it says so
 * and begins when it is sent a byte.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double factor = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int pipe_fds[2];
static volatile uint64_t sink;

static uint64_t clock_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static uint64_t now_us(void)
{
	return clock_us(CLOCK_MONOTONIC);
}

/* How long the thread was ready, but had no processor (sched-stats.rst). */
static uint64_t ready_us(void)
{
	FILE *f = fopen("/proc/thread-self/schedstat", "r");
	unsigned long long ran, ready = 0;

	if (f && fscanf(f, "%llu %llu", &ran, &ready) != 2)
		ready = 0;
	if (f)
		fclose(f);
	return ready / 1000;
}

/* When a part began, by the clock and by the thread's own times. */
struct begin {
	uint64_t wall, cpu, ready;
};

static struct begin begin_part(void)
{
	uint64_t ready = ready_us();

	return (struct begin){now_us(), clock_us(CLOCK_THREAD_CPUTIME_ID), ready};
}

static void pause_ms(double ms)
{
	uint64_t ns = (uint64_t)(ms * factor * 1e6);
	struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	nanosleep(&t, NULL);
}

__attribute__((noinline)) static void wait_asleep(void)
{
	pause_ms(300);
	sink++;
}

static void *hold_lock(void *arg)
{
	pthread_mutex_lock(&lock);
	*(volatile int *)arg = 1;
	pause_ms(250);
	pthread_mutex_unlock(&lock);
	return NULL;
}

__attribute__((noinline)) static void wait_for_lock(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	sink++;
}

static void *write_late(void *arg)
{
	(void)arg;
	pause_ms(200);
	if (write(pipe_fds[1], "x", 1) != 1)
		exit(1);
	return NULL;
}

__attribute__((noinline)) static void wait_for_pipe(void)
{
	char c;

	sink += (uint64_t)read(pipe_fds[0], &c, 1);
}

__attribute__((noinline)) static void wait_for_disk(int fd)
{
	uint64_t end = now_us() + (uint64_t)(300000 * factor);

	for (int i = 0; now_us() < end; i++) {
		static char block[64 << 10];

		if (pwrite(fd, block, sizeof block, (off_t)(i % 64) * (off_t)sizeof block) < 0 ||
		    fsync(fd))
			break;
	}
	sink++;
}

__attribute__((noinline)) static void wait_for_child(pid_t pid)
{
	waitpid(pid, NULL, 0);
	sink++;
}

__attribute__((noinline)) static void wait_shortly(long us)
{
	nanosleep(&(struct timespec){0, us * 1000}, NULL);
	sink++;
}

__attribute__((noinline)) static void wait_shortly_here(int n)
{
	for (int i = 0; i < n; i++)
		wait_shortly(100);
	sink++;
}

__attribute__((noinline)) static void wait_shortly_there(int n)
{
	for (int i = 0; i < n; i++)
		wait_shortly(300);
	sink++;
}

/* Each about as long as a look at one takes. */
__attribute__((noinline)) static void wait_briefly(void)
{
	uint64_t end = now_us() + (uint64_t)(300000 * factor);

	prctl(PR_SET_TIMERSLACK, 1);
	while (now_us() < end)
		nanosleep(&(struct timespec){0, 60000}, NULL);
	prctl(PR_SET_TIMERSLACK, 0);
	sink++;
}

__attribute__((noinline)) static void spin(void)
{
	for (uint64_t end = now_us() + (uint64_t)(200000 * factor); now_us() < end;)
		sink++;
}

static const char *parts;

static int wanted(const char *name)
{
	return strstr(parts, name) != NULL;
}

static void tell(const char *name, struct begin begin)
{
	struct begin end = begin_part();

	printf("%s %llu %llu %llu\n", name, (unsigned long long)(end.wall - begin.wall),
	       (unsigned long long)(end.cpu - begin.cpu),
	       (unsigned long long)(end.ready - begin.ready));
	fflush(stdout);
}

static void lock_part(void)
{
	volatile int held = 0;
	pthread_t t;
	struct begin begin;

	pthread_create(&t, NULL, hold_lock, (void *)&held);
	while (!held)
		sched_yield();
	begin = begin_part();
	wait_for_lock();
	tell("wait_for_lock", begin);
	pthread_join(t, NULL);
}

static void pipe_part(void)
{
	pthread_t t;
	struct begin begin;

	if (pipe(pipe_fds))
		exit(1);
	begin = begin_part();
	pthread_create(&t, NULL, write_late, NULL);
	wait_for_pipe();
	tell("wait_for_pipe", begin);
	pthread_join(t, NULL);
}

static void child_part(void)
{
	struct begin begin = begin_part();
	pid_t pid = fork();

	if (!pid) {
		pause_ms(350);
		_exit(0);
	}
	wait_for_child(pid);
	tell("wait_for_child", begin);
}

static void disk_part(void)
{
	char path[] = "waits-XXXXXX";
	int fd = mkstemp(path);
	struct begin begin = begin_part();

	if (fd < 0)
		return;
	unlink(path);
	wait_for_disk(fd);
	tell("wait_for_disk", begin);
	close(fd);
}

static void short_part(void)
{
	int n = (int)(1500 * factor);
	struct begin begin = begin_part();

	wait_shortly_here(n);
	tell("wait_shortly_here", begin);
	begin = begin_part();
	wait_shortly_there(n);
	tell("wait_shortly_there", begin);
}

static void *doze(void *arg)
{
	uint64_t end = now_us() + (uint64_t)(1000000 * factor);

	while (now_us() < end)
		wait_shortly(700);
	return arg;
}

static void crowd_part(void)
{
	enum { CROWD = 100 };
	pthread_t threads[CROWD];

	for (int i = 0; i < CROWD; i++)
		if (pthread_create(&threads[i], NULL, doze, NULL))
			abort();
	for (int i = 0; i < CROWD; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	struct begin begin;
	char c;

	if (argc < 2)
		return 2;
	parts = argv[1];
	factor = argc > 2 ? atof(argv[2]) : 1;
	if (argc > 3) {
		puts("ready");
		fflush(stdout);
		if (read(0, &c, 1) != 1)
			return 1;
	}
	begin = begin_part();
	if (wanted("sleep")) {
		wait_asleep();
		tell("wait_asleep", begin);
	}
	if (wanted("lock"))
		lock_part();
	if (wanted("pipe"))
		pipe_part();
	if (wanted("child"))
		child_part();
	if (wanted("disk"))
		disk_part();
	if (wanted("short"))
		short_part();
	if (wanted("crowd"))
		crowd_part();
	begin = begin_part();
	if (wanted("brief")) {
		wait_briefly();
		tell("wait_briefly", begin);
	}
	begin = begin_part();
	if (wanted("spin")) {
		spin();
		tell("spin", begin);
	}
	return 0;
}
