/*
 * Latency of samples; see latency.h. One pass over samples by time, with a window around the one at
 * hand: how many samples of each thread are in it, and how many threads have any.
 */
#include "analysis/latency.h"

#include "model/measure.h"

#include <errno.h>
#include <stdlib.h>

struct window {
	const struct dw_samples *samples;
	const uint32_t *order; /* numbers of samples by time, NULL = as they are */
	size_t from, end;      /* in that order */
	uint32_t *of_thread;   /* samples in the window */
	uint32_t threads_n;    /* threads that there are, and */
	uint32_t run_n;	       /* those that have a sample in it */
};

static inline size_t at(const struct window *w, size_t i)
{
	return w->order ? w->order[i] : i;
}

/* The thread of the sample at @i; unknown ones are one. */
static inline uint32_t *thread_at(const struct window *w, size_t i)
{
	uint32_t thread = w->samples->thread[at(w, i)];

	return &w->of_thread[thread < w->threads_n ? thread : 0];
}

/* Move the window to the times from @from_ns to before @end_ns. */
static void move(struct window *w, uint64_t from_ns, uint64_t end_ns)
{
	const uint64_t *time_ns = w->samples->time_ns;

	for (; w->end < w->samples->n && time_ns[at(w, w->end)] < end_ns; w->end++)
		w->run_n += !(*thread_at(w, w->end))++;
	for (; w->from < w->end && time_ns[at(w, w->from)] < from_ns; w->from++)
		w->run_n -= !--(*thread_at(w, w->from));
}

static int compare_times(const void *a, const void *b, void *ctx)
{
	const uint64_t *time_ns = ctx;
	uint64_t x = time_ns[*(const uint32_t *)a], y = time_ns[*(const uint32_t *)b];

	return x < y ? -1 : x > y;
}

static bool is_in_order(const struct dw_samples *s)
{
	for (size_t i = 1; i < s->n; i++)
		if (s->time_ns[i] < s->time_ns[i - 1])
			return false;
	return true;
}

/* Samples by time. NULL with 0 = as they are. */
static int make_order(const struct dw_samples *s, uint32_t **ret)
{
	*ret = NULL;
	if (is_in_order(s))
		return 0;
	*ret = malloc(s->n * sizeof **ret);
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++)
		(*ret)[i] = (uint32_t)i;
	qsort_r(*ret, s->n, sizeof **ret, compare_times, s->time_ns);
	return 0;
}

int dw_latency_of_samples(const struct dw_profile *p, uint32_t **ret)
{
	const struct dw_samples *s = &p->samples;
	struct window w = {.samples = s, .threads_n = dw_threads_count(&p->threads) + 1};
	double sample_ns = dw_sample_ns(p);
	uint64_t period_ns = (uint64_t)sample_ns;
	uint32_t *order = NULL;
	int rc;

	*ret = NULL;
	if (!(sample_ns >= 1 && sample_ns < UINT32_MAX) || !s->n)
		return 0;
	w.of_thread = calloc(w.threads_n, sizeof *w.of_thread);
	*ret = malloc(s->n * sizeof **ret);
	rc = w.of_thread && *ret ? make_order(s, &order) : -ENOMEM;
	w.order = order;
	for (size_t i = 0; i < s->n && !rc; i++) {
		uint64_t ns = s->time_ns[at(&w, i)];
		uint64_t from_ns = ns - (ns < period_ns / 2 ? ns : period_ns / 2);

		/* Of times near the end of all numbers there is nothing behind. */
		move(&w, from_ns,
		     ns + (period_ns - period_ns / 2) > ns ? ns + (period_ns - period_ns / 2)
							   : UINT64_MAX);
		(*ret)[at(&w, i)] = (uint32_t)(sample_ns / (w.run_n ? w.run_n : 1) + .5);
	}
	free(order);
	free(w.of_thread);
	if (rc) {
		free(*ret);
		*ret = NULL;
	}
	return rc;
}
