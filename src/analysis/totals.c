/*
 * Totals of the samples, extras and objects that pass a filter; see totals.h. Those of calls are
 * made in call-totals.c.
 *
 * Points are first sorted into lanes; those of one lane are added up by stack, in a calling
 * context tree that the walks of flat.c and tree.c run over. Types, threads and processes are plain
 * sums.
 */
#include "analysis/totals.h"

#include "analysis/calls.h"
#include "analysis/filter.h"
#include "analysis/flat.h"
#include "analysis/hot-rows.h"
#include "analysis/lanes.h"
#include "analysis/points.h"
#include "analysis/tree.h"
#include "analysis/wait-totals.h"
#include "base/error.h"
#include "base/map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
	/* Parts that come from stacks. */
	WALKED = DWELL_TOTALS_FUNCTIONS | DWELL_TOTALS_MODULES | DWELL_TOTALS_EDGES |
		 DWELL_TOTALS_LINES | DWELL_TOTALS_INSTRUCTIONS,
	AHEAD = 16, /* so many steps before it is needed, memory is asked for */
};

struct type_row {
	uint32_t type, lane;
	uint32_t row;
};

/* Sums of all points: rows of all, then of processes and threads, then of types as they come. */
struct sums {
	struct dw_amounts rows;
	uint32_t processes, threads; /* the first row of each */
	uint32_t n;
	bool *has; /* by row: it has anything */
	bool by_type;
	DW_VEC(struct type_row) of_types;
	struct dw_map type_rows; /* lane << 32 | type -> index in of_types + 1 */
};

static int sums_init(struct sums *s, const struct dw_points *t, unsigned parts,
		     const struct dw_totals *like)
{
	uint32_t processes_n = dw_processes_count(&t->profile->processes) + 1;
	size_t n = 1ul + processes_n + t->lanes.threads_n;

	if (n >= UINT32_MAX)
		return DWELL_ERR_LIMIT;
	dw_amounts_init_like(&s->rows, &like->amounts);
	s->processes = 1;
	s->threads = s->processes + processes_n;
	s->n = (uint32_t)n;
	s->by_type = parts & DWELL_TOTALS_TYPES;
	s->has = calloc(s->n, sizeof *s->has);
	for (uint32_t i = 0; s->has && i < s->n; i++)
		if (dw_amounts_push(&s->rows) == UINT32_MAX)
			return -ENOMEM;
	return s->has ? 0 : -ENOMEM;
}

static void sums_release(struct sums *s)
{
	dw_amounts_release(&s->rows);
	free(s->has);
	dw_vec_release(&s->of_types);
	dw_map_release(&s->type_rows);
}

static bool is_anything(const struct sums *s, const struct dw_amount *amount)
{
	bool is = amount->is_rare;

	for (unsigned k = 1; k <= s->rows.common_n && !is; k++)
		is = amount->v[k];
	return is;
}

static int add_to(struct sums *s, uint32_t row, const struct dw_amount *amount)
{
	s->has[row] = s->has[row] || is_anything(s, amount);
	return dw_amounts_add(&s->rows, row, amount, DWELL_BOTH);
}

/* The row of @type in @lane, made when new. UINT32_MAX = no memory. */
static uint32_t type_row(struct sums *s, uint32_t lane, uint32_t type)
{
	uint64_t key = (uint64_t)lane << 32 | type;
	uint32_t at = dw_map_get(&s->type_rows, key), row;

	if (at)
		return s->of_types.v[at - 1].row;
	row = dw_amounts_push(&s->rows);
	if (row == UINT32_MAX || dw_vec_push(&s->of_types, (struct type_row){type, lane, row}) ||
	    dw_map_put(&s->type_rows, key, (uint32_t)s->of_types.n))
		return UINT32_MAX;
	return row;
}

static int add_point(struct sums *s, const struct dw_points *t, size_t i)
{
	struct dw_point point = dw_points_get(t, i);
	struct dw_amount amount;
	uint32_t row;
	int rc;

	dw_points_amount(t, i, &s->rows, &amount);
	rc = add_to(s, s->threads + point.thread, &amount);
	if (!s->by_type || !point.type || !is_anything(s, &amount))
		return rc;
	row = type_row(s, t->lanes.of[point.thread], point.type);
	return row == UINT32_MAX ? -ENOMEM
				 : rc | dw_amounts_add(&s->rows, row, &amount, DWELL_BOTH);
}

