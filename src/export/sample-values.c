/*
 * Values by thread and path; see sample-values.h.
 *
 * Samples are one row each only for those who show time; 16 bytes then. Others get them added up by
 * thread and stack, of which there are far fewer.
 *
 * A node of calls becomes a path that ends where its function begins. What it calls hangs below
 * another path, which ends at the call's line in the same function. Statements lie in their
 * function's location. Of what a target had no memory for paths for, estimated paths have all;
 * under a filter by module, of which those know too little, the calls themselves have it, below
 * their thread and their caller.
 */
#include "export/sample-values.h"

#include "analysis/calls.h"
#include "analysis/points.h"
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>

enum { NS_PER_S = 1000000000, USUAL_HZ = 1000, STORED_MAX = 4 };

static const struct dw_value_kind of_samples[] = {
	{"samples", DWELL_UNIT_COUNT, DWELL_MEASURE_SAMPLES, 0, false},
	{"cpu", DWELL_UNIT_NS, DWELL_MEASURE_SAMPLES, 0, true},
	{"blocked", DWELL_UNIT_NS, DWELL_MEASURE_BLOCKED, 1, false}, /* where waits were recorded */
	{"work", DWELL_UNIT_NS, DWELL_MEASURE_WORK, 2, false},	     /* and samples are of time */
};

static const struct dw_value_kind of_allocations[] = {
	{"alloc_objects", DWELL_UNIT_COUNT, DWELL_MEASURE_OBJECTS, 0, false},
	{"alloc_space", DWELL_UNIT_BYTES, DWELL_MEASURE_BYTES, 1, false},
	{"inuse_objects", DWELL_UNIT_COUNT, DWELL_MEASURE_OBJECTS_ALIVE, 2, false},
	{"inuse_space", DWELL_UNIT_BYTES, DWELL_MEASURE_BYTES_ALIVE, 3, false},
};

static const struct dw_value_kind of_calls[] = {
	{"elapsed", DWELL_UNIT_NS, DWELL_MEASURE_ELAPSED, 0, false},
	{"application", DWELL_UNIT_NS, DWELL_MEASURE_APPLICATION, 1, false},
	{"calls", DWELL_UNIT_COUNT, DWELL_MEASURE_CALLS, 2, false},
	{"blocked", DWELL_UNIT_NS, DWELL_MEASURE_BLOCKED, 3, false},
};

const struct dw_value_kind *dw_sample_values_kinds(const struct dw_profile *p,
						   const struct dw_filter *filter, unsigned *n)
{
	dw_measures set;

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
	set = dw_profile_measures(p);
	*n = dw_measures_has(set, DWELL_MEASURE_WORK)	   ? 4
	     : dw_measures_has(set, DWELL_MEASURE_BLOCKED) ? 3
							   : 2;
	return of_samples;
}

/* While rows are added. */
struct gathering {
	struct dw_sample_values *out;
	struct dw_amounts amounts; /* a row of what is at hand, or one for each row of @out */
	struct dw_map rows;	   /* thread << 32 | path -> row + 1 */
	bool has_times;		   /* rows are samples and extras in the order of time */
};

/* What row @row of the amounts says, as it is stored. False: nothing. */
static bool read_row(const struct gathering *g, size_t row, uint64_t ret[STORED_MAX])
{
	const struct dw_sample_values *w = g->out;
	const struct dw_measured m = {.table = &g->amounts, .row = row};
	uint64_t any = 0;

	for (unsigned k = 0; k < w->kinds_n; k++)
		any |= ret[w->kinds[k].stored] = dw_measured_get(&m, w->kinds[k].measure, true);
	return any;
}

/* What @amount says. */
static bool read_amount(struct gathering *g, const struct dw_amount *amount,
			uint64_t ret[STORED_MAX])
{
	/* There is memory for one row. */
	dw_amounts_cut(&g->amounts, 0);
	dw_amounts_push(&g->amounts);
	dw_amounts_add(&g->amounts, 0, amount, DWELL_BOTH);
	return read_row(g, 0, ret);
}

static int add_values(struct dw_sample_values *w, const uint64_t *values)
{
	if (dw_vec_reserve(&w->values, w->stored_n))
		return -ENOMEM;
	for (unsigned k = 0; k < w->stored_n; k++)
		w->values.v[w->values.n++] = values[k];
	return 0;
}

static int add_row(struct dw_sample_values *w, uint32_t thread, uint32_t path)
{
	if (w->rows.n >= UINT32_MAX)
		return DWELL_ERR_LIMIT;
	return dw_vec_push(&w->rows, (struct dw_sample_row){thread, path});
}

