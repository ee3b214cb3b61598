/* Amounts of rows; see amounts.h. */
#include "model/amounts.h"

#include <stddef.h>
#include <string.h>

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

static bool alloc_value(const struct dw_alloc_total *t, enum dw_measure measure, bool exclusive,
			uint64_t *ret)
{
	bool bytes = measure >= DWELL_MEASURE_BYTES;
	unsigned place = measure - (bytes ? DWELL_MEASURE_BYTES : DWELL_MEASURE_OBJECTS);

	*ret = exclusive ? number_of(&t->exclusive, bytes) : life_of(&t->inclusive, place, bytes);
	return true;
}

/* Where values of calls stand in struct dw_call_values, + 1; 0 = elsewhere. */
#define AT(member) (offsetof(struct dw_call_values, member) + 1)
static const uint8_t places[DWELL_MEASURES] = {
	[DWELL_MEASURE_OVERHEAD] = AT(overhead_ns),
	[DWELL_MEASURE_ELAPSED] = AT(elapsed_ns),
	[DWELL_MEASURE_APPLICATION] = AT(application_ns),
	[DWELL_MEASURE_WHOLE] = AT(whole_ns),
	[DWELL_MEASURE_BLOCKED] = AT(blocked_ns),
	[DWELL_MEASURE_OS_CPU] = AT(os_cpu_ns),
	[DWELL_MEASURE_SWITCHES] = AT(switches),
	[DWELL_MEASURE_IO_CALLS] = AT(io_calls),
	[DWELL_MEASURE_BLOCKING_CALLS] = AT(blocking_calls),
};

static bool call_value(const struct dw_call_total *t, enum dw_measure measure, bool exclusive,
		       uint64_t *ret)
{
	const struct dw_call_values *v = exclusive ? &t->exclusive : &t->inclusive;

	if (exclusive && t->flags & DWELL_CALLS_NO_EXCLUSIVE)
		return false;
	if (places[measure]) {
		memcpy(ret, (const char *)v + places[measure] - 1, sizeof *ret);
		return true;
	}
	if (measure == DWELL_MEASURE_CALLS)
		*ret = t->exclusive.calls;
	else if (measure == DWELL_MEASURE_OUTER_CALLS)
		*ret = t->outer_calls;
	else if (measure == DWELL_MEASURE_COUNTED)
		*ret = t->counted;
	else if (measure == DWELL_MEASURE_MEASURED)
		*ret = dw_totals_measured(t);
	else
		return false;
	return true;
}

struct dw_amounts dw_totals_amounts(const struct dw_totals *t, uint32_t index)
{
	struct dw_amounts a = {
		.blocked = index < t->blocked.n ? &t->blocked.v[index] : NULL,
		.calls = index < t->calls.n ? &t->calls.v[index] : NULL,
		.allocs = index < t->allocs.n ? &t->allocs.v[index] : NULL,
	};

	a.extremes = a.calls ? dw_totals_ranges(t, a.calls) : NULL;
	return a;
}

bool dw_amounts_value(const struct dw_amounts *a, enum dw_measure measure, bool exclusive,
		      uint64_t *ret)
{
	const struct dw_values *values = measure == DWELL_MEASURE_SAMPLES   ? a->samples
					 : measure == DWELL_MEASURE_BLOCKED ? a->blocked
									    : NULL;

	if (values)
		return *ret = exclusive ? values->exclusive : values->inclusive, true;
	if (measure >= DWELL_MEASURE_OBJECTS)
		return a->allocs && alloc_value(a->allocs, measure, exclusive, ret);
	return a->calls && call_value(a->calls, measure, exclusive, ret);
}

struct dw_range_ns dw_amounts_extremes(const struct dw_amounts *a, enum dw_measure measure,
				       bool exclusive)
{
	const struct dw_call_ranges *r = a->extremes;

	if (!r)
		return (struct dw_range_ns)DWELL_RANGE_NONE;
	if (measure == DWELL_MEASURE_ELAPSED)
		return exclusive ? r->elapsed_exclusive : r->elapsed_inclusive;
	return exclusive ? r->application_exclusive : r->application_inclusive;
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
