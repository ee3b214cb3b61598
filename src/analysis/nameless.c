/* Code without names; see nameless.h. */
#include "analysis/nameless.h"

#include <stdlib.h>

enum { WORTH_PCT = 5 };

static uint64_t work_of(const struct dw_totals *t, const struct dw_function_total *row)
{
	const struct dw_measured m = dw_totals_measured(t, row->amounts);

	return dw_measured_get(&m, dw_totals_work(t), true);
}

/* Add up by module what nameless functions of files have. */
static void add_up(const struct dw_profile *p, const struct dw_totals *t, uint64_t *sums)
{
	dw_vec_each(row, &t->functions) {
		const struct dw_function *f = dw_functions_get(&p->functions, row->function);
		const struct dw_module *m = f ? dw_modules_get(&p->modules, f->module) : NULL;

		if (m && m->kind == DWELL_MODULE_FILE && f->flags & DWELL_FUNCTION_NO_SYMBOL)
			sums[f->module] += work_of(t, row);
	}
}

/* The module with most, 0 = nothing is left. */
static uint32_t largest(const uint64_t *sums, uint32_t n)
{
	uint32_t best = 0;

	for (uint32_t id = 1; id <= n; id++)
		if (sums[id] > sums[best])
			best = id;
	return best;
}

void dw_nameless_find(const struct dw_profile *p, const struct dw_totals *t,
		      struct dw_nameless *ret)
{
	uint32_t n = dw_modules_count(&p->modules), id;
	uint64_t *sums = calloc((size_t)n + 1, sizeof *sums), all = t->all[dw_totals_work(t)];

	*ret = (struct dw_nameless){0};
	if (!sums)
		return;
	add_up(p, t, sums);
	for (id = 1; id <= n; id++)
		ret->exclusive += sums[id];
	if (ret->exclusive * 100 < all * WORTH_PCT || !all)
		ret->exclusive = 0;
	while (ret->exclusive && ret->n < DWELL_NAMELESS_MAX && (id = largest(sums, n))) {
		/* Not those with a few samples beside others. */
		if (ret->n && sums[id] * 100 < all)
			break;
		ret->modules[ret->n++] = id;
		sums[id] = 0;
	}
	free(sums);
}
