/* Types of all processes together; see hot-types.h. They are the same when their names are. */
#include "analysis/hot-types.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "base/sort.h"

#include <errno.h>

static uint64_t weight(const struct dw_hot_type *t, enum dw_hot_types_order order)
{
	const struct dw_alloc_values *v = &t->allocs.inclusive;

	switch (order) {
	case DWELL_TYPES_BY_OBJECTS:
		return v->allocated.objects;
	case DWELL_TYPES_BY_OLD_BYTES:
		return v->collected[DWELL_GENERATION_2].bytes;
	default:
		return v->allocated.bytes;
	}
}

/* All types by name, in order of first sight. */
static int group_types(const struct dw_profile *p, const struct dw_totals *t,
		       struct dw_hot_types *ret)
{
	struct dw_map by_name = {0}; /* name -> index + 1 */
	int rc = 0;

	dw_vec_each(row, &t->types) {
		const struct dw_alloc_type *type =
			dw_allocations_get_type(&p->allocations, row->type);
		uint64_t name = type ? type->name : 0;
		uint32_t at = dw_map_get(&by_name, name);
		struct dw_hot_type *to;

		if (!at && !rc) {
			at = (uint32_t)ret->rows.n + 1;
			rc = dw_vec_push(&ret->rows, (struct dw_hot_type){.type = row->type});
			rc = rc ? rc : dw_map_put(&by_name, name, at);
		}
		if (rc)
			break;
		to = &ret->rows.v[at - 1];
		to->processes++;
		dw_alloc_values_add(&to->allocs.inclusive, &t->allocs.v[row->amounts].inclusive);
		dw_alloc_count_add(&to->allocs.exclusive, &t->allocs.v[row->amounts].exclusive);
	}
	dw_map_release(&by_name);
	return rc;
}

/* Put the first @max of @all into @ret. */
static int pick(const struct dw_hot_types *all, enum dw_hot_types_order order, size_t max,
		struct dw_hot_types *ret)
{
	dw_auto_free struct dw_sort_row *rows = malloc((all->rows.n + 1) * sizeof *rows);
	int rc = rows ? 0 : -ENOMEM;

	for (size_t i = 0; i < all->rows.n && !rc; i++)
		rows[i] = (struct dw_sort_row){UINT64_MAX - weight(&all->rows.v[i], order), i};
	if (!rc && all->rows.n)
		rc = dw_sort_rows(rows, all->rows.n);
	for (size_t i = 0; i < all->rows.n && i < max && !rc; i++)
		if (rows[i].key != UINT64_MAX)
			rc = dw_vec_push(&ret->rows, all->rows.v[rows[i].row]);
	return rc;
}

int dw_hot_types_find(const struct dw_profile *p, const struct dw_totals *t,
		      enum dw_hot_types_order order, size_t max, struct dw_hot_types *ret)
{
	struct dw_hot_types all = {0};
	int rc = group_types(p, t, &all);

	*ret = (struct dw_hot_types){0};
	if (!rc)
		rc = pick(&all, order, max, ret);
	dw_hot_types_release(&all);
	return rc;
}

void dw_hot_types_release(struct dw_hot_types *h)
{
	dw_vec_release(&h->rows);
}