/* Add the latency of all samples, by thread. */
static int add_latency(struct sums *s, const struct dw_points *t)
{
	uint64_t *of_thread = calloc(t->lanes.threads_n, sizeof *of_thread);
	struct dw_amount amount;
	int rc = of_thread ? 0 : -ENOMEM;

	for (size_t i = 0; i < dw_points_count(t) && !rc; i++)
		if (dw_points_is_sample(t, i))
			of_thread[dw_points_get(t, i).thread] += t->latency[t->rows[i]];
	for (uint32_t id = 0; id < t->lanes.threads_n && !rc; id++) {
		dw_amount_of(&s->rows, DWELL_MEASURE_LATENCY, of_thread[id], &amount);
		rc = add_to(s, s->threads + id, &amount);
	}
	free(of_thread);
	return rc;
}

/* Add all points: of samples it is known how many each thread has. */
static int add_points(struct sums *s, const struct dw_points *t)
{
	size_t others = dw_points_count(t);
	struct dw_amount amount;
	int rc = 0;

	for (uint32_t id = 0; id < t->lanes.threads_n; id++)
		others -= t->samples[id];
	for (size_t i = 0; others && !rc; i++)
		if (!dw_points_is_sample(t, i)) {
			rc = add_point(s, t, i);
			others--;
		}
	for (uint32_t id = 0; id < t->lanes.threads_n && !rc; id++) {
		dw_amount_of(&s->rows, DWELL_MEASURE_SAMPLES, t->samples[id], &amount);
		rc = add_to(s, s->threads + id, &amount);
	}
	return !rc && t->latency ? add_latency(s, t) : rc;
}

static int add_threads(struct sums *s, const struct dw_points *t)
{
	int rc = 0;

	for (uint32_t id = 0; id < t->lanes.threads_n && !rc; id++) {
		uint32_t from = s->threads + id, process = s->processes + t->lanes.process[id];

		if (!s->has[from])
			continue;
		s->has[process] = true;
		rc = dw_amounts_add_row(&s->rows, process, &s->rows, from, DWELL_BOTH) |
		     dw_amounts_add_row(&s->rows, 0, &s->rows, from, DWELL_BOTH);
	}
	return rc;
}

/* Append what @row has to the amounts of @ret. Its number there, UINT32_MAX = no memory. */
static uint32_t put(const struct sums *s, uint32_t row, struct dw_totals *ret)
{
	uint32_t to = dw_amounts_push(&ret->amounts);

	if (to != UINT32_MAX && dw_amounts_add_row(&ret->amounts, to, &s->rows, row, DWELL_BOTH))
		return UINT32_MAX;
	return to;
}

/* All processes and threads, with or without points. Number 0 (unknown) only with some. */
static int put_tasks(const struct sums *s, const struct dw_points *t, struct dw_totals *ret)
{
	for (uint32_t id = 0; id <= dw_processes_count(&t->profile->processes); id++) {
		struct dw_process_total row = {.process = id};

		if (!id && !s->has[s->processes])
			continue;
		row.amounts = put(s, s->processes + id, ret);
		if (row.amounts == UINT32_MAX || dw_vec_push(&ret->processes, row))
			return -ENOMEM;
	}
	for (uint32_t id = 0; id < t->lanes.threads_n; id++) {
		struct dw_thread_total row = {.thread = id};

		if (!id && !s->has[s->threads])
			continue;
		row.amounts = put(s, s->threads + id, ret);
		if (row.amounts == UINT32_MAX || dw_vec_push(&ret->threads, row))
			return -ENOMEM;
	}
	return 0;
}

static int put_types(const struct sums *s, struct dw_totals *ret)
{
	dw_vec_each(of, &s->of_types) {
		struct dw_type_total row = {.type = of->type, .lane = of->lane};

		row.amounts = put(s, of->row, ret);
		if (row.amounts == UINT32_MAX || dw_vec_push(&ret->types, row))
			return -ENOMEM;
	}
	return 0;
}

