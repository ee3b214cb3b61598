/* Costs that nodes do not cover; see cost-pools.h. */
#include "collect/region/cost-pools.h"

#include <errno.h>

int dw_cost_pools_begin(struct dw_cost_pools *p, size_t n)
{
	p->v.n = 0;
	p->more = p->left = 0;
	if (dw_vec_reserve(&p->v, n))
		return -ENOMEM;
	while (p->v.n < n)
		p->v.v[p->v.n++] = (struct dw_cost_pool){0};
	return 0;
}

double dw_cost_pools_add(struct dw_cost_pools *p, size_t callee, double time, double cost)
{
	struct dw_cost_pool *pool = &p->v.v[callee];
	double covered = cost < time ? cost : time;

	pool->left += cost - covered;
	pool->spare += time - covered;
	pool->covered += covered;
	return covered;
}

void dw_cost_pools_close(struct dw_cost_pools *p, bool is_known)
{
	double others = 0;

	dw_vec_each(pool, &p->v) {
		if (pool->left > pool->spare)
			p->left += pool->left - pool->spare;
		else if (pool->covered > 0)
			others += pool->covered;
	}
	if (is_known && p->left > 0 && others > 0)
		p->more = p->left / others;
}

double dw_cost_pools_cost(struct dw_cost_pools *p, size_t callee, double time, double cost)
{
	const struct dw_cost_pool *pool = &p->v.v[callee];
	double more = p->more * cost;

	if (pool->left >= pool->spare)
		return pool->left > 0 ? time : cost;
	if (pool->left > 0)
		cost += (time - cost) * (pool->left / pool->spare);
	if (more > time - cost)
		more = time - cost;
	if (more <= 0)
		return cost;
	p->left -= more;
	return cost + more;
}

void dw_cost_pools_release(struct dw_cost_pools *p)
{
	dw_vec_release(&p->v);
}
