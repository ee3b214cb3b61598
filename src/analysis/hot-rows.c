/*
 * Functions and types of all processes together; see hot-rows.h. Of functions what decides is
 * summed up for all first, the rest for the few that are shown. Types are the same when their names
 * are.
 */
#include "analysis/hot-rows.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>

/* The rows of one function. */
struct group {
	uint32_t row; /* the first */
	uint32_t processes;
	struct dw_values key; /* what decides */
};

struct groups {
	DW_VEC(struct group) rows;
	struct dw_map by_key; /* index + 1 */
};

/* What rows of one function have in common. */
static uint64_t key_of(const struct dw_profile *p, const struct dw_function_total *f)
{
	const struct dw_thread *thread;
	const struct dw_function *start;

	if (f->function != (uint32_t)DWELL_FUNCTION_ROOT)
		return f->function;
	thread = dw_threads_get(&p->threads, f->thread);
	start = thread ? dw_functions_get(&p->functions, thread->start) : NULL;
	return (uint64_t)1 << 32 | (start ? start->name : thread ? thread->name : 0);
}

static int group_rows(const struct dw_profile *p, const struct dw_totals *t, enum dw_measure by,
		      struct groups *g)
{
	for (size_t i = 0; i < t->functions.n; i++) {
		const struct dw_function_total *f = &t->functions.v[i];
		uint64_t key = key_of(p, f);
		uint32_t at = dw_map_get(&g->by_key, key);
		struct group *group;

		if (!at) {
			at = (uint32_t)g->rows.n + 1;
			if (dw_vec_push(&g->rows, (struct group){.row = (uint32_t)i}) ||
			    dw_map_put(&g->by_key, key, at))
				return -ENOMEM;
		}
		group = &g->rows.v[at - 1];
		group->processes++;
		group->key.inclusive += dw_amounts_common(&t->amounts, f->amounts, by)->inclusive;
		group->key.exclusive += dw_amounts_common(&t->amounts, f->amounts, by)->exclusive;
	}
	return 0;
}

/* The one with most work of its own first; qsort keeps no order of equals, so rows decide last. */
static int compare_groups(const void *pa, const void *pb)
{
	const struct group *a = pa, *b = pb;

	if (a->key.exclusive != b->key.exclusive)
		return a->key.exclusive < b->key.exclusive ? 1 : -1;
	if (a->key.inclusive != b->key.inclusive)
		return a->key.inclusive < b->key.inclusive ? 1 : -1;
	return (a->row > b->row) - (a->row < b->row);
}

/* Add @f to row @at. */
static int add(const struct dw_totals *t, const struct dw_function_total *f, uint32_t at,
	       struct dw_hot_functions *ret)
{
	if (f->extremes)
		dw_call_ranges_widen(&ret->rows.v[at].extremes, &t->extremes.v[f->extremes - 1]);
	return dw_amounts_add_row(&ret->amounts, at, &t->amounts, f->amounts, DWELL_BOTH);
}

/* All about the groups, which are few. */
static int fill_rows(const struct dw_profile *p, const struct dw_totals *t, const struct group *v,
		     size_t n, struct dw_hot_functions *ret)
{
	struct dw_map wanted = {0}; /* key -> index + 1 */
	int rc = 0;

	dw_amounts_init(&ret->amounts, dw_profile_measures(p));
	for (size_t i = 0; i < n && !rc; i++) {
		struct dw_hot_function row = {.row = v[i].row,
					      .processes = v[i].processes,
					      .extremes = DWELL_RANGES_NONE};

		rc = dw_vec_push(&ret->rows, row);
		if (!rc && dw_amounts_push(&ret->amounts) == UINT32_MAX)
			rc = -ENOMEM;
		if (!rc)
			rc = dw_map_put(&wanted, key_of(p, &t->functions.v[v[i].row]),
					(uint32_t)i + 1);
	}
	dw_vec_each(f, &t->functions) {
		uint32_t at = rc || !n ? 0 : dw_map_get(&wanted, key_of(p, f));

		if (at)
			rc = add(t, f, at - 1, ret);
	}
	dw_map_release(&wanted);
	return rc;
}

int dw_hot_functions_find(const struct dw_profile *p, const struct dw_totals *t,
			  enum dw_hot_functions_order order, size_t max,
			  struct dw_hot_functions *ret)
{
	bool waits = order == DWELL_HOT_WAITS;
	struct groups g = {0};
	int rc = 0;

	*ret = (struct dw_hot_functions){0};
	if (!waits || dw_totals_has_waits(t))
		rc = group_rows(p, t, waits ? DWELL_MEASURE_BLOCKED : t->main, &g);
	if (!rc && g.rows.n)
		qsort(g.rows.v, g.rows.n, sizeof *g.rows.v, compare_groups);
	while (waits && g.rows.n && !g.rows.v[g.rows.n - 1].key.exclusive)
		g.rows.n--;
	if (!rc)
		rc = fill_rows(p, t, g.rows.v, g.rows.n < max ? g.rows.n : max, ret);
	dw_vec_release(&g.rows);
	dw_map_release(&g.by_key);
	return rc;
}

struct dw_measured dw_hot_functions_measured(const struct dw_hot_functions *h, size_t i)
{
	return (struct dw_measured){
		.table = &h->amounts, .row = i, .extremes = &h->rows.v[i].extremes};
}

void dw_hot_functions_release(struct dw_hot_functions *h)
{
	dw_vec_release(&h->rows);
	dw_amounts_release(&h->amounts);
}

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
static int push_type(struct dw_hot_types *h, uint32_t type)
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
			rc = push_type(ret, row->type);
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
