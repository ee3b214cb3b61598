/* What threads wait for: by system call and descriptor, by names of functions, and by threads. */
#include "check.h"

#include "analysis/wait-idle.h"
#include "analysis/wait-kinds.h"
#include "collect/waits/kind.h"
#include "model/measure.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* The kind of system call @number of our own with these arguments. */
static enum dw_wait_kind kind_of(int64_t number, uint64_t a, uint64_t b, uint64_t c)
{
	const struct dw_task_place place = {.call = number, .argument = {a, b, c}};

	return dw_wait_kind_at(getpid(), &place);
}

TEST(descriptors_tell)
{
	int pipes[2], sockets[2], file = open("/proc/self/exe", O_RDONLY), event = eventfd(0, 0),
				  timer = timerfd_create(CLOCK_MONOTONIC, 0),
				  poller = epoll_create1(0), null = open("/dev/null", O_RDWR);

	CHECK(!pipe(pipes) && !socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	CHECK_INT(kind_of(SYS_read, (uint64_t)pipes[0], 0, 0), DWELL_WAIT_PIPE);
	CHECK_INT(kind_of(SYS_write, (uint64_t)pipes[1], 0, 0), DWELL_WAIT_PIPE);
	CHECK_INT(kind_of(SYS_read, (uint64_t)sockets[0], 0, 0), DWELL_WAIT_SOCKET);
	CHECK_INT(kind_of(SYS_readv, (uint64_t)file, 0, 0), DWELL_WAIT_DISK);
	CHECK_INT(kind_of(SYS_read, (uint64_t)event, 0, 0), DWELL_WAIT_CONDITION);
	CHECK_INT(kind_of(SYS_read, (uint64_t)timer, 0, 0), DWELL_WAIT_TIMER);
	CHECK_INT(kind_of(SYS_read, (uint64_t)poller, 0, 0), DWELL_WAIT_IDLE);
	CHECK_INT(kind_of(SYS_read, (uint64_t)null, 0, 0), DWELL_WAIT_OTHER);
	CHECK_INT(kind_of(SYS_read, 99999, 0, 0), DWELL_WAIT_IO);
	for (int i = 0; i < 2; i++) {
		close(pipes[i]);
		close(sockets[i]);
	}
	close(file);
	close(event);
	close(timer);
	close(poller);
	close(null);
}

TEST(one_that_is_polled_tells)
{
	struct pollfd fds[2];
	fd_set set;
	int pipes[2];

	CHECK(!pipe(pipes));
	fds[0] = fds[1] = (struct pollfd){.fd = pipes[0], .events = POLLIN};
	FD_ZERO(&set);
	FD_SET(pipes[0], &set);
	CHECK_INT(kind_of(SYS_ppoll, (uintptr_t)fds, 1, 0), DWELL_WAIT_PIPE);
	CHECK_INT(kind_of(SYS_ppoll, (uintptr_t)fds, 2, 0), DWELL_WAIT_IDLE);
	CHECK_INT(kind_of(SYS_ppoll, 0, 0, 0), DWELL_WAIT_SLEEP);
	CHECK_INT(kind_of(SYS_ppoll, 16, 1, 0), DWELL_WAIT_IDLE); /* no memory */
	CHECK_INT(kind_of(SYS_pselect6, (uint64_t)pipes[0] + 1, (uintptr_t)&set, (uintptr_t)&set),
		  DWELL_WAIT_PIPE);
	FD_SET(pipes[1], &set);
	CHECK_INT(kind_of(SYS_pselect6, (uint64_t)pipes[1] + 1, (uintptr_t)&set, 0),
		  DWELL_WAIT_IDLE);
	CHECK_INT(kind_of(SYS_pselect6, 0, 0, 0), DWELL_WAIT_SLEEP);
	close(pipes[0]);
	close(pipes[1]);
}

TEST(calls_tell)
{
	CHECK_INT(kind_of(SYS_futex, 0, FUTEX_WAIT_PRIVATE, 2), DWELL_WAIT_LOCK);
	CHECK_INT(kind_of(SYS_futex, 0, FUTEX_LOCK_PI_PRIVATE, 0), DWELL_WAIT_LOCK);
	CHECK_INT(kind_of(SYS_futex, 0, FUTEX_WAIT_BITSET_PRIVATE, 7), DWELL_WAIT_CONDITION);
	CHECK_INT(kind_of(SYS_futex, 0, FUTEX_WAIT_BITSET, (uint64_t)getpid()), DWELL_WAIT_CHILD);
	CHECK_INT(kind_of(SYS_futex, 0, FUTEX_WAIT_BITSET, 0), DWELL_WAIT_CONDITION);
	CHECK_INT(kind_of(SYS_wait4, 0, 0, 0), DWELL_WAIT_CHILD);
	CHECK_INT(kind_of(SYS_clock_nanosleep, 0, 0, 0), DWELL_WAIT_SLEEP);
	CHECK_INT(kind_of(SYS_rt_sigtimedwait, 0, 0, 0), DWELL_WAIT_IDLE);
	CHECK_INT(kind_of(SYS_rt_sigtimedwait, 0, 0, 1), DWELL_WAIT_TIMER);
	CHECK_INT(kind_of(SYS_getpid, 0, 0, 0), DWELL_WAIT_OTHER);
	CHECK_INT(kind_of(-1, 0, 0, 0), DWELL_WAIT_DISK);
}

TEST(names_tell)
{
	static const struct {
		const char *name;
		enum dw_wait_names of;
		bool is_known;
		enum dw_wait_kind kind;
	} cases[] = {
		{"pthread_mutex_lock", DWELL_NAMES_OF_SYSTEM, true, DWELL_WAIT_LOCK},
		{"___pthread_mutex_lock@@GLIBC_2.2.5", DWELL_NAMES_OF_SYSTEM, true,
		 DWELL_WAIT_LOCK},
		{"pthread_mutex_unlock", DWELL_NAMES_OF_SYSTEM, false, 0},
		{"__pthread_cond_wait_common", DWELL_NAMES_OF_SYSTEM, true, DWELL_WAIT_CONDITION},
		{"__GI___wait4", DWELL_NAMES_OF_SYSTEM, false, 0},
		{"__wait4", DWELL_NAMES_OF_SYSTEM, true, DWELL_WAIT_CHILD},
		{"wait", DWELL_NAMES_OF_SYSTEM, true, DWELL_WAIT_CHILD},
		{"wait", DWELL_NAMES_OF_USERS, false, 0}, /* the user's */
		{"Queue::wait(int)", DWELL_NAMES_OF_SYSTEM, false, 0},
		{"std::sys::sync::mutex::futex::Mutex::lock_contended", DWELL_NAMES_OF_USERS, true,
		 DWELL_WAIT_LOCK},
		{"ThreadSuspend::SuspendEE(SUSPEND_REASON)", DWELL_NAMES_OF_USERS, true,
		 DWELL_WAIT_COLLECTION},
		{"Condition.wait", DWELL_NAMES_OF_PYTHON, true, DWELL_WAIT_CONDITION},
		{"wait", DWELL_NAMES_OF_PYTHON, true, DWELL_WAIT_CONDITION},
		{"Thread.join", DWELL_NAMES_OF_PYTHON, true, DWELL_WAIT_CHILD},
		{"PyThread_acquire_lock_timed", DWELL_NAMES_OF_SYSTEM, true, DWELL_WAIT_LOCK},
		{"", DWELL_NAMES_OF_SYSTEM, false, 0},
		{"____", DWELL_NAMES_OF_SYSTEM, false, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		enum dw_wait_kind kind = 0;

		CHECK_STR(cases[i].name, cases[i].name);
		CHECK(dw_wait_kind_of_function(cases[i].name, cases[i].of, &kind) ==
		      cases[i].is_known);
		CHECK_INT(kind, cases[i].kind);
	}
	for (enum dw_wait_kind kind = 0; kind < DWELL_WAIT_KINDS; kind++) {
		const char *name = dw_wait_kind_name(kind);

		CHECK_INT(dw_wait_kind_find(name, strlen(name)), kind);
	}
	CHECK_INT(dw_wait_kind_find("lockx", 5), DWELL_WAIT_KINDS);
	CHECK_INT(dw_wait_kind_find("", 0), DWELL_WAIT_KINDS);
}

/* Thread 1 is its process's first, 2 and 3 are of a pool; 3 has an event loop. Outside of its
 * functions 2 is idle, but for a processor. */
TEST(threads_of_a_pool_are_idle_at_home)
{
	struct dw_profile p = DW_PROFILE_INIT;
	uint32_t process, thread;
	struct dw_wait_at waits[] = {
		{1, 10, DWELL_WAIT_CONDITION, 900},
		{2, 10, DWELL_WAIT_CONDITION, 300},
		{2, 11, DWELL_WAIT_CONDITION, 200},
		{2, 11, DWELL_WAIT_CONDITION, 200},
		{2, 12, DWELL_WAIT_LOCK, 5000},
		{3, 10, DWELL_WAIT_CONDITION, 100},
		{3, 13, DWELL_WAIT_IDLE, 400},
		{.thread = 1, .place = 14, .ns = 700, .is_external = true},
		{.thread = 2, .place = 15, .ns = 700, .is_external = true},
		{.thread = 2, .place = 15, .ns = 700},
		{2, 15, DWELL_WAIT_READY, 700, .is_external = true},
		{2, 11, DWELL_WAIT_CONDITION, 700, .is_pooled = true},
		{.thread = 3, .place = 16, .ns = 700, .is_external = true, .is_pooled = true},
		{3, 16, DWELL_WAIT_READY, 700, .is_external = true, .is_pooled = true},
	};
	static const enum dw_wait_kind becomes[] = {
		DWELL_WAIT_CONDITION, DWELL_WAIT_CONDITION, DWELL_WAIT_IDLE,  DWELL_WAIT_IDLE,
		DWELL_WAIT_LOCK,      DWELL_WAIT_CONDITION, DWELL_WAIT_IDLE,  DWELL_WAIT_OTHER,
		DWELL_WAIT_OTHER,     DWELL_WAIT_OTHER,	    DWELL_WAIT_READY, DWELL_WAIT_CONDITION,
		DWELL_WAIT_IDLE,      DWELL_WAIT_READY,
	};
	enum { N = sizeof waits / sizeof *waits };

	CHECK_INT(dw_processes_add(&p.processes, &(struct dw_process){.pid = 100}, &process), 0);
	for (int32_t tid = 100; tid < 103; tid++)
		CHECK_INT(dw_threads_add(&p.threads,
					 &(struct dw_thread){.process = process, .tid = tid},
					 &thread),
			  0);
	for (int times = 0; times < 2; times++) { /* again changes nothing */
		CHECK_INT(dw_find_idle_threads(&p, waits, N), 0);
		for (size_t i = 0; i < N; i++)
			CHECK_INT(waits[i].kind, becomes[i]);
	}
	dw_profile_release(&p);
}

/* Of one process: thread 1 is the first, 2 and 3 wait for a pipe, 4 for a lock, 5 is a runtime's.
 * All wait the whole second; 3 goes on in between. */
TEST(threads_that_never_go_on_are_idle)
{
	static const struct {
		uint32_t thread;
		uint64_t begin_ns, span_ns, n;
		enum dw_wait_kind kind, becomes;
	} rows[] = {
		{1, 0, 1000000000, 1000000000, DWELL_WAIT_CONDITION, DWELL_WAIT_IDLE},
		{2, 10000000, 500000000, 500000000, DWELL_WAIT_PIPE, DWELL_WAIT_IDLE},
		{2, 510000000, 490000000, 490000000, DWELL_WAIT_PIPE, DWELL_WAIT_IDLE},
		{3, 0, 500000000, 500000000, DWELL_WAIT_PIPE, DWELL_WAIT_PIPE},
		{3, 500000000, 500000000, 499000000, DWELL_WAIT_PIPE, DWELL_WAIT_PIPE},
		{4, 0, 1000000000, 1000000000, DWELL_WAIT_LOCK, DWELL_WAIT_LOCK},
		{5, 300000000, 200000000, 100000000, DWELL_WAIT_SLEEP, DWELL_WAIT_IDLE},
	};
	enum { N = sizeof rows / sizeof *rows };
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_wait_at waits[N];
	uint32_t process, thread, name;

	CHECK_INT(dw_strings_adds(&p.strings, ".NET TP Gate", &name), 0);
	CHECK_INT(dw_processes_add(&p.processes, &(struct dw_process){.pid = 100}, &process), 0);
	for (int32_t tid = 100; tid < 105; tid++)
		CHECK_INT(dw_threads_add(&p.threads,
					 &(struct dw_thread){.process = process,
							     .tid = tid,
							     .name = tid == 104 ? name : 0},
					 &thread),
			  0);
	for (size_t i = 0; i < N; i++) {
		struct dw_extra x = {.begin_ns = rows[i].begin_ns,
				     .span_ns = rows[i].span_ns,
				     .n = rows[i].n,
				     .thread = rows[i].thread,
				     .measure = DWELL_MEASURE_BLOCKED};

		CHECK_INT(dw_vec_push(&p.extras.rows, x), 0);
		waits[i] = (struct dw_wait_at){x.thread, 1, rows[i].kind, x.n};
	}
	CHECK_INT(dw_facts_set(&p.facts, "duration_ns", 1010000000), 0);
	for (int times = 0; times < 2; times++) {
		CHECK_INT(dw_find_idle_threads(&p, waits, N), 0);
		CHECK_INT(dw_find_parked_threads(&p, waits), 0);
		for (size_t i = 0; i < N; i++)
			CHECK_INT(waits[i].kind, rows[i].becomes);
	}
	dw_profile_release(&p);
}

TEST(threads_of_runtimes_are_known)
{
	CHECK(dw_wait_is_service_thread(".NET Finalizer"));
	CHECK(dw_wait_is_service_thread("GC Thread#3"));
	CHECK(!dw_wait_is_service_thread(".NET TP Worker"));
	CHECK(!dw_wait_is_service_thread("GC Threads"));
	CHECK(!dw_wait_is_service_thread(""));
}

TEST_MAIN()
