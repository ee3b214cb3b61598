/*
 * Dividing work; see shares.h. Shares have about as many bytes of code each. A thread takes some
 * 30 us to start, which is what small modules take as a whole.
 */
#include "clone/shares.h"

#include <pthread.h>

enum { WORTH_BYTES = 1 << 16 };

struct job {
	void (*work)(void *ctx, const struct dw_share *share);
	void *ctx;
	struct dw_share share;
};

static void *run(void *arg)
{
	struct job *job = arg;

	job->work(job->ctx, &job->share);
	return NULL;
}

void dw_shares_run(const struct dw_clone_module *m,
		   void (*work)(void *ctx, const struct dw_share *share), void *ctx)
{
	struct job jobs[DWELL_SHARES];
	pthread_t threads[DWELL_SHARES];
	bool is_thread[DWELL_SHARES] = {0};
	uint64_t sum = 0, all = 0;
	uint32_t i = 0;

	dw_vec_each(f, &m->functions)
		all += f->end - f->start;
	for (unsigned k = 0; k < DWELL_SHARES; k++) {
		jobs[k] = (struct job){work, ctx, {.k = k, .first = i}};
		for (; i < m->functions.n &&
		       (k == DWELL_SHARES - 1 || sum < all / DWELL_SHARES * (k + 1));
		     i++)
			sum += m->functions.v[i].end - m->functions.v[i].start;
		jobs[k].share.end = i;
	}
	for (unsigned k = 1; k < DWELL_SHARES && all >= WORTH_BYTES; k++)
		is_thread[k] = !pthread_create(&threads[k], NULL, run, &jobs[k]);
	for (unsigned k = 0; k < DWELL_SHARES; k++) {
		if (is_thread[k])
			pthread_join(threads[k], NULL);
		else
			run(&jobs[k]);
	}
}
