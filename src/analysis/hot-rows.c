/*
 * Functions and types of all processes together; see hot-rows.h. What decides is summed up for all
 * first, the rest for the few that are shown. Types are the same when their names are.
 */
#include "analysis/hot-rows.h"

#include "base/map.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>

/* What is to be found, and where. */
struct search {
	const struct dw_profile *profile;
	const struct dw_totals *totals;
	bool of_types;
	enum dw_measure by;
};

/* The rows of one function, or of one type. */
struct group {
	uint32_t row; /* the first */
	uint32_t processes;
	struct dw_values key; /* what decides */
};

struct groups {
	DW_VEC(struct group) rows;
	struct dw_map by_key; /* index + 1 */
};

static size_t count_rows(const struct search *s)
{
	return s->of_types ? s->totals->types.n : s->totals->functions.n;
}

static uint32_t amounts_of(const struct search *s, size_t row)
{
	return s->of_types ? s->totals->types.v[row].amounts : s->totals->functions.v[row].amounts;
}

/* What rows of one function, or type, have in common. */
static uint64_t key_of(const struct search *s, size_t row)
{
	const struct dw_profile *p = s->profile;
	const struct dw_function_total *f;
	const struct dw_alloc_type *type;
	const struct dw_thread *thread;
	const struct dw_function *start;

	if (s->of_types) {
		type = dw_allocations_get_type(&p->allocations, s->totals->types.v[row].type);
		return type ? type->name : 0;
	}
	f = &s->totals->functions.v[row];
	if (f->function != (uint32_t)DWELL_FUNCTION_ROOT)
		return f->function;
	thread = dw_threads_get(&p->threads, f->thread);
	start = thread ? dw_functions_get(&p->functions, thread->start) : NULL;
	return (uint64_t)1 << 32 | (start ? start->name : thread ? thread->name : 0);
}

static int group_rows(const struct search *s, struct groups *g)
{
	for (size_t i = 0; i < count_rows(s); i++) {
		const struct dw_values *values =
			dw_amounts_common(&s->totals->amounts, amounts_of(s, i), s->by);
		uint64_t key = key_of(s, i);
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
		group->key.inclusive += values->inclusive;
		group->key.exclusive += values->exclusive;
	}
	return 0;
}

/* The one with most of its own first; qsort keeps no order of equals, so rows decide last. */
static int compare_groups(const void *pa, const void *pb)
{
	const struct group *a = pa, *b = pb;

	if (a->key.exclusive != b->key.exclusive)
		return a->key.exclusive < b->key.exclusive ? 1 : -1;
	if (a->key.inclusive != b->key.inclusive)
		return a->key.inclusive < b->key.inclusive ? 1 : -1;
	return (a->row > b->row) - (a->row < b->row);
}

static int add(const struct search *s, size_t row, uint32_t at, struct dw_hot_rows *ret)
{
	const struct dw_totals *t = s->totals;
	uint32_t extremes = s->of_types ? 0 : t->functions.v[row].extremes;

	if (extremes)
		dw_extreme_values_widen(&ret->rows.v[at].extremes, &t->extremes.v[extremes - 1]);
	return dw_amounts_add_row(&ret->amounts, at, &t->amounts, amounts_of(s, row), DWELL_BOTH);
}

/* All about the groups, which are few. */
static int fill_rows(const struct search *s, const struct group *v, size_t n,
		     struct dw_hot_rows *ret)
{
	struct dw_map wanted = {0}; /* key -> index + 1 */
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		struct dw_hot_row row = {.row = v[i].row,
					 .processes = v[i].processes,
					 .extremes = DWELL_EXTREMES_NONE};

		rc = dw_vec_push(&ret->rows, row);
		if (!rc && dw_amounts_push(&ret->amounts) == UINT32_MAX)
			rc = -ENOMEM;
		if (!rc)
			rc = dw_map_put(&wanted, key_of(s, v[i].row), (uint32_t)i + 1);
	}
	for (size_t i = 0; n && i < count_rows(s) && !rc; i++) {
		uint32_t at = dw_map_get(&wanted, key_of(s, i));

		if (at)
			rc = add(s, i, at - 1, ret);
	}
	dw_map_release(&wanted);
	return rc;
}

int dw_hot_rows_find(const struct dw_profile *p, const struct dw_totals *t, enum dw_hot_order order,
		     size_t max, struct dw_hot_rows *ret)
{
	static const enum dw_measure by[] = {
		[DWELL_HOT_WAITS] = DWELL_MEASURE_BLOCKED,
		[DWELL_HOT_TYPES_BYTES] = DWELL_MEASURE_BYTES,
		[DWELL_HOT_TYPES_OBJECTS] = DWELL_MEASURE_OBJECTS,
		[DWELL_HOT_TYPES_OLD_BYTES] = DWELL_MEASURE_BYTES_GEN2,
	};
	bool is_work = order == DWELL_HOT_WORK;
	struct search s = {p, t, order >= DWELL_HOT_TYPES_BYTES, is_work ? t->main : by[order]};
	struct groups g = {0};
	int rc = 0;

	*ret = (struct dw_hot_rows){0};
	dw_amounts_init(&ret->amounts, dw_profile_measures(p));
	if (order != DWELL_HOT_WAITS || dw_totals_has_waits(t))
		rc = group_rows(&s, &g);
	if (!rc && g.rows.n)
		qsort(g.rows.v, g.rows.n, sizeof *g.rows.v, compare_groups);
	while (!is_work && g.rows.n && !g.rows.v[g.rows.n - 1].key.exclusive)
		g.rows.n--;
	if (!rc)
		rc = fill_rows(&s, g.rows.v, g.rows.n < max ? g.rows.n : max, ret);
	dw_vec_release(&g.rows);
	dw_map_release(&g.by_key);
	return rc;
}

struct dw_measured dw_hot_rows_measured(const struct dw_hot_rows *h, size_t i)
{
	return (struct dw_measured){
		.table = &h->amounts, .row = i, .extremes = &h->rows.v[i].extremes};
}

void dw_hot_rows_release(struct dw_hot_rows *h)
{
	dw_vec_release(&h->rows);
	dw_amounts_release(&h->amounts);
}
