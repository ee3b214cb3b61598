/* Costs of cells; see cell-costs.h. */
#include "collect/region/cell-costs.h"

#include <errno.h>

void dw_cell_costs_clear(struct dw_cell_costs *c)
{
	c->rows.n = 0;
	dw_pairs_release(&c->of);
}

int dw_cell_costs_add(struct dw_cell_costs *c, uint32_t function, double elapsed, double cost)
{
	uint32_t i = dw_pairs_add(&c->of, function, 0);

	if (!i || (i > c->rows.n && dw_vec_push(&c->rows, (struct dw_cell_cost){0})))
		return -ENOMEM;
	c->rows.v[i - 1].elapsed += elapsed;
	c->rows.v[i - 1].cost += cost;
	return 0;
}

double dw_cell_costs_share(const struct dw_cell_costs *c, uint32_t function, double elapsed)
{
	uint32_t i = dw_pairs_find(&c->of, function, 0);
	const struct dw_cell_cost *row = i ? &c->rows.v[i - 1] : NULL;

	return row && row->elapsed > 0 && elapsed > 0 ? row->cost * elapsed / row->elapsed : 0;
}

void dw_cell_costs_release(struct dw_cell_costs *c)
{
	dw_vec_release(&c->rows);
	dw_pairs_release(&c->of);
}
