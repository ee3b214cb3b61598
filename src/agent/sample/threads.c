/*
 * Threads and their timers; see timer_create(2).
 *
 * Each timer counts the user time of its thread. The kernel looks at such timers at its own ticks
 * only (CONFIG_HZ), and adds a tick's time to whom it has interrupted in user code: so a sample is
 * taken where a tick finds the program's code at work, as perf's cpu-clock:u is. No system call of
 * the program is ever interrupted by them: they expire in user code, and where the kernel works
 * through expired timers later (CONFIG_POSIX_CPU_TIMERS_TASK_WORK, on x86-64 since Linux 5.11) a
 * call that is under way is not told.
 *
 * pthread_create() and thrd_create() are stood in for by name: the thread makes its timer itself,
 * before its own first function. A thread that comes by other ways (clone() by itself, a helper of
 * the C library) has no timer; the collector counts it.
 */
#include "agent/sample/sampling.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <threads.h>

enum {
	LOOKS = 4,	  /* old timers that are looked at when one is made */
	TRIES = 16,	  /* to find a free place: of timers below those never used */
	CLOCK_THREAD = 4, /* of a clock's number: a thread's, not a process's */
	CLOCK_USER = 1,	  /* likewise: its user time, by ticks */
};

static int user_clock(uint32_t tid)
{
	return (int)(~tid << 3 | CLOCK_THREAD | CLOCK_USER);
}

/* Make and start a timer for @tid, which sends @signal: its id, or -errno. */
static int make(uint32_t tid, int signal)
{
	const uint64_t ns = dw_sampling.interval_ns;
	const struct timespec interval = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	const struct itimerspec when = {interval, interval};
	struct sigevent event = {.sigev_signo = signal,
				 .sigev_notify = SIGEV_THREAD_ID,
				 .sigev_value.sival_ptr = DWELL_TIMER_VALUE};
	int id = -1, error;

	event._sigev_un._tid = (int)tid;
	error = (int)dw_syscall(SYS_timer_create, user_clock(tid), &event, &id);
	if (error)
		return error;
	error = (int)dw_syscall(SYS_timer_settime, id, 0, &when, 0);
	if (!error)
		return id;
	dw_syscall(SYS_timer_delete, id);
	return error;
}

