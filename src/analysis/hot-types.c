/* Types of all processes together; see hot-types.h. They are the same when their names are. */
#include "analysis/hot-types.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "base/sort.h"

#include <errno.h>

static uint64_t weight(const struct dw_hot_types *h, size_t i, enum dw_hot_types_order order)
{
	static const enum dw_measure measures[] = {
		[DWELL_TYPES_BY_BYTES] = DWELL_MEASURE_BYTES,
		[DWELL_TYPES_BY_OBJECTS] = DWELL_MEASURE_OBJECTS,
		[DWELL_TYPES_BY_OLD_BYTES] = DWELL_MEASURE_BYTES_GEN2,
	};

	return dw_amounts_common(&h->amounts, h->rows.v[i].amounts, measures[order])->inclusive;
}

/* Append @type, with nothing. 0 or -ENOMEM. */
static int push(struct dw_hot_types *h, uint32_t type)
{
	struct dw_hot_type row = {.type = type, .amounts = dw_amounts_push(&h->amounts)};

	return row.amounts == UINT32_MAX ? -ENOMEM : dw_vec_push(&h->rows, row);
}

/* All types by name, in order of first sight. */
static int group_types(const struct dw_profile *p, const struct dw_totals *t,
		       struct dw_hot_types *ret)
{
	struct dw_map by_name = {0}; /* name -> index + 1 */
	int rc = 0;

	dw_amounts_init(&ret->amounts, dw_profile_measures(p));
	dw_vec_each(row, &t->types) {
		const struct dw_alloc_type *type =
			dw_allocations_get_type(&p->allocations, row->type);
		uint64_t name = type ? type->name : 0;
		uint32_t at = dw_map_get(&by_name, name);
		struct dw_hot_type *to;

		if (!at && !rc) {
			at = (uint32_t)ret->rows.n + 1;
			rc = push(ret, row->type);
			rc = rc ? rc : dw_map_put(&by_name, name, at);
		}
		if (rc)
			break;
		to = &ret->rows.v[at - 1];
		to->processes++;
		rc = dw_amounts_add_row(&ret->amounts, to->amounts, &t->amounts, row->amounts,
					DWELL_BOTH);
	}
	dw_map_release(&by_name);
	return rc;
}

/* Keep the first @max of @h. */
static int pick(struct dw_hot_types *h, enum dw_hot_types_order order, size_t max)
{
	size_t n = h->rows.n, kept = 0;
	dw_auto_free struct dw_sort_row *rows = malloc((n + 1) * sizeof *rows);
	dw_auto_free struct dw_hot_type *all = malloc((n + 1) * sizeof *all);
	int rc = rows && all ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !rc; i++) {
		rows[i] = (struct dw_sort_row){UINT64_MAX - weight(h, i, order), i};
		all[i] = h->rows.v[i];
	}
	if (!rc && n)
		rc = dw_sort_rows(rows, n);
	for (size_t i = 0; i < n && kept < max && !rc; i++)
		if (rows[i].key != UINT64_MAX)
			h->rows.v[kept++] = all[rows[i].row];
	h->rows.n = kept;
	return rc;
}

int dw_hot_types_find(const struct dw_profile *p, const struct dw_totals *t,
		      enum dw_hot_types_order order, size_t max, struct dw_hot_types *ret)
{
	int rc;

	*ret = (struct dw_hot_types){0};
	rc = group_types(p, t, ret);
	return rc ? rc : pick(ret, order, max);
}

void dw_hot_types_release(struct dw_hot_types *h)
{
	dw_vec_release(&h->rows);
	dw_amounts_release(&h->amounts);
}