static int sum_up(const struct dw_points *t, unsigned parts, struct dw_totals *ret)
{
	struct sums s = {0};
	int rc = sums_init(&s, t, parts, ret);

	if (!rc)
		rc = add_points(&s, t);
	if (!rc)
		rc = add_threads(&s, t);
	if (!rc)
		rc = dw_lanes_put(&t->lanes, s.has + s.threads, ret);
	if (!rc && parts & DWELL_TOTALS_TASKS)
		rc = put_tasks(&s, t, ret);
	if (!rc && parts & DWELL_TOTALS_TYPES)
		rc = put_types(&s, ret);
	if (!rc && put(&s, 0, ret) == UINT32_MAX)
		rc = -ENOMEM;
	if (!rc)
		dw_amounts_pop(&ret->amounts, ret->all);
	sums_release(&s);
	return rc;
}

/* What the walks over the stacks of all lanes share. */
struct walks {
	const struct dw_points *points;
	struct dw_row_keys row_keys;
	struct dw_cct cct;
	struct dw_flat flat;
	struct dw_tree *tree; /* NULL: not asked for */
	struct dw_totals *out;
};

/* Where the stacks of a lane stand among the points, and parts of stacks that are no leaves. */
struct range {
	size_t begin, end, parts_begin, parts_end;
};

/* The tree's paths are all stacks. A parent that breaks the order of ids is none. */
static int cct_init(struct dw_cct *t, const struct dw_stacks *stacks, const struct dw_amounts *like)
{
	uint32_t n = dw_stacks_count(stacks) + 1;

	if (dw_cct_init(t, n, like))
		return -ENOMEM;
	t->parent[0] = DWELL_CCT_NONE;
	for (uint32_t id = 1; id < n; id++) {
		uint32_t parent = stacks->rows.v[id].parent;

		t->parent[id] = parent < id ? parent : 0;
	}
	return 0;
}

static int walks_init(struct walks *w, const struct dw_points *t, unsigned parts,
		      struct dw_totals *ret)
{
	const struct dw_profile *p = t->profile;
	const struct dw_focus *focus = &t->filter->focus;

	w->points = t;
	w->out = ret;
	if (dw_row_keys_init(&w->row_keys, p, dw_row_keys_lines(parts, t->filter)) ||
	    cct_init(&w->cct, &p->stacks, &ret->amounts) ||
	    dw_flat_init(&w->flat, &w->row_keys, parts, focus->function))
		return -ENOMEM;
	dw_flat_begin(&w->flat, &w->cct, ret);
	if (!(parts & DWELL_TOTALS_NODES))
		return 0;
	return dw_tree_new(&w->cct, &w->row_keys, focus, &w->tree);
}

static void walks_release(struct walks *w)
{
	dw_tree_free(w->tree);
	dw_flat_release(&w->flat);
	dw_cct_release(&w->cct);
	dw_row_keys_release(&w->row_keys);
}

/* Count point @i, a part of a stack, in the flat totals. */
static int add_part(struct walks *w, size_t i, unsigned part)
{
	const struct dw_stacks *stacks = &w->points->profile->stacks;
	const struct dw_stack *s = dw_stacks_get(stacks, dw_points_get(w->points, i).stack);
	const struct dw_stack *up = dw_stacks_get(stacks, s->parent);
	uint32_t frames_n = w->row_keys.frames_n, above = UINT32_MAX;
	struct dw_amount amount;

	if (up && up->parent)
		above = up->frame < frames_n ? up->frame : 0;
	dw_points_amount(w->points, i, &w->out->amounts, &amount);
	return dw_flat_add_part(&w->flat, s->frame < frames_n ? s->frame : 0, above, part, &amount);
}

/* Count the parts of stacks in @r. How many are leaves to *@ret. */
static int add_parts(struct walks *w, const struct range *r, size_t *ret)
{
	size_t leaves_n = r->end - r->begin, parts_n = r->parts_end - r->parts_begin;
	int rc = 0;

	*ret = 0;
	if (!w->points->has_parts)
		return 0;
	for (size_t k = 0; k < leaves_n + parts_n && !rc; k++) {
		size_t i = k < leaves_n ? r->begin + k : r->parts_begin + k - leaves_n;
		unsigned part = dw_points_part(w->points, i);

		*ret += part && k < leaves_n;
		rc = part ? add_part(w, i, part) : 0;
	}
	return rc;
}

static uint32_t stack_of(const struct walks *w, size_t i)
{
	uint32_t stack = dw_points_get(w->points, i).stack;

	return stack < w->cct.ids_n ? stack : 0;
}