/* Add @amount to the row of @thread and @path. */
static int merge(struct gathering *g, uint32_t thread, uint32_t path,
		 const struct dw_amount *amount)
{
	uint64_t key = (uint64_t)thread << 32 | path;
	uint32_t row = dw_map_get(&g->rows, key);
	int rc;

	if (!row) {
		rc = add_row(g->out, thread, path);
		row = (uint32_t)g->out->rows.n;
		if (!rc && dw_amounts_push(&g->amounts) == UINT32_MAX)
			rc = -ENOMEM;
		if (!rc)
			rc = dw_map_put(&g->rows, key, row);
		if (rc)
			return rc;
	}
	return dw_amounts_add(&g->amounts, row - 1, amount, DWELL_BOTH);
}

/* Say what was merged. */
static int read_merged(const struct gathering *g)
{
	uint64_t values[STORED_MAX];
	int rc = 0;

	for (size_t row = 0; row < g->amounts.n && !rc; row++) {
		read_row(g, row, values);
		rc = add_values(g->out, values);
	}
	return rc;
}

/* When point @i was, an extra when it ended. */
static uint64_t time_of(const struct dw_points *t, size_t i)
{
	const struct dw_extra *x;

	if (dw_points_is_sample(t, i))
		return t->profile->samples.time_ns[t->rows[i]];
	x = &t->profile->extras.rows.v[t->rows[i] - t->extras_at];
	return x->begin_ns + x->span_ns;
}

/* The points of @t in the order of time, or as they were recorded; objects as they are. NULL
 * without memory. */
static struct dw_sort_row *sort_points(const struct gathering *g, const struct dw_points *t,
				       size_t n)
{
	struct dw_sort_row *order = malloc((n + 1) * sizeof *order);

	for (size_t i = 0; order && i < n; i++)
		order[i] = (struct dw_sort_row){t->rows[i], i};
	if (order && t->allocs_at && !dw_sort_rows(order, n) && g->has_times)
		for (size_t i = 0; i < n; i++)
			order[i].key = time_of(t, order[i].row);
	if (!order || !g->has_times || !dw_sort_rows(order, n))
		return order;
	free(order);
	return NULL;
}

/* Whether some value shows the measure of point @i. */
static bool is_shown(const struct dw_sample_values *w, const struct dw_points *t, size_t i)
{
	bool shown = dw_points_is_sample(t, i) || t->rows[i] >= t->allocs_at;

	for (unsigned k = 0; k < w->kinds_n && !shown; k++)
		shown = w->kinds[k].measure ==
			t->profile->extras.rows.v[t->rows[i] - t->extras_at].measure;
	return shown;
}

static int add_point(struct gathering *g, const struct dw_points *t, size_t i)
{
	struct dw_sample_values *w = g->out;
	struct dw_point point = dw_points_get(t, i);
	uint64_t values[STORED_MAX];
	struct dw_amount amount;
	int rc;

	if (!is_shown(w, t, i))
		return 0;
	dw_points_amount(t, i, &g->amounts, &amount);
	if (!g->has_times)
		return merge(g, point.thread, point.stack, &amount);
	if (dw_vec_push(&w->times_ns, time_of(t, i)))
		return -ENOMEM;
	rc = add_row(w, point.thread, point.stack);
	if (rc || w->stored_n == 1) /* samples alone: 1 each */
		return rc;
	read_amount(g, &amount, values);
	return add_values(w, values);
}

static int add_points(struct gathering *g, const struct dw_profile *p,
		      const struct dw_filter *filter)
{
	struct dw_sort_row *order = NULL;
	struct dw_points t;
	int rc = dw_points_init(&t, p, filter);
	size_t n = rc ? 0 : dw_points_count(&t);

	if (!rc) {
		order = sort_points(g, &t, n);
		rc = order ? 0 : -ENOMEM;
	}
	for (size_t k = 0; k < n && !rc; k++)
		rc = add_point(g, &t, order[k].row);
	if (!rc && !g->has_times)
		rc = read_merged(g);
	free(order);
	dw_points_release(&t);
	return rc;
}

struct walk {
	const struct dw_call_nodes *nodes;
	struct dw_paths *paths;
	uint32_t *upper; /* by node id: the path of its callers */
};

static uint32_t entry_location(const struct walk *w, uint32_t id)
{
	const struct dw_call_node *node = dw_call_nodes_get(w->nodes, id);

	if (node->flags & DWELL_CALL_ROOT)
		return dw_paths_thread_location(w->paths, node->thread);
	if (node->flags & DWELL_CALL_TRUNCATED)
		return dw_paths_truncated_location(w->paths);
	return node->entry < w->paths->frames_n ? node->entry : 0;
}

/* @frame in the function of the node @id, or where that begins: a jump instead of a call leaves
 * call sites that lie in other functions. */
static uint32_t location_within(const struct walk *w, uint32_t id, uint32_t frame)
{
	uint32_t callee = dw_call_callee(w->nodes, id);

	return callee && frame && dw_call_function_at(w->nodes, frame) == callee
		       ? frame
		       : entry_location(w, id);
}

