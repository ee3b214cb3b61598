/* The rows that matter most; see hot-rows.h. They are few, so the list is kept in order. */
#include "analysis/hot-rows.h"

#include "base/vec.h"

#include <errno.h>
#include <string.h>

/* What is to be found, and where. */
struct search {
	const struct dw_totals *totals;
	bool of_types;
	enum dw_measure by;
};

static const struct dw_values *key_of(const struct search *s, size_t row)
{
	const struct dw_totals *t = s->totals;
	uint32_t amounts = s->of_types ? t->types.v[row].amounts : t->functions.v[row].amounts;

	return dw_amounts_common(&t->amounts, amounts, s->by);
}

/* Whether @a has more of its own than @b. Equal ones stay as they came. */
static bool is_before(const struct dw_values *a, const struct dw_values *b)
{
	if (a->exclusive != b->exclusive)
		return a->exclusive > b->exclusive;
	return a->inclusive > b->inclusive;
}

/* Put @row where it belongs, if that is among the first @max, for which there is room. */
static void insert(const struct search *s, uint32_t row, size_t max, struct dw_hot_rows *ret)
{
	struct dw_hot_row *v = ret->rows.v;
	size_t n = ret->rows.n, at = n;

	while (at && is_before(key_of(s, row), key_of(s, v[at - 1].row)))
		at--;
	if (at == max)
		return;
	ret->rows.n += n < max;
	memmove(v + at + 1, v + at, (ret->rows.n - at - 1) * sizeof *v);
	v[at] = (struct dw_hot_row){.row = row};
}

int dw_hot_rows_find(const struct dw_totals *t, enum dw_hot_order order, size_t max,
		     struct dw_hot_rows *ret)
{
	static const enum dw_measure by[] = {
		[DWELL_HOT_WAITS] = DWELL_MEASURE_BLOCKED,
		[DWELL_HOT_TYPES_BYTES] = DWELL_MEASURE_BYTES,
		[DWELL_HOT_TYPES_OBJECTS] = DWELL_MEASURE_OBJECTS,
		[DWELL_HOT_TYPES_OLD_BYTES] = DWELL_MEASURE_BYTES_GEN2,
	};
	bool is_work = order == DWELL_HOT_WORK;
	struct search s = {t, order >= DWELL_HOT_TYPES_BYTES, is_work ? t->main : by[order]};
	size_t n = s.of_types ? t->types.n : t->functions.n;

	*ret = (struct dw_hot_rows){0};
	if (order == DWELL_HOT_WAITS && !dw_totals_has_waits(t))
		return 0;
	if (dw_vec_reserve(&ret->rows, max))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		if (is_work || key_of(&s, i)->exclusive)
			insert(&s, i, max, ret);
	return 0;
}

void dw_hot_rows_release(struct dw_hot_rows *h)
{
	dw_vec_release(&h->rows);
}