/* Mark the stacks of the samples from @i on, up to @end. Gives the first point that is none. */
static size_t mark_samples(struct walks *w, size_t i, size_t end)
{
	const uint32_t *stacks = w->points->profile->samples.stack, *rows = w->points->rows;
	uint32_t n = w->cct.ids_n;

	for (; i < end && dw_points_is_sample(w->points, i); i++)
		dw_cct_count(&w->cct, stacks[rows[i]] < n ? stacks[rows[i]] : 0);
	return i;
}

static uint32_t frame_of(const struct walks *w, uint32_t stack)
{
	const struct dw_stack *s = dw_stacks_get(&w->points->profile->stacks, stack);

	return s && s->frame < w->row_keys.frames_n ? s->frame : 0;
}

/* What positions are about. Their stacks lie anywhere, so they are asked for in time. */
static void set_frames(struct walks *w)
{
	const struct dw_stack *stacks = w->points->profile->stacks.rows.v;
	struct dw_cct *t = &w->cct;

	for (uint32_t p = 0; p < t->n; p++) {
		if (p + AHEAD < t->n && stacks)
			__builtin_prefetch(&stacks[t->id[p + AHEAD]]);
		t->about[p] = frame_of(w, t->id[p]);
	}
}

/* Add the latency of the samples from @i to before @end to their stacks. */
static void add_latencies(struct walks *w, size_t i, size_t end)
{
	unsigned place = w->out->amounts.place[DWELL_MEASURE_LATENCY];

	for (; i < end; i++)
		dw_cct_add_one(&w->cct, stack_of(w, i), place,
			       w->points->latency[w->points->rows[i]]);
}

/* Make the tree of the stacks in @r, with leaves of parts if they are wanted. */
static int make_tree(struct walks *w, const struct range *r, bool with_leaves)
{
	struct dw_amount amount;
	size_t i;
	int rc;

	dw_cct_clear(&w->cct);
	i = mark_samples(w, r->begin, r->end);
	for (size_t k = i; k < r->end; k++)
		if (with_leaves || !dw_points_part(w->points, k))
			dw_cct_mark(&w->cct, stack_of(w, k));
	rc = dw_cct_order(&w->cct);
	if (!rc)
		set_frames(w);
	if (!rc && w->points->latency)
		add_latencies(w, r->begin, i);
	for (; i < r->end && !rc; i++) {
		if (i + AHEAD < r->end)
			dw_cct_expect(&w->cct, stack_of(w, i + AHEAD));
		if (!with_leaves && dw_points_part(w->points, i))
			continue;
		dw_points_amount(w->points, i, &w->out->amounts, &amount);
		rc = dw_cct_add(&w->cct, stack_of(w, i), &amount);
	}
	return rc ? rc : dw_cct_sum(&w->cct);
}

/* Samples, or objects, whose outermost frame says that the rest could not be read. */
static uint64_t count_cut(const struct walks *w)
{
	const struct dw_cct *t = &w->cct;
	bool samples = w->out->main == DWELL_MEASURE_SAMPLES;
	unsigned k = w->out->amounts.place[samples ? DWELL_MEASURE_SAMPLES : DWELL_MEASURE_OBJECTS];
	uint64_t n = 0;

	for (uint32_t c = 1; c < t->n; c = t->end[c]) {
		const struct dw_frame *f = dw_frames_get(&w->points->profile->frames, t->about[c]);

		if (f && (samples ? f->kind == DWELL_FRAME_CUT : f->kind != DWELL_FRAME_CODE))
			n += t->common[t->end[c] * (size_t)t->common_n + k - 1] -
			     t->common[c * (size_t)t->common_n + k - 1];
	}
	return n;
}

static int walk_lane(struct walks *w, uint32_t lane, const struct range *r, unsigned parts)
{
	size_t leaves;
	int rc = add_parts(w, r, &leaves);

	if (!rc)
		rc = make_tree(w, r, false);
	if (!rc && parts & WALKED)
		rc = dw_flat_walk_stacks(&w->flat);
	if (!rc)
		rc = dw_flat_put(&w->flat, lane);
	if (!rc && leaves)
		rc = make_tree(w, r, true);
	if (!rc)
		w->out->stacks_cut += count_cut(w);
	return !rc && w->tree ? dw_tree_build(w->tree, 0, lane, w->out) : rc;
}

