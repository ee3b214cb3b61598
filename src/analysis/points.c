/*
 * Points under a filter; see points.h. One counting sort. Objects whose group is not there, as only
 * a profile made by hand has them, do not pass.
 */
#include "analysis/points.h"

#include "analysis/latency.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>

enum { LEFT_OUT = UINT32_MAX };

static bool passes_module(const struct dw_points *t, uint32_t stack)
{
	return !t->filter->modules || dw_select_stack(t->profile, t->filter, stack);
}

/* What decides about samples, as values that no other write can change: there are very many. */
struct sample_choice {
	const struct dw_points *points;
	const uint64_t *time_ns;
	const uint32_t *thread, *lane;
	uint64_t from_ns, last_ns;
	uint32_t threads_n;
	bool by_module;
};

static struct sample_choice choose_samples(const struct dw_points *t)
{
	const struct dw_samples *s = &t->profile->samples;

	return (struct sample_choice){
		.points = t,
		.time_ns = s->time_ns,
		.thread = s->thread,
		.lane = t->lanes.of,
		.from_ns = t->filter->from_ns,
		.last_ns = t->filter->to_ns - 1, /* without an end: the largest */
		.threads_n = t->lanes.threads_n,
		.by_module = t->filter->modules,
	};
}

/* Whose sample number @i is, LEFT_OUT = nobody's who passes. It is not kept. */
static inline uint32_t sample_thread(const struct sample_choice *c, size_t i)
{
	uint32_t thread = c->thread[i] < c->threads_n ? c->thread[i] : 0;

	if (c->time_ns[i] < c->from_ns || c->time_ns[i] > c->last_ns ||
	    (c->by_module && !passes_module(c->points, c->points->profile->samples.stack[i])))
		return LEFT_OUT;
	return c->lane[thread] == LEFT_OUT ? LEFT_OUT : thread;
}

static void choose_extras(const struct dw_points *t, uint32_t *lists)
{
	const __auto_type extras = &t->profile->extras.rows;
	dw_measures set = dw_profile_measures(t->profile) &
			  ~(1ull << DWELL_MEASURE_SAMPLES | 1ull << DWELL_MEASURE_WORK);

	for (size_t i = 0; i < t->allocs_at - t->extras_at; i++) {
		const struct dw_extra *x = &extras->v[i];
		bool passes = dw_measures_has(set, x->measure) &&
			      dw_extra_passing(t->profile, t->filter, t->lanes.of, x);

		lists[i] = passes ? t->lanes.of[x->thread] : LEFT_OUT;
	}
}

/* The lane that objects of @g count for, LEFT_OUT = they do not. */
static uint32_t lane_of(const struct dw_points *t, const struct dw_alloc_group *g)
{
	const struct dw_filter *f = t->filter;

	if (f->types && (g->type > f->types_n || !f->types[g->type - 1]))
		return LEFT_OUT;
	return passes_module(t, g->stack) ? t->lanes.of[dw_points_thread(t, g->thread)] : LEFT_OUT;
}

/* The group of the objects number @i if their time passes; of sums, if there is anything. NULL = it
 * does not. */
static const struct dw_alloc_group *timely_group(const struct dw_points *t, size_t i)
{
	const struct dw_allocations *a = &t->profile->allocations;
	const struct dw_alloc_delta *d;

	if (dw_allocations_summed(a)) {
		struct dw_alloc_values sum = dw_alloc_store_get(&a->sums, i);

		if (dw_allocations_ranged(a))
			sum.range = a->ranges.v[i];
		return dw_alloc_values_none(&sum) ? NULL : &a->groups.v[i];
	}
	d = &a->deltas.v[i];
	if (d->slice >= t->profile->calls.slices.n || !t->slices.passes[d->slice])
		return NULL;
	return dw_allocations_get_group(a, d->group);
}

/* In which list @g comes. Which modules are on the rest of a part's stack is not known. */
static uint32_t list_of(struct dw_points *t, const struct dw_alloc_group *g)
{
	const struct dw_profile *p = t->profile;
	uint32_t lane = lane_of(t, g);
	unsigned part;

	if (lane == LEFT_OUT)
		return lane;
	part = dw_stacks_part(&p->stacks, &p->frames, g->stack);
	t->has_parts |= part;
	if (!part || part & DWELL_PART_LEAF)
		return lane;
	return t->filter->modules ? LEFT_OUT : t->lanes.n + lane;
}

static void choose_allocs(struct dw_points *t, uint32_t *lists, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct dw_alloc_group *g = timely_group(t, i);

		lists[i] = g ? list_of(t, g) : LEFT_OUT;
	}
}

/* Count the points of each list, of samples by thread first; @lists are of those behind samples. */
static void count(struct dw_points *t, const uint32_t *lists, size_t n)
{
	const struct sample_choice c = choose_samples(t);
	uint32_t *samples = t->samples;

	for (size_t i = 0, end = t->extras_at; i < end; i++) {
		uint32_t thread = sample_thread(&c, i);

		if (thread != LEFT_OUT)
			samples[thread]++;
	}
	for (uint32_t id = 0; id < t->lanes.threads_n; id++)
		if (t->samples[id])
			t->end[t->lanes.of[id]] += t->samples[id];
	for (size_t i = t->extras_at; i < n; i++)
		if (lists[i - t->extras_at] != LEFT_OUT)
			t->end[lists[i - t->extras_at]]++;
}

