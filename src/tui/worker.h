/*
 * A thread beside the one that draws. It does one thing at a time, which is handed over and taken
 * back: what belongs to it meanwhile is nobody else's. All calls are from the thread that draws.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

typedef void dw_work_fn(void *ctx);

/* Zero-initialised: not started. */
struct dw_worker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	dw_work_fn *fn; /* under the lock, as all below; NULL = nothing is to do */
	void *ctx;
	bool is_done; /* and nobody has looked yet */
	bool must_end;
	bool is_started, is_busy; /* of the thread that draws: until the end was seen */
	int fd;			  /* readable when something is done */
};

/* Start the thread. 0 or -errno, then there is none. @w stays where it is. */
int dw_worker_start(struct dw_worker *w);

/* Let it do @fn, while it is not busy. */
void dw_worker_give(struct dw_worker *w, dw_work_fn *fn, void *ctx);

/* Whether what it was given is done; then it is not busy any more. Waits at most @wait_ms for that,
 * below 0 = as long as it takes. */
bool dw_worker_take(struct dw_worker *w, int wait_ms);

/* End the thread. False: it is busy, and goes on with what it was given until the process ends;
 * that and @w must stay in memory. */
bool dw_worker_stop(struct dw_worker *w);
