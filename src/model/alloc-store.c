/* Rows of values; see alloc-store.h. */
#include "model/alloc-store.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

int dw_alloc_store_extend(struct dw_alloc_store *s, size_t n)
{
	size_t more = n > s->plain.n ? n - s->plain.n : 0;

	if (!more)
		return 0;
	if (dw_vec_reserve(&s->plain, more) || dw_vec_reserve(&s->apart_of, more))
		return -ENOMEM;
	memset(s->plain.v + s->plain.n, 0, more * sizeof *s->plain.v);
	memset(s->apart_of.v + s->plain.n, 0, more * sizeof *s->apart_of.v);
	s->plain.n = s->apart_of.n = n;
	return 0;
}

static bool has_apart(const struct dw_alloc_values *v)
{
	uint64_t any = 0;

	for (int i = DWELL_ALLOC_PLAIN; i < DWELL_GENERATIONS; i++)
		any |= v->collected[i].objects | v->collected[i].bytes;
	return any;
}

int dw_alloc_store_add(struct dw_alloc_store *s, size_t row, const struct dw_alloc_values *more)
{
	struct dw_alloc_plain *p = &s->plain.v[row];

	dw_alloc_count_add(&p->allocated, &more->allocated);
	for (int i = 0; i < DWELL_ALLOC_PLAIN; i++)
		dw_alloc_count_add(&p->collected[i], &more->collected[i]);
	if (!has_apart(more))
		return 0;
	if (!s->apart_of.v[row]) {
		if (dw_vec_push(&s->apart, (struct dw_alloc_apart){0}))
			return -ENOMEM;
		s->apart_of.v[row] = (uint32_t)s->apart.n;
	}
	for (int i = DWELL_ALLOC_PLAIN; i < DWELL_GENERATIONS; i++)
		dw_alloc_count_add(
			&s->apart.v[s->apart_of.v[row] - 1].collected[i - DWELL_ALLOC_PLAIN],
			&more->collected[i]);
	return 0;
}

void dw_alloc_store_release(struct dw_alloc_store *s)
{
	dw_vec_release(&s->plain);
	dw_vec_release(&s->apart_of);
	dw_vec_release(&s->apart);
}
