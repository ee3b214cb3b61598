/*
 * Callers beyond the tree; see call-beyond.h. A caller that still has a place in the tree has no
 * row that is asked for: its part stays with the truncated time.
 */
#include "collect/region/call-beyond.h"

#include <errno.h>

/* The row of @key in the thread of @o, made where there is none. NULL without memory. */
static struct dw_call_beyond_row *row_of(struct dw_call_beyond *b, const struct dw_tree_overflow *o,
					 uint64_t key)
{
	uint32_t id = dw_pairs_add(&b->of, key, o->thread);

	if (!id || (id > b->rows.n && dw_vec_push(&b->rows, (struct dw_call_beyond_row){0})))
		return NULL;
	return &b->rows.v[id - 1];
}

void dw_call_beyond_clear(struct dw_call_beyond *b)
{
	b->rows.n = 0;
	dw_pairs_release(&b->of);
}

int dw_call_beyond_add(struct dw_call_beyond *b, const struct dw_tree_overflow *o, double elapsed,
		       double cost)
{
	struct dw_call_beyond_row *row = row_of(b, o, o->caller);

	if (!row)
		return -ENOMEM;
	row->cost += cost;
	row = row_of(b, o, o->key);
	if (!row)
		return -ENOMEM;
	row->elapsed += elapsed;
	return 0;
}

double dw_call_beyond_share(const struct dw_call_beyond *b, const struct dw_tree_overflow *o,
			    double elapsed)
{
	uint32_t i = dw_pairs_find(&b->of, o->key, o->thread);
	const struct dw_call_beyond_row *row = i ? &b->rows.v[i - 1] : NULL;

	return row && row->elapsed > 0 ? row->cost * elapsed / row->elapsed : 0;
}

void dw_call_beyond_release(struct dw_call_beyond *b)
{
	dw_vec_release(&b->rows);
	dw_pairs_release(&b->of);
}