static bool change(uint64_t *place, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(place, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/* Delete the timer at @place if its thread is there no more. */
static void look_at(uint64_t *place)
{
	uint64_t word = __atomic_load_n(place, __ATOMIC_ACQUIRE);

	if (!(uint32_t)word || dw_syscall(SYS_tgkill, dw_sys_getpid(), word >> 32, 0) != -ESRCH)
		return;
	if (change(place, word, 0))
		dw_syscall(SYS_timer_delete, (uint32_t)word - 1);
}

static void look_at_some(void)
{
	uint32_t n = __atomic_load_n(&dw_sampling.timers_n, __ATOMIC_RELAXED);

	n = n < DWELL_SAMPLE_TIMERS ? n : DWELL_SAMPLE_TIMERS;
	for (int i = 0; i < LOOKS && n; i++) {
		uint32_t at = __atomic_fetch_add(&dw_sampling.looked_at, 1, __ATOMIC_RELAXED);

		look_at(&dw_sampling.timers[at % n]);
	}
}

/* A free place, taken for @tid. NULL: none. */
static uint64_t *take_place(uint32_t tid)
{
	uint32_t n = __atomic_load_n(&dw_sampling.timers_n, __ATOMIC_RELAXED);
	uint32_t from = __atomic_load_n(&dw_sampling.looked_at, __ATOMIC_RELAXED);
	const uint64_t taken = (uint64_t)tid << 32;

	n = n < DWELL_SAMPLE_TIMERS ? n : DWELL_SAMPLE_TIMERS;
	for (uint32_t i = 1; i <= TRIES && n; i++)
		if (change(&dw_sampling.timers[(from - i) % n], 0, taken))
			return &dw_sampling.timers[(from - i) % n];
	n = __atomic_fetch_add(&dw_sampling.timers_n, 1, __ATOMIC_RELAXED);
	return n < DWELL_SAMPLE_TIMERS && change(&dw_sampling.timers[n], 0, taken)
		       ? &dw_sampling.timers[n]
		       : NULL;
}

bool dw_timers_start(void)
{
	dw_sampling.timers = dw_agent_memory(DWELL_SAMPLE_TIMERS * sizeof(*dw_sampling.timers));
	return dw_sampling.timers;
}

/* Make the timer of @tid, whose @place it is. */
static bool arm(uint64_t *place, uint32_t tid)
{
	int signal = __atomic_load_n(&dw_sampling.signal, __ATOMIC_ACQUIRE), id, now = signal;

	do {
		signal = now;
		id = signal ? make(tid, signal) : -ESRCH;
		now = __atomic_load_n(&dw_sampling.signal, __ATOMIC_ACQUIRE);
		if (now != signal && id >= 0) /* the other has gone to the program meanwhile */
			dw_syscall(SYS_timer_delete, id);
	} while (now != signal);
	__atomic_store_n(place, id < 0 ? 0 : (uint64_t)tid << 32 | ((uint32_t)id + 1),
			 __ATOMIC_RELEASE);
	return id >= 0;
}

bool dw_timer_arm(uint32_t tid)
{
	uint64_t *place;

	if (dw_agent_is_over())
		return false;
	look_at_some();
	place = take_place(tid);
	if (!place || !arm(place, tid))
		return false;
	if (!dw_sampling_is_on()) /* stopped meanwhile, perhaps before this one was to be seen */
		dw_timers_stop();
	return true;
}

/* Delete the timer of @tid, 0 = all. */
static void stop(uint32_t tid)
{
	uint32_t n = __atomic_load_n(&dw_sampling.timers_n, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < n && i < DWELL_SAMPLE_TIMERS; i++) {
		uint64_t *place = &dw_sampling.timers[i];
		uint64_t word = __atomic_load_n(place, __ATOMIC_ACQUIRE);

		if ((uint32_t)word && (!tid || tid == word >> 32) &&
		    change(place, word, word >> 32 << 32))
			dw_syscall(SYS_timer_delete, (uint32_t)word - 1);
	}
}

void dw_timers_stop(void)
{
	stop(0);
}

void dw_timer_stop(uint32_t tid)
{
	stop(tid);
}

void dw_timers_resume(void)
{
	uint32_t n = __atomic_load_n(&dw_sampling.timers_n, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < n && i < DWELL_SAMPLE_TIMERS; i++) {
		uint64_t word = __atomic_load_n(&dw_sampling.timers[i], __ATOMIC_ACQUIRE);

		if (word && !(uint32_t)word)
			arm(&dw_sampling.timers[i], (uint32_t)(word >> 32));
	}
}

void dw_timers_forget(void)
{
	uint32_t n = dw_sampling.timers_n < DWELL_SAMPLE_TIMERS ? dw_sampling.timers_n
								: DWELL_SAMPLE_TIMERS;

	memset(dw_sampling.timers, 0, n * sizeof(*dw_sampling.timers));
	dw_sampling.timers_n = dw_sampling.looked_at = 0;
}

__thread uint64_t dw_sample_top __attribute__((tls_model("initial-exec")));

void dw_thread_tell(void)
{
	const uint64_t pointer = dw_thread_pointer();
	struct dw_ring_place place;

	if (!dw_ring_begin(&place, DWELL_SAMPLE_THREAD, sizeof(pointer)))
		return;
	dw_ring_write(&place, 0, &pointer, sizeof(pointer));
	dw_ring_end(&place, sizeof(pointer));
}

void dw_thread_sampled(void)
{
	if (!dw_timer_arm((uint32_t)dw_syscall(SYS_gettid)))
		__atomic_fetch_add(&dw_sampling.ring->threads_refused, 1, __ATOMIC_RELAXED);
	dw_thread_tell();
}

struct dw_thread_run dw_thread_begin(void *start, uint64_t top)
{
	struct dw_sample_start *s = start;
	const struct dw_thread_run run = {s->run, s->arg};

	__atomic_store_n(&s->is_taken, 0, __ATOMIC_RELEASE);
	dw_sample_top = top;
	if (dw_sampling_is_on() && dw_agent_may_call()) {
		dw_agent_after_fork();
		if (dw_agent_is_on())
			dw_thread_sampled();
	}
	return run;
}

/* A place for @run(@arg). NULL: none is free, or nothing is sampled. */
static struct dw_sample_start *take_start(void *(*run)(void *), void *arg)
{
	if (!dw_sampling_is_on())
		return NULL;
	for (int i = 0; i < TRIES; i++) {
		uint32_t at = __atomic_fetch_add(&dw_sampling.next_start, 1, __ATOMIC_RELAXED);
		struct dw_sample_start *s = &dw_sampling.starts[at % DWELL_SAMPLE_STARTS];

		if (__atomic_exchange_n(&s->is_taken, 1, __ATOMIC_ACQUIRE))
			continue;
		s->run = run;
		s->arg = arg;
		return s;
	}
	__atomic_fetch_add(&dw_sampling.ring->threads_refused, 1, __ATOMIC_RELAXED);
	return NULL;
}

DWELL_STAND_IN int pthread_create(pthread_t *thread, const pthread_attr_t *how,
				  void *(*run)(void *), void *arg)
{
	__typeof__(&pthread_create) real = DW_REAL(pthread_create);
	struct dw_sample_start *s = take_start(run, arg);
	int error;

	if (!s)
		return real(thread, how, run, arg);
	error = real(thread, how, dw_thread_entry, s);
	if (error)
		__atomic_store_n(&s->is_taken, 0, __ATOMIC_RELEASE);
	return error;
}

DWELL_STAND_IN int thrd_create(thrd_t *thread, thrd_start_t run, void *arg)
{
	__typeof__(&thrd_create) real = DW_REAL(thrd_create);
	struct dw_sample_start *s = take_start((void *(*)(void *))(uintptr_t)run, arg);
	int error;

	if (!s)
		return real(thread, run, arg);
	error = real(thread, (thrd_start_t)(uintptr_t)dw_thread_entry, s);
	if (error)
		__atomic_store_n(&s->is_taken, 0, __ATOMIC_RELEASE);
	return error;
}
