/*
 * One wait of known length of each kind, each in a function of its own that waits for that alone.
 * Who lets it go on sleeps in other threads, which is a kind of its own. Prints how long each
 * kind was waited for by the clock of who waited, as lines "KIND MICROSECONDS", all threads
 * together.
 *
 * "wait-kinds [FACTOR]": FACTOR stretches all.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum kind { LOCK, CONDITION, SOCKET, PIPE, SLEEP, TIMER, IDLE, CHILD, KINDS };

static const char *const names[] = {"lock",  "condition", "socket", "pipe",
				    "sleep", "timer",	  "idle",   "child"};
static uint64_t waited[KINDS];
static double factor = 1;
static volatile uint64_t sink;

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Do @what, which waits for @kind. */
#define WAIT(kind, what)                                                                \
	do {                                                                            \
		uint64_t begin_ = now_us();                                             \
		what;                                                                   \
		__atomic_fetch_add(&waited[kind], now_us() - begin_, __ATOMIC_RELAXED); \
		sink++;                                                                 \
	} while (0)

static void wait_asleep(double ms)
{
	uint64_t ns = (uint64_t)(ms * factor * 1e6);
	struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	WAIT(SLEEP, nanosleep(&t, NULL));
}

/* What a helper lets happen after a while. */
static struct {
	double after_ms;
	void (*what)(void);
} late;

static void *help(void *arg)
{
	(void)arg;
	wait_asleep(late.after_ms);
	late.what();
	return NULL;
}

/* Let @what happen after @ms, in another thread. */
static pthread_t later(double ms, void (*what)(void))
{
	pthread_t thread;

	late.after_ms = ms;
	late.what = what;
	if (pthread_create(&thread, NULL, help, NULL))
		exit(1);
	return thread;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int is_true, done;
static int sockets[2], pipes[2], event;

/* The mutex is taken before its helper begins, and given back by the helper. */
static void *hold_mutex(void *arg)
{
	pthread_mutex_lock(&mutex);
	__atomic_store_n((int *)arg, 1, __ATOMIC_RELEASE);
	wait_asleep(240);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void *hold_rwlock(void *arg)
{
	pthread_rwlock_wrlock(&rwlock);
	__atomic_store_n((int *)arg, 1, __ATOMIC_RELEASE);
	wait_asleep(160);
	pthread_rwlock_unlock(&rwlock);
	return NULL;
}

static pthread_t hold(void *(*how)(void *))
{
	pthread_t thread;
	static int held;

	held = 0;
	if (pthread_create(&thread, NULL, how, &held))
		exit(1);
	while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE))
		;
	return thread;
}

__attribute__((noinline)) static void wait_for_locks(void)
{
	pthread_t holder = hold(hold_mutex);

	WAIT(LOCK, pthread_mutex_lock(&mutex));
	pthread_mutex_unlock(&mutex);
	pthread_join(holder, NULL);
	holder = hold(hold_rwlock);
	WAIT(LOCK, pthread_rwlock_rdlock(&rwlock));
	pthread_rwlock_unlock(&rwlock);
	pthread_join(holder, NULL);
}

static void make_true(void)
{
	pthread_mutex_lock(&mutex);
	is_true = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
}

static void post(void)
{
	sem_post(&semaphore);
}

static void count_event(void)
{
	uint64_t one = 1;

	if (write(event, &one, sizeof one) != sizeof one)
		exit(1);
}

static void wait_until_true(void)
{
	pthread_mutex_lock(&mutex);
	while (!is_true)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) static void wait_for_conditions(void)
{
	uint64_t n;
	pthread_t helper = later(200, make_true);

	WAIT(CONDITION, wait_until_true());
	pthread_join(helper, NULL);
	helper = later(120, post);
	WAIT(CONDITION, sem_wait(&semaphore));
	pthread_join(helper, NULL);
	helper = later(100, count_event);
	WAIT(CONDITION, sink += (uint64_t)read(event, &n, sizeof n));
	pthread_join(helper, NULL);
}

static void send_byte(void)
{
	if (send(sockets[1], "x", 1, 0) != 1)
		exit(1);
}

