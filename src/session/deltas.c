/* Sums of deltas; see deltas.h. */
#include "session/deltas.h"

#include "session/columns.h"
#include "session/values.h"

#include <errno.h>

/* Keys while they are read. */
struct keys {
	struct dw_cursor slice_column, id_column;
	uint64_t slices, ids; /* that exist */
	uint64_t slice, id;   /* of the row that was read last */
	uint64_t before;      /* the slice of the row before */
};

/* Find the keys of @n rows at @c, which goes on behind them. There are @slices slices (from 0) and
 * @ids ids (from 1). They do not tell their length: reading over the first finds the second. */
static struct keys keys_open(struct dw_cursor *c, size_t n, uint64_t slices, uint64_t ids)
{
	struct keys k = {.slice_column = *c, .slices = slices, .ids = ids};

	for (size_t i = 0; i < n; i++)
		dw_take(c);
	k.id_column = *c;
	for (size_t i = 0; i < n; i++)
		dw_take(c);
	return k;
}

/* Read the next keys. Whether both exist and the slice is not one before the last. */
static inline bool keys_next(struct keys *k)
{
	dw_take_delta(&k->slice_column, &k->slice);
	dw_take_delta(&k->id_column, &k->id);
	if (k->slice < k->before)
		return false;
	k->before = k->slice;
	return k->slice < k->slices && k->id && k->id <= k->ids && !k->slice_column.failed &&
	       !k->id_column.failed;
}

int dw_take_call_sums(struct dw_cursor *c, size_t n, const struct dw_call_sums *sums,
		      struct dw_profile *p)
{
	struct dw_call_store *t = &p->calls.sums;
	struct keys keys = keys_open(c, n, p->calls.slices.n, p->calls.nodes.n);
	struct dw_call_values values;
	struct dw_values_in v;
	int rc = dw_call_store_extend(t, p->calls.nodes.n);

	dw_call_values_open(c, &v);
	for (size_t i = 0; i < n && !c->failed && !rc; i++) {
		c->failed = !keys_next(&keys);
		dw_call_values_next(&v, &values);
		if (!c->failed && dw_call_sums_has(sums, (uint32_t)keys.slice))
			rc = dw_call_store_add(t, keys.id - 1, &values);
	}
	dw_values_close(c, &v);
	return rc;
}

/* Of each group room for what was alive before a range, 0 at first. */
static int extend_ranges(struct dw_allocations *t, const struct dw_call_sums *sums)
{
	size_t n = t->groups.n;

	if (!sums->selected)
		return 0;
	if (dw_vec_reserve(&t->ranges, n + 1) || dw_vec_reserve(&t->news, n + 1))
		return -ENOMEM;
	while (t->ranges.n < n) {
		t->ranges.v[t->ranges.n++] = (struct dw_alloc_range){0};
		t->news.v[t->news.n++] = (struct dw_alloc_count){0};
	}
	return 0;
}

/* Add what @v leaves alive to @range, which begins later. */
static void add_alive(struct dw_alloc_range *range, const struct dw_alloc_values *v)
{
	struct dw_alloc_count alive = dw_alloc_values_alive(v);

	dw_alloc_count_add(&range->before, &alive);
	range->least = range->most = range->before;
}

/* @born were allocated and @dead collected. Those that were alive before the range, of which @least
 * to @most still are, lose at most all that is dead, at least what the @news are too few for. */
static void bury(uint64_t born, uint64_t dead, uint64_t *news, uint64_t *least, uint64_t *most)
{
	uint64_t old;

	*news += born;
	old = dead > *news ? dead - *news : 0;
	*news -= dead - old;
	*least -= dead < *least ? dead : *least;
	*most -= old < *most ? old : *most;
}

/* Let what @v, a row of the range, tells of group @i happen to what was alive before. */
static void follow(struct dw_allocations *t, size_t i, const struct dw_alloc_values *v)
{
	struct dw_alloc_range *range = &t->ranges.v[i];
	struct dw_alloc_count dead = {0}, *news = &t->news.v[i];

	for (int g = 0; g < DWELL_GENERATIONS; g++)
		dw_alloc_count_add(&dead, &v->collected[g]);
	bury(v->allocated.objects, dead.objects, &news->objects, &range->least.objects,
	     &range->most.objects);
	bury(v->allocated.bytes, dead.bytes, &news->bytes, &range->least.bytes, &range->most.bytes);
}

/* Add @v, a row of @group and @slice. 0 or -ENOMEM. */
static int add_to_sums(struct dw_allocations *t, const struct dw_call_sums *sums, uint32_t slice,
		       uint32_t group, const struct dw_alloc_values *v)
{
	size_t i = group - 1;

	if (dw_call_sums_has(sums, slice)) {
		if (sums->selected)
			follow(t, i, v);
		return dw_alloc_store_add(&t->sums, i, v);
	}
	if (slice < sums->first)
		add_alive(&t->ranges.v[i], v);
	return 0;
}

int dw_take_alloc_sums(struct dw_cursor *c, size_t n, const struct dw_call_sums *sums,
		       struct dw_profile *p)
{
	struct dw_allocations *t = &p->allocations;
	struct keys keys = keys_open(c, n, p->calls.slices.n, t->groups.n);
	struct dw_alloc_values values;
	struct dw_values_in v;
	int rc = dw_alloc_store_extend(&t->sums, t->groups.n);

	if (!rc)
		rc = extend_ranges(t, sums);
	dw_alloc_values_open(c, &v);
	for (size_t i = 0; i < n && !c->failed && !rc; i++) {
		c->failed = !keys_next(&keys);
		dw_alloc_values_next(&v, &values);
		if (!c->failed)
			rc = add_to_sums(t, sums, (uint32_t)keys.slice, (uint32_t)keys.id, &values);
	}
	dw_values_close(c, &v);
	return rc;
}