/* The path of the node @id; of one that overflowed below its thread and its caller alone. */
static int find_path(const struct walk *w, uint32_t id, uint32_t *ret)
{
	const struct dw_call_node *node = dw_call_nodes_get(w->nodes, id);
	uint32_t parent = dw_call_nodes_parent(w->nodes, id), upper = w->upper[id];
	int rc = 0;

	if (node->flags & DWELL_CALL_LINE && parent)
		return dw_paths_add(w->paths, w->upper[parent],
				    location_within(w, parent, node->entry), ret);
	if (node->flags & DWELL_CALL_OVERFLOW) {
		rc = dw_paths_add(w->paths, 0, dw_paths_thread_location(w->paths, node->thread),
				  &upper);
		if (!rc && node->caller && node->caller < w->paths->frames_n)
			rc = dw_paths_add(w->paths, upper, node->caller, &upper);
	}
	return rc ? rc : dw_paths_add(w->paths, upper, entry_location(w, id), ret);
}

static int add_node(struct gathering *g, const struct walk *w, uint32_t id)
{
	const uint32_t shares = DWELL_CALL_ESTIMATED | DWELL_CALL_TRUNCATED;
	const struct dw_call_node *node = dw_call_nodes_get(w->nodes, id);
	struct dw_call_values own = dw_call_nodes_values(w->nodes, id);
	uint64_t values[STORED_MAX];
	struct dw_amount amount;
	uint32_t path;
	int rc;

	if (node->flags & DWELL_CALL_INCLUSIVE ||
	    node->flags & (w->nodes->filter->modules ? shares : DWELL_CALL_OVERFLOW))
		return 0;
	dw_amount_of_calls(&g->amounts, &own, &amount);
	if (!read_amount(g, &amount, values))
		return 0;
	rc = find_path(w, id, &path);
	if (!rc)
		rc = add_row(g->out, node->thread, path);
	return rc ? rc : add_values(g->out, values);
}

static int add_nodes(struct gathering *g, struct walk *w)
{
	int rc = 0;

	for (uint32_t id = 1; id < w->nodes->n && !rc; id++) {
		uint32_t parent = dw_call_nodes_parent(w->nodes, id);
		uint32_t site = dw_call_nodes_get(w->nodes, id)->site;

		if (!(w->nodes->state[id] & DWELL_CALL_SELECTED))
			continue;
		if (parent)
			rc = dw_paths_add(w->paths, w->upper[parent],
					  location_within(w, parent, site), &w->upper[id]);
		if (!rc)
			rc = add_node(g, w, id);
	}
	return rc;
}

static int add_calls(struct gathering *g, struct dw_paths *paths, const struct dw_filter *filter)
{
	struct dw_row_keys row_keys = {0};
	struct dw_call_nodes nodes = {0};
	struct walk w = {.nodes = &nodes, .paths = paths};
	int rc = dw_row_keys_init(&row_keys, paths->profile, DWELL_LINE_KEYS_NONE);

	if (!rc)
		rc = dw_call_nodes_init(&nodes, paths->profile, filter, &row_keys, false);
	if (!rc) {
		w.upper = calloc(nodes.n, sizeof *w.upper);
		rc = w.upper ? add_nodes(g, &w) : -ENOMEM;
	}
	free(w.upper);
	dw_call_nodes_release(&nodes);
	dw_row_keys_release(&row_keys);
	return rc;
}

int dw_sample_values_init(struct dw_sample_values *w, struct dw_paths *paths,
			  const struct dw_filter *filter, bool in_order)
{
	const struct dw_profile *p = paths->profile;
	dw_measures set = dw_profile_measures(p);
	int64_t hz = dw_facts_get(&p->facts, "frequency_hz", USUAL_HZ);
	bool has_samples = dw_measures_has(set, DWELL_MEASURE_SAMPLES);
	struct gathering g = {.out = w, .has_times = in_order && has_samples};
	int rc = -ENOMEM;

	*w = (struct dw_sample_values){0};
	w->kinds = dw_sample_values_kinds(p, filter, &w->kinds_n);
	w->stored_n = w->kinds[w->kinds_n - 1].stored + 1;
	if (has_samples)
		w->period_ns = NS_PER_S / (uint64_t)(hz > 0 && hz <= NS_PER_S ? hz : USUAL_HZ);
	dw_amounts_init_for(&g.amounts, p);
	if (!dw_amounts_reserve(&g.amounts, 1))
		rc = dw_profile_has_calls(p) ? add_calls(&g, paths, filter)
					     : add_points(&g, p, filter);
	dw_amounts_release(&g.amounts);
	dw_map_release(&g.rows);
	return rc;
}

void dw_sample_values_release(struct dw_sample_values *w)
{
	dw_vec_release(&w->rows);
	dw_vec_release(&w->values);
	dw_vec_release(&w->times_ns);
}
