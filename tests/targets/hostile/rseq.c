/*
 * Restartable sequences of the program's own, in the registration of the C library: counters per
 * processor without atomic instructions. An engine that moves such code, or that writes the
 * thread's critical-section pointer, loses increments.
 */
#include "hostile.h"

#include <errno.h>
#include <linux/rseq.h>
#include <stddef.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum { THREADS = 4, INCREMENTS = 300000, PROCESSORS = 1024 };

/* Since glibc 2.35; weak, so that the program starts without. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

/* Defined in rseq-x86-64.S: adds 1 to the current processor's counter. */
extern void rseq_increment(struct rseq *registered, long *counters);
extern void rseq_increment_slowly(struct rseq *registered, long *counters);

static long counters[PROCESSORS * 8];
static volatile sig_atomic_t handled;

static struct rseq *registered(void)
{
	if (!&__rseq_size || __rseq_size == 0)
		return NULL;
	return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

NOINLINE static long fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void *count(void *argument)
{
	struct rseq *mine = registered();
	void (*increment)(struct rseq *, long *) =
		argument ? rseq_increment_slowly : rseq_increment;

	for (int i = 0; i < INCREMENTS; i++) {
		increment(mine, counters);
		if (i % 1000 == 0)
			fib(5);
	}
	return NULL;
}

static void count_in_threads(void *slowly)
{
	pthread_t threads[THREADS];
	long sum = 0;

	if (!registered()) {
		puts("no registration");
		return;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, count, slowly);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < PROCESSORS; i++)
		sum += counters[i * 8];
	printf("counted %ld of %d\n", sum, THREADS * INCREMENTS);
	CHECK(sum == THREADS * INCREMENTS);
}

static void run_counters(void)
{
	count_in_threads(NULL);
}

static void on_timer(int number)
{
	(void)number;
	handled++;
	fib(3);
}

/* With signals that abort sequences, and sequences long enough to be hit. */
static void run_aborted(void)
{
	struct itimerval every = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	count_in_threads("slowly");
	setitimer(ITIMER_REAL, &never, NULL);
}

/* Nobody registered another area or left a sequence set. */
static void run_registration(void)
{
	static struct rseq other __attribute__((aligned(32)));
	long result = syscall(SYS_rseq, &other, sizeof(other), 0, 0x53053053);

	printf("size %u, set %d\n", &__rseq_size ? __rseq_size : 0,
	       registered() && registered()->rseq_cs);
	printf("second registration: %ld %d\n", result, result ? errno : 0);
}

static const struct hostile_case cases[] = {
	{"counters", run_counters},
	{"aborted", run_aborted},
	{"registration", run_registration},
	{0},
};

int main(int argc, char **argv)
{
	return hostile_main(argc, argv, cases);
}
