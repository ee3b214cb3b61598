/*
 * Functions of all processes together; see hot-functions.h. What decides is summed up for all
 * functions first, the rest for the few that are shown.
 */
#include "analysis/hot-functions.h"

#include "base/map.h"

#include <errno.h>
#include <stdlib.h>

/* The rows of one function. */
struct group {
	uint32_t row; /* the first */
	uint32_t processes;
	struct dw_values values;
	struct dw_values blocked;
	struct dw_values key; /* one of the two, that decides */
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

static int group_rows(const struct dw_profile *p, const struct dw_totals *t,
		      enum dw_hot_functions_order order, struct groups *g)
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
		group->values.inclusive += f->values.inclusive;
		group->values.exclusive += f->values.exclusive;
		if (f->amounts < t->blocked.n) {
			group->blocked.inclusive += t->blocked.v[f->amounts].inclusive;
			group->blocked.exclusive += t->blocked.v[f->amounts].exclusive;
		}
		group->key = order == DWELL_HOT_WAITS ? group->blocked : group->values;
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

static void add_calls(const struct dw_totals *t, const struct dw_call_total *from,
		      struct dw_hot_function *to)
{
	const struct dw_call_ranges *r = dw_totals_ranges(t, from);

	dw_call_values_add(&to->calls.inclusive, &from->inclusive);
	dw_call_values_add(&to->calls.exclusive, &from->exclusive);
	to->calls.outer_calls += from->outer_calls;
	to->calls.counted += from->counted;
	if (r)
		dw_call_ranges_widen(&to->ranges, r);
}

static void add_allocs(const struct dw_alloc_total *from, struct dw_hot_function *to)
{
	dw_alloc_values_add(&to->allocs.inclusive, &from->inclusive);
	dw_alloc_count_add(&to->allocs.exclusive, &from->exclusive);
}

/* All about the groups, which are few. */
static int fill_rows(const struct dw_profile *p, const struct dw_totals *t, const struct group *v,
		     size_t n, struct dw_hot_functions *ret)
{
	struct dw_map wanted = {0}; /* key -> index + 1 */
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		struct dw_hot_function row = {.row = v[i].row,
					      .processes = v[i].processes,
					      .values = v[i].values,
					      .blocked = v[i].blocked,
					      .ranges = DWELL_RANGES_NONE};

		rc = dw_vec_push(&ret->rows, row);
		if (!rc)
			rc = dw_map_put(&wanted, key_of(p, &t->functions.v[v[i].row]),
					(uint32_t)i + 1);
	}
	dw_vec_each(f, &t->functions) {
		bool has_more = t->has_calls || t->allocs.n;
		uint32_t at = rc || !has_more ? 0 : dw_map_get(&wanted, key_of(p, f));

		if (at && t->allocs.n)
			add_allocs(&t->allocs.v[f->amounts], &ret->rows.v[at - 1]);
		else if (at)
			add_calls(t, &t->calls.v[f->amounts], &ret->rows.v[at - 1]);
	}
	dw_map_release(&wanted);
	return rc;
}

int dw_hot_functions_find(const struct dw_profile *p, const struct dw_totals *t,
			  enum dw_hot_functions_order order, size_t max,
			  struct dw_hot_functions *ret)
{
	struct groups g = {0};
	int rc = group_rows(p, t, order, &g);

	*ret = (struct dw_hot_functions){0};
	if (!rc && g.rows.n)
		qsort(g.rows.v, g.rows.n, sizeof *g.rows.v, compare_groups);
	while (order == DWELL_HOT_WAITS && g.rows.n && !g.rows.v[g.rows.n - 1].key.exclusive)
		g.rows.n--;
	if (!rc)
		rc = fill_rows(p, t, g.rows.v, g.rows.n < max ? g.rows.n : max, ret);
	dw_vec_release(&g.rows);
	dw_map_release(&g.by_key);
	return rc;
}

void dw_hot_functions_release(struct dw_hot_functions *h)
{
	dw_vec_release(&h->rows);
}
