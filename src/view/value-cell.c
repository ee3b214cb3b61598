/*
 * Cells of values; see value-cell.h.
 *
 * Shares are those of everything that passed the filter, exclusive ones too. Inclusive means divide
 * by outermost activations, because inclusive values count those only.
 */
#include "view/value-cell.h"

#include "view/call-bounds.h"

#include <math.h>

/* @c is empty so far. */
static void set_number(struct dw_cell *c, enum dw_cell_kind kind, uint64_t n)
{
	c->kind = kind;
	c->number = n;
}

/* Calls by which averages divide. */
static uint64_t calls_of(const struct dw_measured *m, bool exclusive)
{
	return dw_measured_get(m, exclusive ? DWELL_MEASURE_MEASURED : DWELL_MEASURE_OUTER_CALLS,
			       false);
}

/* Half of the interval that the true number of bytes, of which @bytes are estimated, is in with 95
 * % certainty: bytes were drawn one in so many, and what is drawn of many objects varies as its
 * root. Large objects, of which most are drawn, vary less. */
static uint64_t error_of(const struct dw_profile *p, uint64_t bytes)
{
	int64_t interval = dw_facts_get(&p->facts, "sample_bytes", 0);

	return (uint64_t)(1.96 * sqrt((double)bytes * (double)interval) + 0.5);
}

/* The shortest or the longest call. */
static void extreme_cell(const struct dw_measured *m, const struct dw_column_info *info,
			 struct dw_cell *ret)
{
	struct dw_range_ns range;

	if (!m->extremes)
		return;
	range = dw_measured_extremes(m, info->measure, info->exclusive);
	if (dw_range_known(&range))
		set_number(ret, info->kind,
			   info->aspect == DWELL_ASPECT_MAX ? range.max_ns : range.min_ns);
}

/* What a call took on average, of @n. */
static void average_cell(const struct dw_measured *m, const struct dw_column_info *info, uint64_t n,
			 struct dw_cell *ret)
{
	uint64_t divisor = calls_of(m, info->exclusive);

	if (divisor)
		set_number(ret, info->kind, (n + divisor / 2) / divisor);
}

/* Cells that show an amount, or what follows from it. */
static void amount_cell(const struct dw_view *v, const struct dw_row *row,
			const struct dw_column_info *info, struct dw_cell *ret)
{
	const struct dw_measured *m = &row->measured;
	enum dw_measure end = DWELL_MEASURE_BYTES_ALIVE;
	uint64_t n, all, alive;

	if (info->measure == DWELL_MEASURE_SAMPLES)
		n = info->exclusive ? row->values.exclusive : row->values.inclusive;
	else if (!dw_measured_value(m, info->measure, info->exclusive, &n))
		return;
	switch (info->aspect) {
	case DWELL_ASPECT_PERCENT:
		all = v->request.totals->all[info->measure];
		ret->kind = info->kind;
		ret->percent = all ? 100.0 * (double)n / (double)all : 0;
		return;
	case DWELL_ASPECT_AVERAGE:
		return average_cell(m, info, n, ret);
	case DWELL_ASPECT_ERROR:
		return set_number(ret, info->kind, error_of(v->request.profile, n));
	case DWELL_ASPECT_GROWTH:
		if (info->measure == DWELL_MEASURE_OBJECTS_BEFORE)
			end = DWELL_MEASURE_OBJECTS_ALIVE;
		if (dw_measured_value(m, end, false, &alive))
			set_number(ret, info->kind, alive - n);
		return;
	default:
		return set_number(ret, info->kind, n);
	}
}

void dw_value_cell(const struct dw_view *v, const struct dw_row *row, enum dw_column column,
		   struct dw_cell *ret)
{
	const struct dw_column_info *info = dw_column_info(column);
	const struct dw_measured *m = &row->measured;
	uint64_t at_most;

	switch (info->aspect) {
	case DWELL_ASPECT_MAX:
	case DWELL_ASPECT_MIN:
		return extreme_cell(m, info, ret);
	case DWELL_ASPECT_AT_MOST:
		at_most = dw_call_at_most(v->uncertain_ns, m);
		if (at_most)
			set_number(ret, info->kind, at_most);
		return;
	case DWELL_ASPECT_BEGIN:
		if (m->mute)
			set_number(ret, info->kind,
				   v->request.profile->calls.mutes.v[m->mute - 1].at_ns);
		return;
	default:
		amount_cell(v, row, info, ret);
	}
}
