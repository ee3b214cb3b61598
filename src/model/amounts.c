/* Which measures a profile has, and amounts of rows; see measure.h and amounts.h. */
#include "model/amounts.h"

#include "model/measure.h"
#include "model/profile.h"

#include <errno.h>
#include <string.h>

#define BIT(measure)	 ((dw_measures)1 << DWELL_MEASURE_##measure)
#define BITS(from, last) (2 * BIT(last) - BIT(from))
#define LIFE(what)	 BITS(what##_GEN0, what##_PINNED)

/* Those of allocations: of drawn objects nobody knows what became of them, and only a range of time
 * has a beginning. */
static dw_measures allocation_measures(const struct dw_profile *p)
{
	dw_measures set = BIT(OBJECTS) | BIT(BYTES);

	if (dw_facts_get(&p->facts, "sample_bytes", 0) > 0)
		return set | BIT(DRAWS);
	set |= BITS(OBJECTS_GEN0, OBJECTS_ALIVE) | BITS(BYTES_GEN0, BYTES_ALIVE);
	if (dw_allocations_ranged(&p->allocations))
		set |= BITS(OBJECTS_BEFORE, OBJECTS_MOST) | BITS(BYTES_BEFORE, BYTES_MOST);
	return set;
}

/* Those that may stand beside samples: BLOCKED, and what calls and objects do not have. */
static const dw_measures besides =
	((dw_measures)1 << DWELL_MEASURES) - 2 * BIT(LATENCY) + BIT(BLOCKED);

#define BESIDES_FACT "measures_beside"

/* Older sessions have no fact, and waits at most. */
static dw_measures older_besides(const struct dw_profile *p)
{
	return p->extras.rows.n || dw_facts_get_text(&p->facts, "off_cpu") ? BIT(BLOCKED) : 0;
}

dw_measures dw_profile_measures(const struct dw_profile *p)
{
	dw_measures set;
	int64_t told;

	switch (dw_profile_method(p)) {
	case DWELL_METHOD_INSTRUMENTATION:
		return BITS(CALLS, BLOCKING_CALLS) | BIT(BLOCKED);
	case DWELL_METHOD_MEMORY:
		return allocation_measures(p);
	default:
		told = dw_facts_get(&p->facts, BESIDES_FACT, -1);
		set = BIT(SAMPLES) | (told < 0 ? older_besides(p) : (dw_measures)told & besides);
		if (!(dw_sample_ns(p) > 0))
			return set;
		return set | BIT(LATENCY) | (set & BIT(BLOCKED) ? BIT(WORK) : 0);
	}
}

bool dw_event_is_of_time(const char *event)
{
	static const char *const of_time[] = {"cpu-clock", "task-clock", "cpu-ticks", "cycles"};
	size_t n = strcspn(event, ":"); /* perf's events may have modifiers: "cycles:u" */
	bool is = false;

	for (size_t i = 0; i < sizeof of_time / sizeof *of_time; i++)
		is |= strlen(of_time[i]) == n && !strncmp(event, of_time[i], n);
	return is;
}

double dw_sample_ns(const struct dw_profile *p)
{
	const char *event = dw_facts_get_text(&p->facts, "event");
	int64_t hz = dw_facts_get(&p->facts, "frequency_hz", 0);

	return hz > 0 && event && dw_event_is_of_time(event) ? 1e9 / (double)hz : 0;
}

int dw_profile_measures_add(struct dw_profile *p, enum dw_measure measure)
{
	int64_t told = dw_facts_get(&p->facts, BESIDES_FACT, 0);

	return dw_facts_set(&p->facts, BESIDES_FACT, told | (int64_t)1 << measure);
}

enum dw_measure dw_measures_lead(dw_measures set)
{
	if (dw_measures_has(set, DWELL_MEASURE_ELAPSED))
		return DWELL_MEASURE_ELAPSED;
	if (dw_measures_has(set, DWELL_MEASURE_BYTES))
		return DWELL_MEASURE_BYTES;
	return dw_measures_has(set, DWELL_MEASURE_WORK) ? DWELL_MEASURE_WORK
							: DWELL_MEASURE_SAMPLES;
}

/* What other measures tell, which is not stored. */
static const dw_measures told =
	BIT(OUTER_CALLS) | BIT(MEASURED) | BIT(OBJECTS_ALIVE) | BIT(BYTES_ALIVE) | BIT(DRAWS);