static int walk_stacks(const struct dw_points *t, unsigned parts, struct dw_totals *ret)
{
	struct walks w = {0};
	int rc = walks_init(&w, t, parts, ret);
	struct range r = {.parts_end = dw_points_count(t)};

	for (uint32_t lane = 0; lane < t->lanes.n && !rc; lane++) {
		r = (struct range){r.end, t->end[lane], r.parts_end, t->end[t->lanes.n + lane]};
		if (r.begin != r.end)
			rc = walk_lane(&w, lane, &r, parts);
	}
	if (parts & DWELL_TOTALS_HOT) {
		dw_hot_rows_find(ret);
		rc = rc ? rc : dw_hot_rows_spread(t, &w.row_keys, ret);
	}
	walks_release(&w);
	return rc;
}

/* Collections are known one by one, so they are chosen by the very range that was asked for. */
static int list_gcs(const struct dw_points *t, struct dw_totals *ret)
{
	const __auto_type gcs = &t->profile->allocations.gcs;
	const struct dw_filter *f = t->filter;

	for (uint32_t i = 0; i < gcs->n; i++) {
		const struct dw_gc *gc = &gcs->v[i];

		if (gc->start_ns >= f->from_ns && (!f->to_ns || gc->start_ns < f->to_ns) &&
		    dw_select_id(f->processes, f->processes_n, gc->process) &&
		    dw_vec_push(&ret->gcs, i))
			return -ENOMEM;
	}
	return 0;
}

static int add_objects(const struct dw_points *t, unsigned parts, struct dw_totals *ret)
{
	int rc = parts & DWELL_TOTALS_GCS ? list_gcs(t, ret) : 0;

	ret->from_ns = t->slices.from_ns;
	ret->to_ns = t->slices.to_ns;
	return !rc && parts & DWELL_TOTALS_PATHS ? dw_alloc_paths_build(t, ret) : rc;
}

/* What there is of @measure by kind: waits, those that do not count, too, or holders. */
static int add_by_kind(const struct dw_points *t, enum dw_measure measure, unsigned parts,
		       struct dw_wait_total *ret)
{
	const __auto_type rows = &t->profile->extras.rows;
	struct dw_wait_totals waits;
	int rc = dw_wait_totals_init(&waits, t->profile, parts & DWELL_TOTALS_WAITS, ret);

	for (size_t i = 0; i < rows->n && !rc; i++) {
		const struct dw_extra *x = &rows->v[i];

		if (x->measure == measure)
			rc = dw_wait_totals_add(
				&waits, x->kind,
				dw_extra_in_sight(t->profile, t->filter, t->lanes.of, x), x->thread,
				x->stack, 0);
	}
	dw_wait_totals_end(&waits);
	dw_wait_totals_release(&waits);
	return rc;
}

int dw_totals_compute(const struct dw_profile *p, const struct dw_filter *filter, unsigned parts,
		      struct dw_totals *ret)
{
	static const struct dw_filter none;
	struct dw_points points = {0};
	int rc;

	dw_totals_release(ret);
	if (!filter)
		filter = &none;
	dw_totals_init(ret,
		       dw_profile_measures(p) &
			       ~(filter->latency ? 0 : 1ull << DWELL_MEASURE_LATENCY),
		       (uint64_t)dw_sample_ns(p));
	ret->waits_left_out = filter->waits_left_out;
	if (dw_profile_has_calls(p))
		return dw_call_totals_compute(p, filter, parts, ret);
	rc = dw_points_init(&points, p, filter);
	if (!rc)
		rc = sum_up(&points, parts, ret);
	if (!rc && dw_totals_has_waits(ret))
		rc = add_by_kind(&points, DWELL_MEASURE_BLOCKED, parts, ret->waits);
	if (!rc && dw_totals_has(ret, DWELL_MEASURE_OTHERS_WAITED))
		rc = add_by_kind(&points, DWELL_MEASURE_OTHERS_WAITED, parts, ret->holders);
	if (!rc && dw_profile_method(p) == DWELL_METHOD_MEMORY)
		rc = add_objects(&points, parts, ret);
	/* Samples tell how many of their stacks are cut, whatever was asked for. */
	if (!rc && (parts & (WALKED | DWELL_TOTALS_NODES) || ret->main == DWELL_MEASURE_SAMPLES))
		rc = walk_stacks(&points, parts, ret);
	dw_points_release(&points);
	return rc;
}
