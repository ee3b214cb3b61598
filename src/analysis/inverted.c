/*
 * Turning call trees round; see inverted.h.
 *
 * A row of the result is a set of nodes that have something of their own, and for each of them the
 * ancestor that the row is about. Its children are the same set, by the ancestors' parents. Sets
 * are parts of one array, which is put in order by function row by row, from the roots down:
 * parents come before children and siblings stand together by themselves.
 */
#include "analysis/inverted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct origin {
	uint32_t node; /* that has something of its own */
	uint32_t at;   /* the ancestor that the row is about */
};

/* Where the origins of a row stand. */
struct span {
	size_t begin, end;
};

struct inverter {
	const struct dw_totals *t;
	struct dw_totals *ret;
	uint64_t least;
	DW_VEC(struct origin) origins;
	DW_VEC(struct span) spans; /* by row */
	DW_VEC(struct dw_sort_row) order;
	DW_VEC(struct origin) sorted;
};

/* The rare pairs of @node, NULL = it has none. */
static const struct dw_values *rare_of(const struct dw_amounts *a, uint32_t node)
{
	uint32_t at = a->all_n > a->common_n ? a->rare_of.v[node] : 0;

	return at ? a->rare.v + at - 1 : NULL;
}

/* Add what @node has of its own to @sum. */
static void add_own(const struct dw_amounts *a, uint32_t node, struct dw_amount *sum)
{
	const struct dw_values *common = a->common.v + (size_t)node * a->common_n;
	const struct dw_values *rare = rare_of(a, node);

	for (unsigned i = 0; i < a->common_n; i++)
		sum->v[i + 1] += common[i].exclusive;
	for (unsigned place = a->common_n + 1u; rare && place <= a->all_n; place++)
		sum->v[place] += rare[place - 1 - a->common_n].exclusive;
	sum->is_rare |= rare != NULL;
}

static bool has_own(const struct dw_amounts *a, uint32_t node)
{
	const struct dw_values *common = a->common.v + (size_t)node * a->common_n;

	for (unsigned i = 0; i < a->common_n; i++)
		if (common[i].exclusive)
			return true;
	return rare_of(a, node) != NULL;
}

/* Whether @node stands for all of a lane. */
static bool is_lane(const struct dw_totals *t, uint32_t node)
{
	return t->nodes.v[node].parent == UINT32_MAX;
}

/* A row about the node @like, of the origins of @span. */
static int add_row(struct inverter *v, uint32_t parent, uint32_t like, struct span span,
		   enum dw_amounts_side side)
{
	struct dw_totals *ret = v->ret;
	struct dw_amount sum = {0};
	uint32_t row = dw_amounts_push(&ret->node_amounts), level = 0;
	int rc = row == UINT32_MAX ? -ENOMEM : 0;
	uint32_t thread = like < v->t->node_threads.n ? v->t->node_threads.v[like] : 0;

	if (parent != UINT32_MAX)
		level = ret->nodes.v[parent].level + 1;
	for (size_t i = span.begin; i < span.end; i++)
		add_own(&v->t->node_amounts, v->origins.v[i].node, &sum);
	rc = rc ? rc : dw_amounts_add(&ret->node_amounts, row, &sum, side);
	rc = rc ? rc
		: dw_vec_push(&ret->nodes, ((struct dw_node_total){
						   .parent = parent,
						   .lane = v->t->nodes.v[like].lane,
						   .function = v->t->nodes.v[like].function,
						   .level = level,
					   }));
	rc = rc ? rc : dw_vec_push(&ret->node_threads, thread);
	rc = rc ? rc : dw_vec_push(&ret->node_firsts, row);
	return rc ? rc : dw_vec_push(&v->spans, span);
}

/* What the row of @at is about, as a number: a function, or a thread outside its functions. */
static uint64_t about(const struct dw_totals *t, uint32_t at)
{
	uint32_t function = t->nodes.v[at].function;
	bool is_thread = function == (uint32_t)DWELL_FUNCTION_ROOT && at < t->node_threads.n;

	return (uint64_t)function << 32 | (is_thread ? t->node_threads.v[at] : 0);
}

/* Put the origins of @span in the order of the functions that they are about. */
static int sort(struct inverter *v, struct span span)
{
	size_t n = span.end - span.begin;

	v->order.n = v->sorted.n = 0;
	if (dw_vec_reserve(&v->order, n) || dw_vec_reserve(&v->sorted, n))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint32_t at = v->origins.v[span.begin + i].at;

		v->order.v[i] = (struct dw_sort_row){about(v->t, at), span.begin + i};
	}
	if (dw_sort_rows(v->order.v, n))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		v->sorted.v[i] = v->origins.v[v->order.v[i].row];
	if (n)
		memcpy(v->origins.v + span.begin, v->sorted.v, n * sizeof *v->sorted.v);
	return 0;
}