const dw_measures dw_derived_measures = BITS(CALLS, MEASURED) | BITS(APPLICATION, WORK) |
					BIT(OBJECTS_ALIVE) | BIT(BYTES_ALIVE) | BIT(DRAWS);

/* Of sessions of calls and of objects: what few rows have. */
static const dw_measures rare_of_calls =
	BIT(COUNTED) | BITS(APPLICATION, BLOCKING_CALLS) | BIT(BLOCKED);
static const dw_measures rare_of_objects =
	BITS(OBJECTS_LARGE, OBJECTS_MOST) | BITS(BYTES_LARGE, BYTES_MOST);

const struct dw_values dw_no_values;

void dw_amounts_init_for(struct dw_amounts *a, const struct dw_profile *p)
{
	dw_amounts_init(a, dw_profile_measures(p) & ~BIT(LATENCY), (uint64_t)dw_sample_ns(p));
}

void dw_amounts_init_like(struct dw_amounts *a, const struct dw_amounts *like)
{
	*a = *like;
	a->n = 0;
	memset(&a->common, 0, sizeof a->common);
	memset(&a->rare_of, 0, sizeof a->rare_of);
	memset(&a->rare, 0, sizeof a->rare);
}

void dw_amounts_init(struct dw_amounts *a, dw_measures set, uint64_t sample_ns)
{
	dw_measures rare = dw_measures_has(set, DWELL_MEASURE_CALLS) ? rare_of_calls : 0;

	if (dw_measures_has(set, DWELL_MEASURE_SAMPLES))
		rare &= ~BIT(BLOCKED);
	if (set & BIT(SAMPLES) && set & BIT(WORK) && !rare)
		a->sample_ns = sample_ns;
	if (dw_measures_has(set, DWELL_MEASURE_OBJECTS)) {
		set |= LIFE(OBJECTS) | LIFE(BYTES);
		rare |= rare_of_objects;
	}
	for (int pass = 0; pass < 2; pass++) {
		dw_measures now = set & ~told & (pass ? rare : ~rare);

		for (unsigned m = 0; m < DWELL_MEASURES; m++)
			if (dw_measures_has(now, m)) {
				a->place[m] = ++a->all_n;
				a->measure[a->all_n] = (uint8_t)m;
			}
		if (!pass)
			a->common_n = a->all_n;
	}
}

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
		a->common.v[a->common.n++] = dw_no_values;
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

struct dw_values *dw_amounts_rare(struct dw_amounts *a, size_t row)
{
	if (a->rare_of.v[row])
		return a->rare.v + a->rare_of.v[row] - 1;
	if (a->rare.n + rare_n(a) >= UINT32_MAX || dw_vec_reserve(&a->rare, rare_n(a)))
		return NULL;
	a->rare_of.v[row] = (uint32_t)a->rare.n + 1;
	for (size_t i = 0; i < rare_n(a); i++)
		a->rare.v[a->rare.n++] = dw_no_values;
	return a->rare.v + a->rare_of.v[row] - 1;
}

/* Nothing: rare ones are looked at only if there are any. */
static void clear(const struct dw_amounts *a, struct dw_amount *to)
{
	for (unsigned i = 1; i <= a->common_n; i++)
		to->v[i] = 0;
	to->is_rare = false;
}

/* Some of the rare ones will be set. */
static void clear_rare(const struct dw_amounts *a, struct dw_amount *to)
{
	memset(to->v + a->common_n + 1, 0, rare_n(a) * sizeof *to->v);
	to->is_rare = true;
}

static inline void set(const struct dw_amounts *a, struct dw_amount *to, enum dw_measure measure,
		       uint64_t n)
{
	to->v[a->place[measure]] = n;
}

void dw_amount_set(const struct dw_amounts *a, struct dw_amount *to, enum dw_measure measure,
		   uint64_t n)
{
	if (n && a->place[measure] > a->common_n && !to->is_rare)
		clear_rare(a, to);
	set(a, to, measure, n);
	if (a->sample_ns && measure == DWELL_MEASURE_SAMPLES)
		set(a, to, DWELL_MEASURE_WORK, n * a->sample_ns);
	else if (a->sample_ns && measure == DWELL_MEASURE_BLOCKED)
		set(a, to, DWELL_MEASURE_WORK, n);
}

void dw_amount_of(const struct dw_amounts *a, enum dw_measure measure, uint64_t n,
		  struct dw_amount *ret)
{
	clear(a, ret);
	dw_amount_set(a, ret, measure, n);
}

