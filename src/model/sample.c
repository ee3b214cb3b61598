/* Samples and waits; see sample.h. */
#include "model/sample.h"

#include <errno.h>

static int grow(struct dw_samples *s)
{
	size_t cap_time = s->cap, cap_thread = s->cap;

	if (dw_vec_grow((void **)&s->time_ns, &cap_time, s->n + 1, sizeof *s->time_ns) ||
	    dw_vec_grow((void **)&s->thread, &cap_thread, s->n + 1, sizeof *s->thread))
		return -ENOMEM;
	return dw_vec_grow((void **)&s->stack, &s->cap, s->n + 1, sizeof *s->stack);
}

int dw_samples_add(struct dw_samples *s, uint64_t time_ns, uint32_t thread, uint32_t stack)
{
	if (s->n == s->cap && grow(s))
		return -ENOMEM;
	s->time_ns[s->n] = time_ns;
	s->thread[s->n] = thread;
	s->stack[s->n] = stack;
	s->n++;
	return 0;
}

void dw_samples_clear(struct dw_samples *s)
{
	s->n = 0;
}

void dw_samples_release(struct dw_samples *s)
{
	free(s->time_ns);
	free(s->thread);
	free(s->stack);
	*s = (struct dw_samples){0};
}

uint64_t dw_wait_within(const struct dw_wait *w, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t end = w->begin_ns + w->span_ns, begin = w->begin_ns;

	if (end < begin)
		end = UINT64_MAX;
	if (begin < from_ns)
		begin = from_ns;
	if (to_ns && end > to_ns)
		end = to_ns;
	if (end <= begin)
		return 0;
	if (end - begin >= w->span_ns)
		return w->blocked_ns;
	return (uint64_t)((unsigned __int128)w->blocked_ns * (end - begin) / w->span_ns);
}