static void write_byte(void)
{
	if (write(pipes[1], "x", 1) != 1)
		exit(1);
}

__attribute__((noinline)) static void wait_for_sockets(void)
{
	struct pollfd one = {.events = POLLIN};
	char c;
	pthread_t helper = later(180, send_byte);

	WAIT(SOCKET, sink += (uint64_t)recv(sockets[0], &c, 1, 0));
	pthread_join(helper, NULL);
	helper = later(120, send_byte);
	WAIT(SOCKET, sink += (uint64_t)read(sockets[0], &c, 1));
	pthread_join(helper, NULL);
	helper = later(140, send_byte);
	one.fd = sockets[0];
	WAIT(SOCKET, poll(&one, 1, -1));
	sink += (uint64_t)read(sockets[0], &c, 1);
	pthread_join(helper, NULL);
}

__attribute__((noinline)) static void wait_for_pipes(void)
{
	char c;
	fd_set fds;
	pthread_t helper = later(220, write_byte);

	WAIT(PIPE, sink += (uint64_t)read(pipes[0], &c, 1));
	pthread_join(helper, NULL);
	helper = later(140, write_byte);
	FD_ZERO(&fds);
	FD_SET(pipes[0], &fds);
	WAIT(PIPE, select(pipes[0] + 1, &fds, NULL, NULL, NULL));
	sink += (uint64_t)read(pipes[0], &c, 1);
	pthread_join(helper, NULL);
}

__attribute__((noinline)) static void wait_for_timer(void)
{
	uint64_t ns = (uint64_t)(260 * factor * 1e6), n;
	struct itimerspec when = {.it_value = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)}};
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);

	timerfd_settime(fd, 0, &when, NULL);
	WAIT(TIMER, sink += (uint64_t)read(fd, &n, sizeof n));
	close(fd);
}

__attribute__((noinline)) static void wait_for_ends(void)
{
	pid_t child = fork();
	pthread_t helper;

	if (!child) {
		uint64_t end = now_us() + (uint64_t)(210e3 * factor);

		while (now_us() < end) /* it works, and waits for nothing */
			sink++;
		_exit(0);
	}
	WAIT(CHILD, waitpid(child, NULL, 0));
	helper = later(190, post);
	WAIT(CHILD, pthread_join(helper, NULL));
}

/* A thread of a pool: it waits for work in one place. */
static void *work(void *arg)
{
	(void)arg;
	for (;;) {
		pthread_mutex_lock(&mutex);
		while (!is_true && !done)
			WAIT(IDLE, pthread_cond_wait(&condition, &mutex));
		is_true = 0;
		pthread_mutex_unlock(&mutex);
		if (done)
			return NULL;
		wait_asleep(20); /* what it does */
	}
}

__attribute__((noinline)) static void be_idle(void)
{
	struct epoll_event e = {.events = EPOLLIN};
	int fd = epoll_create1(0);
	pthread_t worker;

	if (pthread_create(&worker, NULL, work, NULL))
		exit(1);
	e.data.fd = sockets[0];
	epoll_ctl(fd, EPOLL_CTL_ADD, sockets[0], &e);
	for (int i = 0; i < 3; i++) {
		WAIT(IDLE, epoll_wait(fd, &e, 1, (int)(100 * factor)));
		make_true();
	}
	WAIT(IDLE, epoll_wait(fd, &e, 1, (int)(100 * factor)));
	pthread_mutex_lock(&mutex);
	done = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	pthread_join(worker, NULL);
	close(fd);
}

int main(int argc, char **argv)
{
	factor = argc > 1 ? atof(argv[1]) : 1;
	event = eventfd(0, 0);
	sem_init(&semaphore, 0, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) || pipe(pipes))
		return 1;
	wait_for_locks();
	wait_for_conditions();
	is_true = 0;
	wait_for_sockets();
	wait_for_pipes();
	wait_for_timer();
	wait_for_ends();
	be_idle();
	for (int i = 0; i < KINDS; i++)
		printf("%s %llu\n", names[i], (unsigned long long)waited[i]);
	return 0;
}