static bool has_system(const struct dw_call_values *v)
{
	return (v->application_ns ^ v->elapsed_ns) | (v->delimited_ns ^ v->elapsed_ns) |
	       v->blocked_ns | v->os_cpu_ns | v->switches | v->io_calls | v->blocking_calls;
}

void dw_amount_of_calls(const struct dw_amounts *a, const struct dw_call_values *v,
			struct dw_amount *ret)
{
	clear(a, ret);
	set(a, ret, DWELL_MEASURE_CALLS, v->calls);
	set(a, ret, DWELL_MEASURE_OVERHEAD, v->overhead_ns);
	set(a, ret, DWELL_MEASURE_ELAPSED, v->elapsed_ns);
	if (!has_system(v))
		return;
	clear_rare(a, ret);
	set(a, ret, DWELL_MEASURE_APPLICATION, v->elapsed_ns - v->application_ns);
	set(a, ret, DWELL_MEASURE_DELIMITED, v->elapsed_ns - v->delimited_ns);
	set(a, ret, DWELL_MEASURE_WORK, v->left_out_ns);
	set(a, ret, DWELL_MEASURE_BLOCKED, v->blocked_ns);
	set(a, ret, DWELL_MEASURE_OS_CPU, v->os_cpu_ns);
	set(a, ret, DWELL_MEASURE_SWITCHES, v->switches);
	set(a, ret, DWELL_MEASURE_IO_CALLS, v->io_calls);
	set(a, ret, DWELL_MEASURE_BLOCKING_CALLS, v->blocking_calls);
}

/* Set @objects, and of bytes the measure that belongs to it. */
static inline void set_count(const struct dw_amounts *a, struct dw_amount *to,
			     enum dw_measure objects, const struct dw_alloc_count *n)
{
	set(a, to, objects, n->objects);
	set(a, to, objects - DWELL_MEASURE_OBJECTS + DWELL_MEASURE_BYTES, n->bytes);
}

static bool has_rare(const struct dw_alloc_values *v)
{
	const struct dw_alloc_count *some[] = {&v->collected[DWELL_GENERATION_LARGE],
					       &v->collected[DWELL_GENERATION_PINNED],
					       &v->range.before, &v->range.most};
	uint64_t any = 0;

	for (size_t i = 0; i < sizeof some / sizeof *some; i++)
		any |= some[i]->objects | some[i]->bytes;
	return any;
}

/* What all objects have. */
static inline void set_plain(const struct dw_amounts *a, struct dw_amount *to,
			     const struct dw_alloc_count *allocated,
			     const struct dw_alloc_count collected[DWELL_ALLOC_PLAIN])
{
	clear(a, to);
	set_count(a, to, DWELL_MEASURE_OBJECTS, allocated);
	for (int i = 0; i < DWELL_ALLOC_PLAIN; i++)
		set_count(a, to, DWELL_MEASURE_OBJECTS_GEN0 + i, &collected[i]);
}

void dw_amount_of_plain_allocs(const struct dw_amounts *a, const struct dw_alloc_plain *v,
			       struct dw_amount *ret)
{
	set_plain(a, ret, &v->allocated, v->collected);
}

void dw_amount_of_allocs(const struct dw_amounts *a, const struct dw_alloc_values *v,
			 struct dw_amount *ret)
{
	set_plain(a, ret, &v->allocated, v->collected);
	if (!has_rare(v))
		return;
	clear_rare(a, ret);
	for (int i = DWELL_ALLOC_PLAIN; i < DWELL_GENERATIONS; i++)
		set_count(a, ret, DWELL_MEASURE_OBJECTS_GEN0 + i, &v->collected[i]);
	set_count(a, ret, DWELL_MEASURE_OBJECTS_BEFORE, &v->range.before);
	set_count(a, ret, DWELL_MEASURE_OBJECTS_LEAST, &v->range.least);
	set_count(a, ret, DWELL_MEASURE_OBJECTS_MOST, &v->range.most);
}

static void add(struct dw_values *to, const uint64_t *more, size_t n, enum dw_amounts_side side)
{
	uint64_t inclusive = side & DWELL_INCLUSIVE ? ~0ull : 0;
	uint64_t exclusive = side & DWELL_EXCLUSIVE ? ~0ull : 0;

	for (size_t i = 0; i < n; i++) {
		to[i].inclusive += more[i] & inclusive;
		to[i].exclusive += more[i] & exclusive;
	}
}

int dw_amounts_add(struct dw_amounts *a, size_t row, const struct dw_amount *more,
		   enum dw_amounts_side side)
{
	struct dw_values *rare;

