/* Sample columns; see sample.h. */
#include "model/sample.h"

#include "base/vec.h"

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
