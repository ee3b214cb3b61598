/*
 * Callers beyond the tree; see call-beyond.h. A caller that still has a place in the tree has no
 * row that is asked for: its part stays with the truncated time.
 */
#include "collect/region/call-beyond.h"

#include "collect/region/rows.h"

#include <errno.h>

static uint64_t hash(const struct dw_tree_overflow *o, uint64_t key)
{
	return dw_hash_u64(key) + o->thread;
}

void dw_call_beyond_clear(struct dw_call_beyond *b)
{
	b->rows.n = 0;
	dw_map_release(&b->of);
}

int dw_call_beyond_add(struct dw_call_beyond *b, const struct dw_tree_overflow *o, double elapsed,
		       double cost)
{
	struct dw_call_beyond_row *row = dw_row_of(&b->rows, &b->of, hash(o, o->caller));

	if (!row)
		return -ENOMEM;
	row->cost += cost;
	row = dw_row_of(&b->rows, &b->of, hash(o, o->key));
	if (!row)
		return -ENOMEM;
	row->elapsed += elapsed;
	return 0;
}

double dw_call_beyond_share(const struct dw_call_beyond *b, const struct dw_tree_overflow *o,
			    double elapsed)
{
	uint32_t i = dw_map_get(&b->of, hash(o, o->key));
	const struct dw_call_beyond_row *row = i ? &b->rows.v[i - 1] : NULL;

	return row && row->elapsed > 0 ? row->cost * elapsed / row->elapsed : 0;
}

void dw_call_beyond_release(struct dw_call_beyond *b)
{
	dw_vec_release(&b->rows);
	dw_map_release(&b->of);
}
