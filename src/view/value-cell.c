/*
 * Cells of values; see value-cell.h.
 *
 * Shares are those of everything that passed the filter, exclusive ones too. Inclusive means divide
 * by outermost activations, because inclusive values count those only.
 */
#include "view/value-cell.h"

#include "model/amounts.h"
#include "view/call-bounds.h"

#include <math.h>

static struct dw_amounts amounts_of(const struct dw_row *row)
{
	return (struct dw_amounts){&row->values, row->blocked, row->calls, row->ranges,
				   row->allocs};
}

/* @c is empty so far. */
static void set_number(struct dw_cell *c, enum dw_cell_kind kind, uint64_t n)
{
	c->kind = kind;
	c->number = n;
}

/* Calls by which averages divide. */
static uint64_t calls_of(const struct dw_call_total *t, bool exclusive)
{
	return exclusive ? dw_totals_measured(t) : t->outer_calls;
}

/* Half of the interval that the true number of bytes, of which @bytes are estimated, is in with 95
 * % certainty: bytes were drawn one in so many, and what is drawn of many objects varies as its
 * root. Large objects, of which most are drawn, vary less. */
static uint64_t error_of(const struct dw_profile *p, uint64_t bytes)
{
	int64_t interval = dw_facts_get(&p->facts, "sample_bytes", 0);

	return (uint64_t)(1.96 * sqrt((double)bytes * (double)interval) + 0.5);
}

/* Cells of calls that no single value of the row tells. */
static void call_cell(const struct dw_view *v, const struct dw_amounts *a,
		      const struct dw_column_info *info, uint64_t n, struct dw_cell *ret)
{
	const struct dw_calls *calls = &v->request.profile->calls;
	struct dw_range_ns extremes;
	uint64_t divisor, at_most;

	switch (info->aspect) {
	case DWELL_ASPECT_AVERAGE:
		divisor = calls_of(a->calls, info->exclusive);
		if (divisor)
			set_number(ret, info->kind, (n + divisor / 2) / divisor);
		return;
	case DWELL_ASPECT_AT_MOST:
		at_most = dw_call_at_most(v->request.profile, a->calls);
		if (at_most)
			set_number(ret, info->kind, at_most);
		return;
	case DWELL_ASPECT_BEGIN:
		if (a->calls->mute)
			set_number(ret, info->kind, calls->mutes.v[a->calls->mute - 1].at_ns);
		return;
	default:
		extremes = dw_amounts_extremes(a, info->measure, info->exclusive);
		if (dw_range_known(&extremes))
			set_number(ret, info->kind,
				   info->aspect == DWELL_ASPECT_MAX ? extremes.max_ns
								    : extremes.min_ns);
	}
}

void dw_value_cell(const struct dw_view *v, const struct dw_row *row, enum dw_column column,
		   struct dw_cell *ret)
{
	const struct dw_column_info *info = dw_column_info(column);
	struct dw_amounts a = amounts_of(row);
	enum dw_measure end = DWELL_MEASURE_BYTES_ALIVE;
	uint64_t n, all, alive;

	if (!dw_amounts_value(&a, info->measure, info->exclusive, &n))
		return;
	switch (info->aspect) {
	case DWELL_ASPECT_TOTAL:
		return set_number(ret, info->kind, n);
	case DWELL_ASPECT_PERCENT:
		all = v->all[info->measure];
		ret->kind = info->kind;
		ret->percent = all ? 100.0 * (double)n / (double)all : 0;
		return;
	case DWELL_ASPECT_ERROR:
		return set_number(ret, info->kind, error_of(v->request.profile, n));
	case DWELL_ASPECT_GROWTH:
		if (info->measure == DWELL_MEASURE_OBJECTS_BEFORE)
			end = DWELL_MEASURE_OBJECTS_ALIVE;
		if (dw_amounts_value(&a, end, false, &alive))
			set_number(ret, info->kind, alive - n);
		return;
	default:
		call_cell(v, &a, info, n, ret);
	}
}
