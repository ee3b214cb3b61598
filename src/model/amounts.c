/* Amounts of rows; see amounts.h. */
#include "model/amounts.h"

#include <errno.h>
#include <string.h>

#define BIT(measure)	 ((dw_measures)1 << DWELL_MEASURE_##measure)
#define BITS(from, last) (2 * BIT(last) - BIT(from))
#define LIFE(what)	 BITS(what##_GEN0, what##_PINNED)

/* What other measures tell. */
static const dw_measures derived =
	BIT(OUTER_CALLS) | BIT(MEASURED) | BIT(OBJECTS_ALIVE) | BIT(BYTES_ALIVE) | BIT(DRAWS);

/* Of sessions of calls and of objects: what few rows have. */
static const dw_measures rare_of_calls =
	BIT(COUNTED) | BITS(APPLICATION, BLOCKING_CALLS) | BIT(BLOCKED);
static const dw_measures rare_of_objects =
	BITS(OBJECTS_LARGE, OBJECTS_MOST) | BITS(BYTES_LARGE, BYTES_MOST);

static const struct dw_values nothing;

void dw_amounts_init(struct dw_amounts *a, dw_measures set)
{
	dw_measures rare = dw_measures_has(set, DWELL_MEASURE_CALLS) ? rare_of_calls : 0;

	/* Trees of samples follow their waits. */
	if (dw_measures_has(set, DWELL_MEASURE_SAMPLES))
		rare &= ~BIT(BLOCKED);

	if (dw_measures_has(set, DWELL_MEASURE_OBJECTS)) {
		set |= LIFE(OBJECTS) | LIFE(BYTES);
		rare |= rare_of_objects;
	}
	for (int pass = 0; pass < 2; pass++) {
		dw_measures now = set & ~derived & (pass ? rare : ~rare);

		for (unsigned m = 0; m < DWELL_MEASURES; m++)
			if (dw_measures_has(now, m)) {
				a->place[m] = ++a->all_n;
				a->measure[a->all_n] = (uint8_t)m;
			}
		if (!pass)
			a->common_n = a->all_n;
	}
}

/* Pairs that rare rows have beside the common ones. */
static size_t rare_n(const struct dw_amounts *a)
{
	return a->all_n - a->common_n;
}

int dw_amounts_reserve(struct dw_amounts *a, size_t n)
{
	if (a->n + n >= UINT32_MAX || dw_vec_reserve(&a->common, n * a->common_n))
		return -ENOMEM;
	if (!rare_n(a))
		return 0;
	if (a->rare.n + n * rare_n(a) >= UINT32_MAX)
		return -ENOMEM;
	return dw_vec_reserve(&a->rare_of, n) || dw_vec_reserve(&a->rare, n * rare_n(a)) ? -ENOMEM
											 : 0;
}

uint32_t dw_amounts_push(struct dw_amounts *a)
{
	if (a->n + 1 >= UINT32_MAX || dw_vec_reserve(&a->common, a->common_n) ||
	    (rare_n(a) && dw_vec_reserve(&a->rare_of, 1)))
		return UINT32_MAX;
	for (unsigned i = 0; i < a->common_n; i++)
		a->common.v[a->common.n++] = nothing;
	if (rare_n(a))
		a->rare_of.v[a->rare_of.n++] = 0;
	return (uint32_t)a->n++;
}

void dw_amounts_cut(struct dw_amounts *a, size_t n)
{
	a->n = n;
	a->common.n = n * a->common_n;
	if (rare_n(a))
		a->rare_of.n = n;
	if (!n)
		a->rare.n = 0;
}

void dw_amounts_move(struct dw_amounts *a, size_t to, size_t from)
{
	size_t n = a->common_n;

	memmove(a->common.v + to * n, a->common.v + from * n, n * sizeof *a->common.v);
	if (rare_n(a))
		a->rare_of.v[to] = a->rare_of.v[from];
}

/* The pair at @place of @row. NULL: it is a rare one, which the row does not have. */
static struct dw_values *pair_at(const struct dw_amounts *a, size_t row, unsigned place)
{
	if (place <= a->common_n)
		return &a->common.v[row * a->common_n + place - 1];
	if (!a->rare_of.v[row])
		return NULL;
	return &a->rare.v[a->rare_of.v[row] - 1 + place - a->common_n - 1];
}

