/* Looks at the threads of this very process. */
#include "check.h"

#include "base/clock.h"
#include "collect/samples/dispatcher.h"
#include "collect/samples/track-procfs.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

struct worker {
	pthread_t thread;
	pthread_barrier_t steps;
	pid_t tid;
};

static void *work(void *ctx)
{
	struct worker *w = ctx;

	w->tid = gettid();
	prctl(PR_SET_NAME, "first");
	pthread_barrier_wait(&w->steps);
	pthread_barrier_wait(&w->steps);
	prctl(PR_SET_NAME, "second");
	pthread_barrier_wait(&w->steps);
	pthread_barrier_wait(&w->steps);
	return NULL;
}

static int look(struct dw_dispatcher *in, bool names, uint64_t told_ns)
{
	struct dw_track_look l = {.now_ns = dw_clock_ns(CLOCK_MONOTONIC),
				  .begin_ns = in->track.start_ns,
				  .told_ns = told_ns,
				  .names = names};

	return dw_track_look(&in->track, getpid(), &l);
}

static const char *name_of(const struct dw_dispatcher *in, pid_t tid)
{
	const struct dw_tracked_thread *th = dw_track_find(&in->track, tid);
	struct dw_profile *p = in->track.profile;

	return th ? dw_strings_get(&p->strings, dw_threads_get(&p->threads, th->id)->name) : NULL;
}

TEST(threads_begin_are_named_and_end)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct worker w;
	struct dw_dispatcher in;
	uint64_t before_ns;

	dw_dispatcher_init(&in, &p, NULL, false);
	in.track.start_ns = dw_clock_ns(CLOCK_MONOTONIC);
	pthread_barrier_init(&w.steps, NULL, 2);
	CHECK_INT(pthread_create(&w.thread, NULL, work, &w), 0);
	pthread_barrier_wait(&w.steps);
	CHECK_INT(look(&in, false, 0), 0);
	CHECK_STR(name_of(&in, w.tid), "first");
	pthread_barrier_wait(&w.steps);
	pthread_barrier_wait(&w.steps);
	CHECK_INT(look(&in, false, 0), 0);
	CHECK_STR(name_of(&in, w.tid), "first");
	CHECK_INT(look(&in, true, 0), 0);
	CHECK_STR(name_of(&in, w.tid), "second");
	pthread_barrier_wait(&w.steps);
	pthread_join(w.thread, NULL);
	while (!tgkill(getpid(), w.tid, 0)) /* it may be on its way out of the kernel */
		sched_yield();
	before_ns = dw_clock_ns(CLOCK_MONOTONIC);
	/* Something that it told may not have been taken in yet. */
	CHECK_INT(look(&in, false, before_ns), 0);
	CHECK(!dw_track_find(&in.track, w.tid)->ended);
	CHECK_INT(look(&in, false, UINT64_MAX), 0);
	CHECK(dw_track_find(&in.track, w.tid)->ended);
	CHECK(!dw_track_find(&in.track, getpid())->ended);
	dw_dispatcher_release(&in);
	dw_profile_release(&p);
}

TEST(process_that_is_gone)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_track_look l = {.now_ns = 1, .told_ns = UINT64_MAX};
	struct dw_dispatcher in;

	dw_dispatcher_init(&in, &p, NULL, false);
	CHECK_INT(dw_track_look(&in.track, 0x7ffffff0, &l), -ENOENT);
	CHECK_INT(in.track.threads.n, 0);
	dw_dispatcher_release(&in);
	dw_profile_release(&p);
}

TEST_MAIN()