static uint64_t weight_of(const struct inverter *v, struct span span)
{
	const struct dw_totals *t = v->t;
	uint64_t weight = 0;

	for (size_t i = span.begin; i < span.end; i++)
		weight += dw_amounts_common(&t->node_amounts, v->origins.v[i].node, t->main)
				  ->exclusive;
	return weight;
}

/* Rows below @parent for the functions that the origins of @span are about. */
static int add_children(struct inverter *v, uint32_t parent, struct span span)
{
	const struct dw_totals *t = v->t;
	bool is_root = v->ret->nodes.v[parent].parent == UINT32_MAX;
	int rc = sort(v, span);

	for (struct span part = {span.begin, span.begin}; part.end < span.end && !rc;
	     part.begin = part.end) {
		uint32_t like = v->origins.v[part.begin].at;

		while (part.end < span.end && about(t, v->origins.v[part.end].at) == about(t, like))
			part.end++;
		if (!is_root && weight_of(v, part) < v->least) {
			v->ret->branches_left_out++;
			v->ret->weight_left_out += weight_of(v, part);
		} else {
			rc = add_row(v, parent, like, part, is_root ? DWELL_BOTH : DWELL_INCLUSIVE);
		}
	}
	return rc;
}

/* Go on from the functions of @row to their callers. Those that nobody called end here. */
static struct span climb(struct inverter *v, uint32_t row)
{
	struct span span = v->spans.v[row];
	size_t end = span.begin;

	for (size_t i = span.begin; i < span.end; i++) {
		struct origin o = v->origins.v[i];
		uint32_t parent = v->t->nodes.v[o.at].parent;

		if (is_lane(v->t, o.at) || is_lane(v->t, parent))
			continue;
		v->origins.v[end++] = (struct origin){o.node, parent};
	}
	return (struct span){span.begin, end};
}

/* The origins of one lane, whose root is @lane and which ends before @end, and all their rows. */
static int invert_lane(struct inverter *v, uint32_t lane, uint32_t end)
{
	uint32_t root = (uint32_t)v->ret->nodes.n;
	struct span span = {v->origins.n, 0};
	int rc = 0;

	for (uint32_t i = lane; i < end && !rc; i++)
		if (has_own(&v->t->node_amounts, i))
			rc = dw_vec_push(&v->origins, ((struct origin){i, i}));
	span.end = v->origins.n;
	rc = rc ? rc : add_row(v, UINT32_MAX, lane, span, DWELL_INCLUSIVE);
	rc = rc ? rc : add_children(v, root, span);
	for (uint32_t row = root + 1; row < v->ret->nodes.n && !rc; row++)
		rc = add_children(v, row, climb(v, row));
	return rc;
}

/* All of @t that does not stand in rows. */
static int copy_rest(const struct dw_totals *t, struct dw_totals *ret)
{
	ret->main = t->main;
	memcpy(ret->all, t->all, sizeof ret->all);
	ret->by = t->by;
	ret->delimited_intervals = t->delimited_intervals;
	ret->from_ns = t->from_ns;
	ret->to_ns = t->to_ns;
	ret->stacks_cut = t->stacks_cut;
	ret->processes_seen = t->processes_seen;
	memcpy(ret->waits, t->waits, sizeof ret->waits);
	ret->waits_left_out = t->waits_left_out;
	dw_amounts_init_like(&ret->amounts, &t->amounts);
	dw_amounts_init_like(&ret->node_amounts, &t->node_amounts);
	if (dw_vec_reserve(&ret->lanes, t->lanes.n))
		return -ENOMEM;
	if (t->lanes.n)
		memcpy(ret->lanes.v, t->lanes.v, t->lanes.n * sizeof *t->lanes.v);
	ret->lanes.n = t->lanes.n;
	return 0;
}

int dw_totals_invert(const struct dw_totals *t, double min_share, struct dw_totals *ret)
{
	struct inverter v = {
		.t = t, .ret = ret, .least = (uint64_t)((double)t->all[t->main] * min_share)};
	uint32_t lane = 0;
	int rc = copy_rest(t, ret);

	for (uint32_t i = 1; i <= t->nodes.n && !rc; i++) {
		if (i < t->nodes.n && !is_lane(t, i))
			continue;
		if (lane < t->nodes.n)
			rc = invert_lane(&v, lane, i);
		lane = i;
	}
	dw_vec_release(&v.origins);
	dw_vec_release(&v.spans);
	dw_vec_release(&v.order);
	dw_vec_release(&v.sorted);
	return rc;
}