/* All of the time was the program's. */
const struct dw_values *dw_amounts_usual(const struct dw_amounts *a, size_t row,
					 enum dw_measure measure)
{
	if (measure == DWELL_MEASURE_APPLICATION || measure == DWELL_MEASURE_WHOLE)
		return dw_amounts_common(a, row, DWELL_MEASURE_ELAPSED);
	return &nothing;
}

/* Give @row rare pairs. 0 or -ENOMEM. */
static int make_rare(struct dw_amounts *a, size_t row)
{
	if (a->rare_of.v[row])
		return 0;
	if (a->rare.n + rare_n(a) >= UINT32_MAX || dw_vec_reserve(&a->rare, rare_n(a)))
		return -ENOMEM;
	a->rare_of.v[row] = (uint32_t)a->rare.n + 1;
	for (unsigned i = a->common_n + 1u; i <= a->all_n; i++)
		a->rare.v[a->rare.n++] = *dw_amounts_usual(a, row, a->measure[i]);
	return 0;
}

static void add(struct dw_values *to, uint64_t n, enum dw_amounts_side side)
{
	to->inclusive += side & DWELL_INCLUSIVE ? n : 0;
	to->exclusive += side & DWELL_EXCLUSIVE ? n : 0;
}

/* Whether the operating system had a part in @v. */
static bool has_system(const struct dw_call_values *v)
{
	return v->application_ns != v->elapsed_ns || v->whole_ns != v->elapsed_ns ||
	       v->blocked_ns || v->os_cpu_ns || v->switches || v->io_calls || v->blocking_calls;
}

/* Add @v to one side of @row. Millions of nodes come by here, so the measures are not looped over.
 */
