/* Single calls and sums; see slow-calls.h. Parents have smaller ids, so one pass from the last node
 * on adds up what is below each. */
#include "analysis/slow-calls.h"

#include <errno.h>
#include <stdlib.h>

/* Of a path: what it has itself, and with all that is below it. */
struct path_sum {
	uint64_t calls;
	uint64_t own_elapsed_ns, own_application_ns;
	uint64_t elapsed_ns, application_ns;
};

static void add_values(struct path_sum *s, const struct dw_call_values *v)
{
	s->calls += v->calls;
	s->own_elapsed_ns += v->elapsed_ns;
	s->own_application_ns += v->application_ns;
}

/* What nodes have of their own, by id. */
static void sum_up_own(const struct dw_calls *calls, struct path_sum *sums, uint32_t n)
{
	if (dw_calls_summed(calls))
		for (uint32_t id = 1; id < n; id++) {
			const struct dw_call_values v = dw_call_store_get(&calls->sums, id - 1);

			add_values(&sums[id], &v);
		}
	else
		dw_vec_each(d, &calls->deltas) {
			if (d->node < n)
				add_values(&sums[d->node], &d->values);
		}
}

/* Add what nodes have to those above them: time of a statement is its function's own. */
static void sum_up_paths(const struct dw_calls *calls, struct path_sum *sums, uint32_t n)
{
	for (uint32_t id = n; --id;) {
		const struct dw_call_node *node = dw_calls_get(calls, id);
		struct path_sum *s = &sums[id], *up = &sums[node->parent < id ? node->parent : 0];

		s->elapsed_ns += s->own_elapsed_ns;
		s->application_ns += s->own_application_ns;
		if (node->flags & DWELL_CALL_LINE) {
			up->own_elapsed_ns += s->own_elapsed_ns;
			up->own_application_ns += s->own_application_ns;
			s->elapsed_ns -= s->own_elapsed_ns;
			s->application_ns -= s->own_application_ns;
		}
		up->elapsed_ns += s->elapsed_ns;
		up->application_ns += s->application_ns;
	}
}

/* By thread id: 1 = calls beyond its memory for paths are in no path, or in an estimated one. */
static uint8_t *find_pathless(const struct dw_profile *p, uint32_t n, uint32_t threads_n)
{
	uint8_t *is_pathless = calloc(threads_n, 1);

	for (uint32_t id = 1; is_pathless && id < n; id++) {
		const struct dw_call_node *node = dw_calls_get(&p->calls, id);

		if (node->flags & DWELL_CALL_OVERFLOW && node->thread < threads_n)
			is_pathless[node->thread] = 1;
	}
	return is_pathless;
}

static void fit_time(uint64_t *ns, uint64_t sum_ns, uint64_t calls)
{
	if (calls == 1 || *ns > sum_ns)
		*ns = sum_ns;
}

/* What is no application time is in one of the parts: what these lack or have too much is the
 * largest one's. */
static void fit_parts(struct dw_call_slow *slow)
{
	uint64_t *largest = &slow->io_ns, *parts[] = {&slow->blocking_ns, &slow->switched_ns};
	uint64_t all = slow->io_ns + slow->blocking_ns + slow->switched_ns;
	uint64_t want = slow->inclusive.elapsed_ns - slow->inclusive.application_ns;

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (*parts[i] > *largest)
			largest = parts[i];
	if (want > all)
		*largest += want - all;
	else
		*largest -= all - want < *largest ? all - want : *largest;
}

static void fit(struct dw_call_slow *slow, const struct path_sum *s)
{
	fit_time(&slow->inclusive.elapsed_ns, s->elapsed_ns, s->calls);
	fit_time(&slow->inclusive.application_ns, s->application_ns, s->calls);
	fit_time(&slow->exclusive.elapsed_ns, s->own_elapsed_ns, s->calls);
	fit_time(&slow->exclusive.application_ns, s->own_application_ns, s->calls);
	if (slow->inclusive.application_ns > slow->inclusive.elapsed_ns)
		slow->inclusive.application_ns = slow->inclusive.elapsed_ns;
	fit_parts(slow);
}

int dw_fit_slow_calls(struct dw_profile *p)
{
	struct dw_calls *calls = &p->calls;
	uint32_t n = dw_calls_count(calls) + 1, threads_n = dw_threads_count(&p->threads) + 1;
	struct path_sum *sums;
	uint8_t *is_pathless;
	int rc;

	if (!calls->slow.n || calls->nodes_written)
		return 0;
	sums = calloc(n, sizeof *sums);
	is_pathless = find_pathless(p, n, threads_n);
	rc = sums && is_pathless ? 0 : -ENOMEM;
	if (!rc) {
		sum_up_own(calls, sums, n);
		sum_up_paths(calls, sums, n);
		dw_vec_each(slow, &calls->slow) {
			const struct dw_call_node *node = dw_calls_get(calls, slow->node);

			if (node && node->thread < threads_n && !is_pathless[node->thread] &&
			    sums[slow->node].calls)
				fit(slow, &sums[slow->node]);
		}
	}
	free(is_pathless);
	free(sums);
	return rc;
}
