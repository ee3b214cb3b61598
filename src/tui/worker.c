/* The thread beside; see worker.h. */
#include "tui/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static void tell(int fd)
{
	const uint64_t one = 1;

	/* It cannot be full; if it could not be written, the next key would show what is done. */
	if (write(fd, &one, sizeof one) < 0)
		return;
}

static void *work(void *ctx)
{
	struct dw_worker *w = ctx;

	pthread_mutex_lock(&w->lock);
	while (!w->must_end) {
		dw_work_fn *fn = w->fn;
		void *its = w->ctx;

		if (!fn) {
			pthread_cond_wait(&w->changed, &w->lock);
			continue;
		}
		w->fn = NULL;
		pthread_mutex_unlock(&w->lock);
		fn(its);
		pthread_mutex_lock(&w->lock);
		w->is_done = true;
		pthread_cond_broadcast(&w->changed);
		tell(w->fd);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* What the thread that draws looks for is to wake that. */
static int start_thread(struct dw_worker *w)
{
	static const int its[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH};
	sigset_t blocked, before;
	int rc;

	sigemptyset(&blocked);
	for (size_t i = 0; i < sizeof its / sizeof *its; i++)
		sigaddset(&blocked, its[i]);
	pthread_sigmask(SIG_BLOCK, &blocked, &before);
	rc = pthread_create(&w->thread, NULL, work, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -rc;
}

int dw_worker_start(struct dw_worker *w)
{
	pthread_condattr_t attributes;
	int rc;

	*w = (struct dw_worker){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	if (w->fd < 0)
		return -errno;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&w->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	rc = start_thread(w);
	w->is_started = !rc;
	if (rc) {
		pthread_cond_destroy(&w->changed);
		pthread_mutex_destroy(&w->lock);
		close(w->fd);
	}
	return rc;
}

void dw_worker_give(struct dw_worker *w, dw_work_fn *fn, void *ctx)
{
	pthread_mutex_lock(&w->lock);
	w->fn = fn;
	w->ctx = ctx;
	w->is_busy = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

static struct timespec later(int ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += ms % 1000 * 1000000L;
	t.tv_sec += ms / 1000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

bool dw_worker_take(struct dw_worker *w, int wait_ms)
{
	struct timespec end = later(wait_ms > 0 ? wait_ms : 0);
	uint64_t count;
	bool is_done;
	int rc = 0;

	if (!w->is_busy)
		return false;
	pthread_mutex_lock(&w->lock);
	while (!w->is_done && !rc)
		rc = wait_ms < 0 ? pthread_cond_wait(&w->changed, &w->lock)
				 : pthread_cond_timedwait(&w->changed, &w->lock, &end);
	is_done = w->is_done;
	if (is_done) {
		w->is_done = w->is_busy = false;
		/* Told under the lock, so it is there to be read. */
		if (read(w->fd, &count, sizeof count) < 0)
			count = 0;
	}
	pthread_mutex_unlock(&w->lock);
	return is_done;
}

bool dw_worker_stop(struct dw_worker *w)
{
	bool is_idle = !w->is_busy || dw_worker_take(w, 0);

	if (!w->is_started)
		return true;
	w->is_started = false;
	if (!is_idle) {
		pthread_detach(w->thread);
		return false;
	}
	pthread_mutex_lock(&w->lock);
	w->must_end = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	close(w->fd);
	return true;
}