static void add_calls(struct dw_amounts *a, size_t row, const struct dw_call_values *v,
		      bool exclusive)
{
	struct dw_values *common = a->common.v + row * a->common_n, *rare, *pair;
	unsigned first = a->common_n + 1u;

#define ADD(base, first, measure, n)                                         \
	do {                                                                 \
		pair = &(base)[a->place[DWELL_MEASURE_##measure] - (first)]; \
		*(exclusive ? &pair->exclusive : &pair->inclusive) += (n);   \
	} while (0)
	ADD(common, 1, OVERHEAD, v->overhead_ns);
	ADD(common, 1, ELAPSED, v->elapsed_ns);
	if (!a->rare_of.v[row])
		return;
	rare = a->rare.v + a->rare_of.v[row] - 1;
	ADD(rare, first, APPLICATION, v->application_ns);
	ADD(rare, first, WHOLE, v->whole_ns);
	ADD(rare, first, OS_CPU, v->os_cpu_ns);
	ADD(rare, first, SWITCHES, v->switches);
	ADD(rare, first, IO_CALLS, v->io_calls);
	ADD(rare, first, BLOCKING_CALLS, v->blocking_calls);
	pair = pair_at(a, row, a->place[DWELL_MEASURE_BLOCKED]);
	*(exclusive ? &pair->exclusive : &pair->inclusive) += v->blocked_ns;
#undef ADD
}

int dw_amounts_add_calls(struct dw_amounts *a, size_t row, const struct dw_call_values *v,
			 enum dw_amounts_side side)
{
	if (has_system(v) && make_rare(a, row))
		return -ENOMEM;
	if (side & DWELL_INCLUSIVE)
		add_calls(a, row, v, false);
	if (side & DWELL_EXCLUSIVE)
		add_calls(a, row, v, true);
	return 0;
}

uint32_t dw_amounts_put_calls(struct dw_amounts *a, const struct dw_call_values *inclusive,
			      const struct dw_call_values *exclusive, struct dw_call_counts n)
{
	uint32_t row = dw_amounts_push(a);

	if (row == UINT32_MAX || dw_amounts_add_calls(a, row, inclusive, DWELL_INCLUSIVE) ||
	    dw_amounts_add_calls(a, row, exclusive, DWELL_EXCLUSIVE) ||
	    (n.counted && make_rare(a, row)))
		return UINT32_MAX;
	*dw_amounts_common(a, row, DWELL_MEASURE_CALLS) = (struct dw_values){n.outer, n.calls};
	if (n.counted)
		*pair_at(a, row, a->place[DWELL_MEASURE_COUNTED]) =
			(struct dw_values){n.counted, n.counted};
	return row;
}

/* Add @n to the pairs of @objects and of the measure of bytes that belongs to it. */
static void add_count(struct dw_amounts *a, size_t row, enum dw_measure objects,
		      const struct dw_alloc_count *n)
{
	enum dw_measure bytes = objects - DWELL_MEASURE_OBJECTS + DWELL_MEASURE_BYTES;

	if (!n->objects && !n->bytes)
		return;
	add(pair_at(a, row, a->place[objects]), n->objects, DWELL_INCLUSIVE);
	add(pair_at(a, row, a->place[bytes]), n->bytes, DWELL_INCLUSIVE);
}

static bool is_none(const struct dw_alloc_count *n)
{
	return !n->objects && !n->bytes;
}

int dw_amounts_add_allocs(struct dw_amounts *a, size_t row, const struct dw_alloc_values *v)
{
	bool has_range = dw_amounts_has(a, DWELL_MEASURE_OBJECTS_BEFORE);
	bool is_rare = !is_none(&v->collected[DWELL_GENERATION_LARGE]) ||
		       !is_none(&v->collected[DWELL_GENERATION_PINNED]) ||
		       (has_range && (!is_none(&v->range.before) || !is_none(&v->range.least) ||
				      !is_none(&v->range.most)));

	if (is_rare && make_rare(a, row))
		return -ENOMEM;
	add_count(a, row, DWELL_MEASURE_OBJECTS, &v->allocated);
	for (int i = 0; i < DWELL_GENERATIONS; i++)
		add_count(a, row, DWELL_MEASURE_OBJECTS_GEN0 + i, &v->collected[i]);
	if (!has_range)
		return 0;
	add_count(a, row, DWELL_MEASURE_OBJECTS_BEFORE, &v->range.before);
	add_count(a, row, DWELL_MEASURE_OBJECTS_LEAST, &v->range.least);
	add_count(a, row, DWELL_MEASURE_OBJECTS_MOST, &v->range.most);
	return 0;
}

void dw_amounts_add_own_allocs(struct dw_amounts *a, size_t row, const struct dw_alloc_count *n)
{
	dw_amounts_common(a, row, DWELL_MEASURE_OBJECTS)->exclusive += n->objects;
	dw_amounts_common(a, row, DWELL_MEASURE_BYTES)->exclusive += n->bytes;
}

uint32_t dw_amounts_put_allocs(struct dw_amounts *a, const struct dw_alloc_values *v)
{
	uint32_t row = dw_amounts_push(a);

	if (row == UINT32_MAX || dw_amounts_add_allocs(a, row, v))
		return UINT32_MAX;
	dw_amounts_add_own_allocs(a, row, &v->allocated);
	return row;
}

void dw_amounts_pop(struct dw_amounts *a, uint64_t ret[DWELL_MEASURES])
{
	const struct dw_measured last = {.table = a, .row = a->n - 1};

	for (unsigned m = 0; m < DWELL_MEASURES; m++)
		ret[m] = dw_measured_get(&last, m, false);
	dw_amounts_cut(a, a->n - 1);
}

int dw_amounts_add(struct dw_amounts *a, size_t row, const struct dw_amounts *more, size_t from,
		   enum dw_amounts_side side)
{
	bool is_rare = rare_n(a) && (a->rare_of.v[row] || more->rare_of.v[from]);

	if (is_rare && make_rare(a, row))
		return -ENOMEM;
	for (unsigned i = 1; i <= (is_rare ? a->all_n : a->common_n); i++) {
		const struct dw_values *pair = dw_amounts_pair(more, from, a->measure[i]);

		add(pair_at(a, row, i), pair->inclusive, side & DWELL_INCLUSIVE);
		add(pair_at(a, row, i), pair->exclusive, side & DWELL_EXCLUSIVE);
	}
	return 0;
}

/* What is the own of @pair is part of all of it, and that of @up's, NULL = none. */
static void rise(struct dw_values *pair, struct dw_values *up)
{
	pair->inclusive += pair->exclusive;
	if (up)
		up->inclusive += pair->inclusive;
}

int dw_amounts_rise(struct dw_amounts *a, size_t row, size_t above)
{
	bool has_up = above != SIZE_MAX, is_rare = rare_n(a) && a->rare_of.v[row];

	if (has_up && is_rare && make_rare(a, above))
		return -ENOMEM;
	for (unsigned i = 1; i <= a->common_n; i++)
		rise(pair_at(a, row, i), has_up ? pair_at(a, above, i) : NULL);
	for (unsigned i = a->common_n + 1u; is_rare && i <= a->all_n; i++)
		rise(pair_at(a, row, i), has_up ? pair_at(a, above, i) : NULL);
	if (is_rare || !has_up || !rare_n(a) || !a->rare_of.v[above])
		return 0;
	for (unsigned i = a->common_n + 1u; i <= a->all_n; i++)
		pair_at(a, above, i)->inclusive +=
			dw_amounts_usual(a, row, a->measure[i])->inclusive;
	return 0;
}

void dw_amounts_release(struct dw_amounts *a)
{
	dw_vec_release(&a->common);
	dw_vec_release(&a->rare_of);
	dw_vec_release(&a->rare);
	*a = (struct dw_amounts){0};
}

static uint64_t inclusive(const struct dw_amounts *a, size_t row, enum dw_measure measure)
{
	const struct dw_values *pair = dw_amounts_pair(a, row, measure);

	return pair ? pair->inclusive : 0;
}

/* Objects alive at the end: those allocated, and those before, but those collected. */
static uint64_t alive(const struct dw_amounts *a, size_t row, enum dw_measure of)
{
	enum dw_measure first = of - DWELL_MEASURE_OBJECTS_ALIVE + DWELL_MEASURE_OBJECTS_GEN0;
	uint64_t n = inclusive(a, row, first - 1) + inclusive(a, row, of + 1);

	for (int i = 0; i < DWELL_GENERATIONS; i++)
		n -= inclusive(a, row, first + i);
	return n;
}

bool dw_amounts_derived(const struct dw_amounts *a, size_t row, enum dw_measure measure,
			uint64_t *ret)
{
	const struct dw_values *calls, *counted;

	switch (measure) {
	case DWELL_MEASURE_OBJECTS_ALIVE:
	case DWELL_MEASURE_BYTES_ALIVE:
		*ret = alive(a, row, measure);
		return dw_amounts_has(a, DWELL_MEASURE_OBJECTS);
	case DWELL_MEASURE_CALLS:
	case DWELL_MEASURE_OUTER_CALLS:
	case DWELL_MEASURE_MEASURED:
		calls = dw_amounts_pair(a, row, DWELL_MEASURE_CALLS);
		if (!calls)
			return false;
		*ret = measure == DWELL_MEASURE_OUTER_CALLS ? calls->inclusive : calls->exclusive;
		if (measure != DWELL_MEASURE_MEASURED)
			return true;
		counted = dw_amounts_pair(a, row, DWELL_MEASURE_COUNTED);
		*ret -= counted->exclusive < *ret ? counted->exclusive : *ret;
		return true;
	default:
		return false;
	}
}

uint64_t dw_measured_get(const struct dw_measured *m, enum dw_measure measure, bool exclusive)
{
	uint64_t n = 0;

	return dw_measured_value(m, measure, exclusive, &n) ? n : 0;
}

struct dw_range_ns dw_measured_extremes(const struct dw_measured *m, enum dw_measure measure,
					bool exclusive)
{
	const struct dw_call_ranges *r = m->extremes;

	if (!r)
		return (struct dw_range_ns)DWELL_RANGE_NONE;
	if (measure == DWELL_MEASURE_ELAPSED)
		return exclusive ? r->elapsed_exclusive : r->elapsed_inclusive;
	return exclusive ? r->application_exclusive : r->application_inclusive;
}
