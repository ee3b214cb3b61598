/*
 * Weights of samples and allocations; see weights.h. Those of calls are made in weights-calls.c.
 *
 * Samples are one row each only for those who show time; 16 bytes then. Others get them added up by
 * thread and stack, of which there are far fewer.
 */
#include "export/weights-internal.h"

#include "analysis/filter.h"
#include "analysis/points.h"
#include "base/map.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NS_PER_S = 1000000000, USUAL_HZ = 1000 };

static const struct dw_weight_kind of_samples[] = {
	{"samples", DWELL_UNIT_COUNT},
	{"cpu", DWELL_UNIT_NS},
	{"blocked", DWELL_UNIT_NS}, /* where waits were recorded */
};

static const struct dw_weight_kind of_allocations[] = {
	{"alloc_objects", DWELL_UNIT_COUNT},
	{"alloc_space", DWELL_UNIT_BYTES},
	{"inuse_objects", DWELL_UNIT_COUNT},
	{"inuse_space", DWELL_UNIT_BYTES},
};

static const struct dw_weight_kind of_calls[] = {
	{"elapsed", DWELL_UNIT_NS},
	{"application", DWELL_UNIT_NS},
	{"calls", DWELL_UNIT_COUNT},
	{"blocked", DWELL_UNIT_NS},
};

const struct dw_weight_kind *dw_weights_kinds(const struct dw_profile *p,
					      const struct dw_filter *filter, unsigned *n)
{
	switch (dw_profile_method(p)) {
	case DWELL_METHOD_INSTRUMENTATION:
		*n = sizeof of_calls / sizeof *of_calls;
		return of_calls;
	case DWELL_METHOD_MEMORY:
		/* Drawn objects are not followed to their end, and those of a range may end outside
		 * it. */
		*n = dw_facts_get(&p->facts, "sample_bytes", 0) > 0 || filter->from_ns ||
				     filter->to_ns
			     ? 2
			     : 4;
		return of_allocations;
	case DWELL_METHOD_SAMPLING:
		break;
	}
	*n = dw_profile_has_waits(p) ? 3 : 2;
	return of_samples;
}

int dw_weights_add(struct dw_weights *w, uint32_t thread, uint32_t path,
		   const uint64_t values[DWELL_WEIGHT_KINDS_MAX])
{
	if (w->rows.n >= UINT32_MAX)
		return DWELL_ERR_LIMIT;
	if (dw_vec_push(&w->rows, (struct dw_weight){thread, path}) ||
	    dw_vec_reserve(&w->values, w->kinds_n))
		return -ENOMEM;
	for (unsigned k = 0; k < w->kinds_n; k++)
		w->values.v[w->values.n++] = values[k];
	return 0;
}

/* The samples of a profile under a filter. */
struct chosen {
	const struct dw_profile *profile;
	const struct dw_filter *filter;
	uint32_t *process; /* by thread id; UINT32_MAX = filtered out */
	struct dw_map rows;
};

static bool passes(const struct chosen *c, size_t i)
{
	const struct dw_samples *s = &c->profile->samples;

	return c->process[s->thread[i]] != UINT32_MAX && s->time_ns[i] >= c->filter->from_ns &&
	       s->time_ns[i] <= c->filter->to_ns - 1 && /* without an end: the largest */
	       (!c->filter->modules || dw_select_stack(c->profile, c->filter, s->stack[i]));
}

/* Append a row of @samples and @blocked_ns. */
static int add_row(struct dw_weights *w, struct dw_weight row, uint64_t samples,
		   uint64_t blocked_ns)
{
	if (w->rows.n >= UINT32_MAX)
		return DWELL_ERR_LIMIT;
	if (dw_vec_push(&w->rows, row) || dw_vec_push(&w->values, samples) ||
	    (w->kinds_n > 2 && dw_vec_push(&w->blocked, blocked_ns)))
		return -ENOMEM;
	return 0;
}

/* Add @samples and @blocked_ns to the row of their thread and stack. */
static int merge(struct dw_weights *w, struct chosen *c, struct dw_weight of, uint64_t samples,
		 uint64_t blocked_ns)
{
	uint64_t key = (uint64_t)of.thread << 32 | of.path;
	uint32_t row = dw_map_get(&c->rows, key);
	int rc;

	if (!row) {
		rc = add_row(w, of, samples, blocked_ns);
		return rc ? rc : dw_map_put(&c->rows, key, (uint32_t)w->rows.n);
	}
	w->values.v[row - 1] += samples;
	if (w->kinds_n > 2)
		w->blocked.v[row - 1] += blocked_ns;
	return 0;
}

/* Put @n values at @v into the order that @order tells. */
static int permute(uint64_t *v, const struct dw_sort_row *order, size_t n)
{
	uint64_t *copy = malloc((n + 1) * sizeof *copy);

	for (size_t i = 0; copy && i < n; i++)
		copy[i] = v[order[i].row];
	if (copy && n)
		memcpy(v, copy, n * sizeof *v);
	free(copy);
	return copy ? 0 : -ENOMEM;
}

/* Sort the rows by time. Samples are sorted already, unless the session was made by somebody else.
 */