	add(a->common.v + row * a->common_n, more->v + 1, a->common_n, side);
	if (!more->is_rare)
		return 0;
	rare = dw_amounts_rare(a, row);
	if (!rare)
		return -ENOMEM;
	add(rare, more->v + 1 + a->common_n, rare_n(a), side);
	return 0;
}

uint32_t dw_amounts_put(struct dw_amounts *a, const struct dw_amount *inclusive,
			const struct dw_amount *exclusive)
{
	uint32_t row = dw_amounts_push(a);

	if (row == UINT32_MAX || dw_amounts_add(a, row, inclusive, DWELL_INCLUSIVE) ||
	    dw_amounts_add(a, row, exclusive, DWELL_EXCLUSIVE))
		return UINT32_MAX;
	return row;
}

void dw_amounts_pop(struct dw_amounts *a, uint64_t ret[DWELL_MEASURES])
{
	const struct dw_measured last = {.table = a, .row = a->n - 1};

	for (unsigned m = 0; m < DWELL_MEASURES; m++)
		ret[m] = dw_measured_get(&last, m, false);
	dw_amounts_cut(a, a->n - 1);
}

static void add_pairs(struct dw_values *to, const struct dw_values *more, size_t n,
		      enum dw_amounts_side side)
{
	for (size_t i = 0; i < n; i++) {
		to[i].inclusive += side & DWELL_INCLUSIVE ? more[i].inclusive : 0;
		to[i].exclusive += side & DWELL_EXCLUSIVE ? more[i].exclusive : 0;
	}
}

int dw_amounts_add_row(struct dw_amounts *a, size_t row, const struct dw_amounts *more, size_t from,
		       enum dw_amounts_side side)
{
	size_t n = a->common_n;
	struct dw_values *rare;

	add_pairs(a->common.v + row * n, more->common.v + from * n, n, side);
	if (!rare_n(a) || !more->rare_of.v[from])
		return 0;
	rare = dw_amounts_rare(a, row);
	if (!rare)
		return -ENOMEM;
	add_pairs(rare, more->rare.v + more->rare_of.v[from] - 1, rare_n(a), side);
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

/* All calls, the outermost ones or those that were measured. */
static uint64_t calls_of(const struct dw_amounts *a, size_t row, enum dw_measure measure)
{
	const struct dw_values *calls = dw_amounts_pair(a, row, DWELL_MEASURE_CALLS);
	uint64_t counted = dw_amounts_pair(a, row, DWELL_MEASURE_COUNTED)->exclusive;

	switch (measure) {
	case DWELL_MEASURE_OUTER_CALLS:
		return calls->inclusive;
	case DWELL_MEASURE_COUNTED:
		return counted;
	case DWELL_MEASURE_MEASURED:
		return calls->exclusive - (counted < calls->exclusive ? counted : calls->exclusive);
	default:
		return calls->exclusive;
	}
}

bool dw_amounts_derived(const struct dw_amounts *a, size_t row, enum dw_measure measure,
			bool exclusive, uint64_t *ret)
{
	const struct dw_values *elapsed, *less;

	switch (measure) {
	case DWELL_MEASURE_OBJECTS_ALIVE:
	case DWELL_MEASURE_BYTES_ALIVE:
		if (!dw_amounts_has(a, DWELL_MEASURE_OBJECTS))
			return false;
		*ret = alive(a, row, measure);
		return true;
	case DWELL_MEASURE_APPLICATION:
	case DWELL_MEASURE_DELIMITED:
	case DWELL_MEASURE_WORK:
		less = dw_amounts_pair(a, row, measure);
		if (!less)
			return false;
		if (a->sample_ns) {
			*ret = exclusive ? less->exclusive : less->inclusive;
			return true;
		}
		elapsed = dw_amounts_common(a, row, DWELL_MEASURE_ELAPSED);
		*ret = exclusive ? elapsed->exclusive - less->exclusive
				 : elapsed->inclusive - less->inclusive;
		return true;
	default:
		if (measure == DWELL_MEASURE_DRAWS || !dw_amounts_has(a, DWELL_MEASURE_CALLS))
			return false;
		*ret = calls_of(a, row, measure);
		return true;
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
	const struct dw_extreme_values *r = m->extremes;

	if (!r)
		return (struct dw_range_ns)DWELL_RANGE_NONE;
	if (measure == DWELL_MEASURE_ELAPSED)
		return exclusive ? r->elapsed_exclusive : r->elapsed_inclusive;
	return exclusive ? r->application_exclusive : r->application_inclusive;
}
