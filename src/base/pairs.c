/* Pairs of numbers; see pairs.h. */
#include "base/pairs.h"

static uint32_t hash_of(uint64_t a, uint64_t b)
{
	return (uint32_t)dw_hash_u64(dw_hash_u64(a) + b);
}

struct wanted {
	const struct dw_pairs *pairs;
	struct dw_pair pair;
};

static bool is_equal(const void *ctx, uint32_t id)
{
	const struct wanted *w = ctx;
	const struct dw_pair *p = &w->pairs->v.v[id - 1];

	return p->a == w->pair.a && p->b == w->pair.b;
}

uint32_t dw_pairs_find(const struct dw_pairs *p, uint64_t a, uint64_t b)
{
	struct wanted w = {p, {a, b}};

	return dw_idset_find(&p->set, hash_of(a, b), is_equal, &w);
}

uint32_t dw_pairs_add(struct dw_pairs *p, uint64_t a, uint64_t b)
{
	uint32_t id = dw_pairs_find(p, a, b);

	if (id || p->v.n >= UINT32_MAX - 1 || dw_vec_push(&p->v, (struct dw_pair){a, b}))
		return id;
	if (!dw_idset_add(&p->set, hash_of(a, b), (uint32_t)p->v.n))
		return (uint32_t)p->v.n;
	p->v.n--;
	return 0;
}

void dw_pairs_release(struct dw_pairs *p)
{
	dw_vec_release(&p->v);
	dw_idset_release(&p->set);
}
