/*
 * Cells of values; see row-value.h.
 *
 * Shares are those of everything that passed the filter, exclusive ones too. Inclusive means divide
 * by outermost activations, because inclusive values count those only.
 */
#include "view/row-value.h"

#include "view/call-bounds.h"

#include <math.h>

static uint64_t number_of(const struct dw_alloc_count *n, bool bytes)
{
	return bytes ? n->bytes : n->objects;
}

/* What became of the objects of @values, by place behind DWELL_MEASURE_OBJECTS or _BYTES. */
static uint64_t life_of(const struct dw_alloc_values *values, unsigned place, bool bytes)
{
	struct dw_alloc_count alive = dw_alloc_values_alive(values);

	switch (place + DWELL_MEASURE_OBJECTS) {
	case DWELL_MEASURE_OBJECTS:
		return number_of(&values->allocated, bytes);
	case DWELL_MEASURE_OBJECTS_ALIVE:
		return number_of(&alive, bytes);
	case DWELL_MEASURE_OBJECTS_BEFORE:
		return number_of(&values->range.before, bytes);
	case DWELL_MEASURE_OBJECTS_LEAST:
		return number_of(&values->range.least, bytes);
	case DWELL_MEASURE_OBJECTS_MOST:
		return number_of(&values->range.most, bytes);
	default:
		return number_of(&values->collected[place - 1], bytes);
	}
}

static bool alloc_value(const struct dw_row *row, enum dw_measure measure, bool exclusive,
			uint64_t *ret)
{
	bool bytes = measure >= DWELL_MEASURE_BYTES;
	unsigned place = measure - (bytes ? DWELL_MEASURE_BYTES : DWELL_MEASURE_OBJECTS);

	if (!row->allocs)
		return false;
	*ret = exclusive ? number_of(&row->allocs->exclusive, bytes)
			 : life_of(&row->allocs->inclusive, place, bytes);
	return true;
}

static bool call_value(const struct dw_call_total *t, enum dw_measure measure, bool exclusive,
		       uint64_t *ret)
{
	const struct dw_call_values *v = exclusive ? &t->exclusive : &t->inclusive;

	if (exclusive && t->flags & DWELL_CALLS_NO_EXCLUSIVE)
		return false;
	switch (measure) {
	case DWELL_MEASURE_CALLS:
		return *ret = t->exclusive.calls, true;
	case DWELL_MEASURE_COUNTED:
		return *ret = t->counted, true;
	case DWELL_MEASURE_OVERHEAD:
		return *ret = v->overhead_ns, true;
	case DWELL_MEASURE_ELAPSED:
		return *ret = v->elapsed_ns, true;
	case DWELL_MEASURE_APPLICATION:
		return *ret = v->application_ns, true;
	case DWELL_MEASURE_BLOCKED:
		return *ret = v->blocked_ns, true;
	case DWELL_MEASURE_SWITCHES:
		return *ret = v->switches, true;
	case DWELL_MEASURE_IO_CALLS:
		return *ret = v->io_calls, true;
	case DWELL_MEASURE_BLOCKING_CALLS:
		return *ret = v->blocking_calls, true;
	default:
		return false;
	}
}

bool dw_row_value(const struct dw_row *row, enum dw_measure measure, bool exclusive, uint64_t *ret)
{
	const struct dw_values *values = measure == DWELL_MEASURE_SAMPLES   ? &row->values
					 : measure == DWELL_MEASURE_BLOCKED ? row->blocked
									    : NULL;

	if (values)
		return *ret = exclusive ? values->exclusive : values->inclusive, true;
	if (measure >= DWELL_MEASURE_OBJECTS)
		return alloc_value(row, measure, exclusive, ret);
	return row->calls && call_value(row->calls, measure, exclusive, ret);
}

uint64_t dw_totals_value(const struct dw_totals *t, enum dw_measure measure)
{
	uint64_t n = 0;

	if (measure == DWELL_MEASURE_SAMPLES)
		return t->samples;
	if (measure >= DWELL_MEASURE_OBJECTS)
		return life_of(&t->all_allocs, 0, measure >= DWELL_MEASURE_BYTES);
	if (measure == DWELL_MEASURE_BLOCKED && t->has_blocked)
		return t->blocked_ns;
	call_value(&t->all, measure, false, &n);
	return n;
}

static void set_number(struct dw_cell *c, enum dw_cell_kind kind, uint64_t n)
{
	*c = (struct dw_cell){.kind = kind, .number = n};
}

/* Calls by which averages of @row divide. */
static uint64_t calls_of(const struct dw_row *row, bool exclusive)
{
	return exclusive ? dw_totals_measured(row->calls) : row->calls->outer_calls;
}

/* The shortest and the longest call of @row by @info. */
static struct dw_range_ns extremes_of(const struct dw_row *row, const struct dw_column_info *info)
{
	const struct dw_call_ranges *r = row->ranges;

	if (!r)
		return (struct dw_range_ns)DWELL_RANGE_NONE;
	if (info->measure == DWELL_MEASURE_ELAPSED)
		return info->exclusive ? r->elapsed_exclusive : r->elapsed_inclusive;
	return info->exclusive ? r->application_exclusive : r->application_inclusive;
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
static void call_cell(const struct dw_view *v, const struct dw_row *row,
		      const struct dw_column_info *info, uint64_t n, struct dw_cell *ret)
{
	const struct dw_calls *calls = &v->request.profile->calls;
	struct dw_range_ns extremes;
	uint64_t divisor, at_most;

	switch (info->aspect) {
	case DWELL_ASPECT_AVERAGE:
		divisor = calls_of(row, info->exclusive);
		if (divisor)
			set_number(ret, info->kind, (n + divisor / 2) / divisor);
		return;
	case DWELL_ASPECT_AT_MOST:
		at_most = dw_call_at_most(v->request.profile, row->calls);
		if (at_most)
			set_number(ret, info->kind, at_most);
		return;
	case DWELL_ASPECT_BEGIN:
		if (row->calls->mute)
			set_number(ret, info->kind, calls->mutes.v[row->calls->mute - 1].at_ns);
		return;
	default:
		extremes = extremes_of(row, info);
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
	bool objects = info->measure == DWELL_MEASURE_OBJECTS_BEFORE;
	uint64_t n, all, alive;

	if (!dw_row_value(row, info->measure, info->exclusive, &n))
		return;
	switch (info->aspect) {
	case DWELL_ASPECT_TOTAL:
		return set_number(ret, info->kind, n);
	case DWELL_ASPECT_PERCENT:
		all = dw_totals_value(v->request.totals, info->measure);
		*ret = (struct dw_cell){.kind = info->kind,
					.percent = all ? 100.0 * (double)n / (double)all : 0};
		return;
	case DWELL_ASPECT_ERROR:
		return set_number(ret, info->kind, error_of(v->request.profile, n));
	case DWELL_ASPECT_GROWTH:
		if (dw_row_value(row,
				 objects ? DWELL_MEASURE_OBJECTS_ALIVE : DWELL_MEASURE_BYTES_ALIVE,
				 false, &alive))
			set_number(ret, info->kind, alive - n);
		return;
	default:
		call_cell(v, row, info, n, ret);
	}
}
