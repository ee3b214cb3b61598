/*
 * Threads; see thread-begin.h. pthread_create() and thrd_create() are stood in for by name: the
 * thread makes its timer itself, before its own first function. A thread that comes by other ways
 * (clone() by itself, a helper of the C library) has no timer; the collector counts it.
 */
#include "agent/sample/thread-begin.h"

#include "agent/core/agent.h"
#include "agent/core/syscall-x86-64.h"
#include "agent/sample/reals.h"
#include "agent/sample/ring.h"
#include "agent/sample/timers.h"

#include <pthread.h>
#include <threads.h>

#define STAND_IN __attribute__((visibility("default")))

enum { TRIES = 16 };

__thread uint64_t dw_sample_top __attribute__((tls_model("initial-exec")));

void dw_thread_sampled(void)
{
	struct dw_ring_place place;

	if (!dw_timer_arm((uint32_t)dw_syscall(SYS_gettid)))
		__atomic_fetch_add(&dw_sampling.ring->threads_refused, 1, __ATOMIC_RELAXED);
	if (dw_ring_begin(&place, DWELL_SAMPLE_THREAD, 0))
		dw_ring_end(&place, 0);
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

STAND_IN int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
			    void *arg)
{
	__typeof__(&pthread_create) real = DW_SAMPLE_REAL(pthread_create);
	struct dw_sample_start *s = take_start(run, arg);
	int error;

	if (!s)
		return real(thread, how, run, arg);
	error = real(thread, how, dw_thread_entry, s);
	if (error)
		__atomic_store_n(&s->is_taken, 0, __ATOMIC_RELEASE);
	return error;
}

STAND_IN int thrd_create(thrd_t *thread, thrd_start_t run, void *arg)
{
	__typeof__(&thrd_create) real = DW_SAMPLE_REAL(thrd_create);
	struct dw_sample_start *s = take_start((void *(*)(void *))(uintptr_t)run, arg);
	int error;

	if (!s)
		return real(thread, run, arg);
	error = real(thread, (thrd_start_t)(uintptr_t)dw_thread_entry, s);
	if (error)
		__atomic_store_n(&s->is_taken, 0, __ATOMIC_RELEASE);
	return error;
}