static int sort_by_time(struct dw_weights *w)
{
	struct dw_weight *rows = malloc((w->rows.n + 1) * sizeof *rows);
	struct dw_sort_row *order = malloc((w->rows.n + 1) * sizeof *order);
	int rc = rows && order ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < w->rows.n; i++)
		order[i] = (struct dw_sort_row){w->times_ns.v[i], i};
	rc = rc ? rc : dw_sort_rows(order, w->rows.n);
	for (size_t i = 0; !rc && i < w->rows.n; i++) {
		rows[i] = w->rows.v[order[i].row];
		w->times_ns.v[i] = order[i].key;
	}
	for (size_t i = 0; !rc && i < w->rows.n; i++)
		w->rows.v[i] = rows[i];
	if (!rc && w->values.n)
		rc = permute(w->values.v, order, w->values.n);
	if (!rc && w->blocked.n)
		rc = permute(w->blocked.v, order, w->blocked.n);
	free(rows);
	free(order);
	return rc;
}

/* One row for each wait, at its end, or added up. */
static int list_waits(struct dw_weights *w, struct chosen *c, bool in_order)
{
	const struct dw_profile *p = c->profile;
	int rc = 0;

	for (size_t i = 0; i < p->waits.rows.n && !rc; i++) {
		const struct dw_wait *wait = &p->waits.rows.v[i];
		struct dw_weight row = {wait->thread, wait->stack};
		uint64_t ns = dw_wait_passing(p, c->filter, c->process, wait);

		if (!ns)
			continue;
		rc = in_order ? add_row(w, row, 0, ns) : merge(w, c, row, 0, ns);
		if (!rc && in_order)
			rc = dw_vec_push(&w->times_ns, wait->begin_ns + wait->span_ns);
	}
	return rc;
}

static int list_samples(struct dw_weights *w, struct chosen *c, bool in_order)
{
	const struct dw_samples *s = &c->profile->samples;
	bool sorted = true;
	int rc = 0;

	for (size_t i = 0; i < s->n && !rc; i++) {
		if (!passes(c, i))
			continue;
		if (!in_order) {
			rc = merge(w, c, (struct dw_weight){s->thread[i], s->stack[i]}, 1, 0);
			continue;
		}
		if (w->rows.n && s->time_ns[i] < w->times_ns.v[w->rows.n - 1])
			sorted = false;
		if (dw_vec_push(&w->rows, (struct dw_weight){s->thread[i], s->stack[i]}) ||
		    dw_vec_push(&w->times_ns, s->time_ns[i]) ||
		    (w->kinds_n > 2 && (dw_vec_push(&w->values, 1) || dw_vec_push(&w->blocked, 0))))
			rc = -ENOMEM;
	}
	if (!rc && w->kinds_n > 2)
		rc = list_waits(w, c, in_order);
	return rc || !in_order || (sorted && w->kinds_n < 3) ? rc : sort_by_time(w);
}

static int add_samples(struct dw_weights *w, const struct dw_profile *p,
		       const struct dw_filter *filter, bool in_order)
{
	struct chosen c = {.profile = p, .filter = filter};
	int64_t hz = dw_facts_get(&p->facts, "frequency_hz", USUAL_HZ);
	int rc = -ENOMEM;

	w->period_ns = NS_PER_S / (uint64_t)(hz > 0 && hz <= NS_PER_S ? hz : USUAL_HZ);
	if (p->samples.n >= UINT32_MAX)
		return DWELL_ERR_LIMIT;
	c.process = calloc((size_t)dw_threads_count(&p->threads) + 1, sizeof *c.process);
	if (c.process) {
		dw_select_threads(p, filter, c.process);
		rc = list_samples(w, &c, in_order);
	}
	free(c.process);
	dw_map_release(&c.rows);
	return rc;
}

/* One row for each thread and stack, whatever types its objects have. */
static int add_point(struct dw_weights *w, struct dw_map *rows, const struct dw_points *t, size_t i)
{
	struct dw_point point = dw_points_get(t, i);
	struct dw_alloc_values v = dw_points_allocs(t, i);
	struct dw_alloc_count alive = dw_alloc_values_alive(&v);
	const uint64_t values[] = {v.allocated.objects, v.allocated.bytes, alive.objects,
				   alive.bytes};
	uint64_t key = (uint64_t)point.thread << 32 | point.stack;
	uint32_t row = dw_map_get(rows, key);
	int rc;

	for (unsigned k = 0; row && k < w->kinds_n; k++)
		w->values.v[(size_t)(row - 1) * w->kinds_n + k] += values[k];
	if (row)
		return 0;
	rc = dw_weights_add(w, point.thread, point.stack, values);
	return rc ? rc : dw_map_put(rows, key, (uint32_t)w->rows.n);
}

static int add_allocations(struct dw_weights *w, const struct dw_profile *p,
			   const struct dw_filter *filter)
{
	struct dw_points t;
	struct dw_map rows = {0};
	int rc = dw_points_init(&t, p, filter);

	for (size_t i = 0; !rc && i < t.end[t.processes_n - 1]; i++)
		rc = add_point(w, &rows, &t, i);
	dw_map_release(&rows);
	dw_points_release(&t);
	return rc;
}

int dw_weights_init(struct dw_weights *w, struct dw_paths *paths, const struct dw_filter *filter,
		    bool in_order)
{
	const struct dw_profile *p = paths->profile;

	*w = (struct dw_weights){0};
	w->kinds = dw_weights_kinds(p, filter, &w->kinds_n);
	if (dw_profile_has_calls(p))
		return dw_weights_of_calls(w, paths, filter);
	if (dw_profile_method(p) == DWELL_METHOD_MEMORY)
		return add_allocations(w, p, filter);
	return add_samples(w, p, filter, in_order);
}

void dw_weights_release(struct dw_weights *w)
{
	dw_vec_release(&w->rows);
	dw_vec_release(&w->values);
	dw_vec_release(&w->times_ns);
	dw_vec_release(&w->blocked);
}
