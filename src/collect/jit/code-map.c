/*
 * Maps of code; see code-map.h. New pieces are merged into the sorted list, those that they cover
 * go to the list of old ones, whose newest are searched only where the newer one had not come yet.
 */
#include "collect/jit/code-map.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>

enum { OLD_LOOKED_AT = 4096 };

static int compare(const void *pa, const void *pb)
{
	const struct dw_code_piece *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static int compare_times(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

int dw_code_map_add(struct dw_code_map *m, const struct dw_code_piece *piece)
{
	return dw_vec_push(&m->fresh, *piece);
}

/* Merge the fresh pieces into the sorted list, from its end on. */
static int merge(struct dw_code_map *m)
{
	size_t a = m->pieces.n, b = m->fresh.n, to = a + b;

	if (dw_vec_reserve(&m->pieces, b))
		return -ENOMEM;
	m->pieces.n = to;
	while (b)
		if (a && compare(&m->pieces.v[a - 1], &m->fresh.v[b - 1]) > 0)
			m->pieces.v[--to] = m->pieces.v[--a];
		else
			m->pieces.v[--to] = m->fresh.v[--b];
	return 0;
}

/* Leave the newer one of pieces that overlap. */
static int drop_covered(struct dw_code_map *m)
{
	size_t n = 0;

	dw_vec_each(p, &m->pieces) {
		struct dw_code_piece *last = n ? &m->pieces.v[n - 1] : NULL, older;

		if (!last || last->end <= p->start) {
			m->pieces.v[n++] = *p;
			continue;
		}
		older = last->row < p->row ? *last : *p;
		*last = last->row < p->row ? *p : *last;
		if (dw_vec_push(&m->old, older) || dw_vec_push(&m->changes, last->since_ns))
			return -ENOMEM;
	}
	m->pieces.n = n;
	return 0;
}

int dw_code_map_merge(struct dw_code_map *m)
{
	size_t changes = m->changes.n;
	int rc;

	if (!m->fresh.n)
		return 0;
	qsort(m->fresh.v, m->fresh.n, sizeof *m->fresh.v, compare);
	rc = merge(m);
	m->fresh.n = 0;
	if (!rc)
		rc = drop_covered(m);
	if (m->changes.n > changes)
		qsort(m->changes.v + changes, m->changes.n - changes, sizeof *m->changes.v,
		      compare_times);
	return rc;
}

static bool covers(const struct dw_code_piece *p, uint64_t avma)
{
	return avma >= p->start && avma < p->end;
}

const struct dw_code_piece *dw_code_map_find(const struct dw_code_map *m, uint64_t avma,
					     uint64_t time_ns)
{
	size_t behind = dw_sorted_count(m->pieces.v, m->pieces.n, p, p->start <= avma);
	size_t oldest = m->old.n > OLD_LOOKED_AT ? m->old.n - OLD_LOOKED_AT : 0;
	const struct dw_code_piece *p = behind ? &m->pieces.v[behind - 1] : NULL, *first = NULL;

	if (p && covers(p, avma)) {
		if (p->since_ns <= time_ns)
			return p;
		first = p;
	}
	for (size_t i = m->old.n; i > oldest; i--) {
		p = &m->old.v[i - 1];
		if (!covers(p, avma))
			continue;
		if (p->since_ns <= time_ns)
			return p;
		first = p;
	}
	return m->told_late ? first : NULL;
}

void dw_code_map_release(struct dw_code_map *m)
{
	dw_vec_release(&m->pieces);
	dw_vec_release(&m->old);
	dw_vec_release(&m->fresh);
	dw_vec_release(&m->changes);
}