/* Put the points into their lists. */
static void put(struct dw_points *t, const uint32_t *lists, size_t n)
{
	const struct sample_choice c = choose_samples(t);
	uint32_t *rows = t->rows;
	size_t *ends = t->end;

	for (size_t i = 0, end = t->extras_at; i < end; i++) {
		uint32_t thread = sample_thread(&c, i);

		if (thread != LEFT_OUT)
			rows[ends[c.lane[thread]]++] = (uint32_t)i;
	}
	for (size_t i = t->extras_at; i < n; i++)
		if (lists[i - t->extras_at] != LEFT_OUT)
			t->rows[t->end[lists[i - t->extras_at]]++] = (uint32_t)i;
}

static int choose(struct dw_points *t, size_t n)
{
	uint32_t *lists = malloc((n - t->extras_at + 1) * sizeof *lists);
	size_t total = 0;

	t->rows = malloc((n + 1) * sizeof *t->rows);
	if (!lists || !t->rows) {
		free(lists);
		return -ENOMEM;
	}
	choose_extras(t, lists);
	choose_allocs(t, lists + t->allocs_at - t->extras_at, n - t->allocs_at);
	count(t, lists, n);
	for (size_t id = 0; id < 2 * (size_t)t->lanes.n; id++) {
		size_t list_n = t->end[id];

		t->end[id] = total;
		total += list_n;
	}
	put(t, lists, n);
	free(lists);
	return 0;
}

/* How many points there are: of what the profile's method measures, whatever else is in a session
 * that somebody made. The first of the others to @t. */
static size_t count_points(struct dw_points *t, const struct dw_profile *p)
{
	const struct dw_allocations *a = &p->allocations;
	dw_measures set = dw_profile_measures(p);
	bool has_samples = dw_measures_has(set, DWELL_MEASURE_SAMPLES);
	size_t extras_at = has_samples ? p->samples.n : 0;
	size_t allocs_at = extras_at + (has_samples ? p->extras.rows.n : 0);

	t->extras_at = (uint32_t)extras_at;
	t->allocs_at = (uint32_t)allocs_at;
	if (!dw_measures_has(set, DWELL_MEASURE_OBJECTS))
		return allocs_at;
	return allocs_at + (dw_allocations_summed(a) ? a->groups.n : a->deltas.n);
}

int dw_points_init(struct dw_points *t, const struct dw_profile *p, const struct dw_filter *filter)
{
	size_t n;

	*t = (struct dw_points){.profile = p, .filter = filter};
	n = count_points(t, p);
	if (n > UINT32_MAX)
		return DWELL_ERR_LIMIT;
	if (dw_lanes_init(&t->lanes, p, filter))
		return -ENOMEM;
	t->samples = calloc(t->lanes.threads_n, sizeof *t->samples);
	t->end = calloc(2 * (size_t)t->lanes.n, sizeof *t->end);
	if (!t->samples || !t->end || dw_slices_init(&t->slices, &p->calls, filter))
		return -ENOMEM;
	if (filter->latency && dw_latency_of_samples(p, &t->latency))
		return -ENOMEM;
	return choose(t, n);
}

void dw_points_release(struct dw_points *t)
{
	dw_slices_release(&t->slices);
	dw_lanes_release(&t->lanes);
	free(t->samples);
	free(t->latency);
	free(t->rows);
	free(t->end);
	*t = (struct dw_points){0};
}

struct dw_alloc_values dw_points_allocs(const struct dw_points *t, size_t i)
{
	const struct dw_allocations *a = &t->profile->allocations;
	uint32_t row = t->rows[i] - t->allocs_at;
	struct dw_alloc_values values;

	if (!dw_allocations_summed(a))
		return a->deltas.v[row].values;
	values = dw_alloc_store_get(&a->sums, row);
	if (dw_allocations_ranged(a))
		values.range = a->ranges.v[row];
	return values;
}

static void amount_of_objects(const struct dw_points *t, size_t i, const struct dw_amounts *like,
			      struct dw_amount *ret)
{
	const struct dw_allocations *a = &t->profile->allocations;
	uint32_t row = t->rows[i] - t->allocs_at;
	struct dw_alloc_values values;

	/* Nearly all of a loaded session. */
	if (dw_allocations_summed(a) && !dw_allocations_ranged(a) && !a->sums.apart_of.v[row]) {
		dw_amount_of_plain_allocs(like, &a->sums.plain.v[row], ret);
		return;
	}
	values = dw_points_allocs(t, i);
	dw_amount_of_allocs(like, &values, ret);
}

void dw_points_amount(const struct dw_points *t, size_t i, const struct dw_amounts *like,
		      struct dw_amount *ret)
{
	uint32_t row = t->rows[i];
	const struct dw_extra *x;

	if (row >= t->allocs_at) {
		amount_of_objects(t, i, like, ret);
	} else if (row >= t->extras_at) {
		x = &t->profile->extras.rows.v[row - t->extras_at];
		dw_amount_of(like, x->measure,
			     dw_extra_passing(t->profile, t->filter, t->lanes.of, x), ret);
	} else {
		dw_amount_of(like, DWELL_MEASURE_SAMPLES, 1, ret);
	}
}

unsigned dw_points_part(const struct dw_points *t, size_t i)
{
	if (!t->has_parts || t->rows[i] < t->allocs_at)
		return 0;
	return dw_stacks_part(&t->profile->stacks, &t->profile->frames,
			      dw_points_group(t, i)->stack);
}
