/*
 * The rows that matter most; see hot-rows.h. They are few: each has a bit, so one pass over all
 * stacks, then one over what was measured, tell which processes have which of them.
 */
#include "analysis/hot-rows.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What is to be found, and where. */
struct search {
	const struct dw_totals *totals;
	bool of_types;
	enum dw_measure by;
};

static struct dw_values key_of(const struct search *s, size_t row)
{
	const struct dw_totals *t = s->totals;
	uint32_t amounts = s->of_types ? t->types.v[row].amounts : t->functions.v[row].amounts;
	struct dw_values values = {0};

	if (s->by != DWELL_MEASURE_WORK)
		return *dw_amounts_common(&t->amounts, amounts, s->by);
	dw_amounts_derived(&t->amounts, amounts, s->by, false, &values.inclusive);
	dw_amounts_derived(&t->amounts, amounts, s->by, true, &values.exclusive);
	return values;
}

/* Whether @a has more of its own than @b. Equal ones stay as they came. */
static bool is_before(struct dw_values a, struct dw_values b)
{
	if (a.exclusive != b.exclusive)
		return a.exclusive > b.exclusive;
	return a.inclusive > b.inclusive;
}

/* Put @row where it belongs, if that is among the first. */
static void insert(const struct search *s, uint32_t row, struct dw_hot_rows *ret)
{
	unsigned at = ret->n;

	while (at && is_before(key_of(s, row), key_of(s, ret->v[at - 1].row)))
		at--;
	if (at == DWELL_HOT_MAX)
		return;
	ret->n += ret->n < DWELL_HOT_MAX;
	memmove(ret->v + at + 1, ret->v + at, (ret->n - at - 1) * sizeof *ret->v);
	ret->v[at] = (struct dw_hot_row){.row = row, .processes = 1};
}

void dw_hot_rows_find(struct dw_totals *t)
{
	const enum dw_measure by[DWELL_HOT_LISTS] = {
		[DWELL_HOT_WORK] = dw_totals_work(t),
		[DWELL_HOT_WAITS] = DWELL_MEASURE_BLOCKED,
		[DWELL_HOT_TYPES_BYTES] = DWELL_MEASURE_BYTES,
		[DWELL_HOT_TYPES_OBJECTS] = DWELL_MEASURE_OBJECTS,
		[DWELL_HOT_TYPES_OLD_BYTES] = DWELL_MEASURE_BYTES_GEN2,
	};

	for (int list = 0; list < DWELL_HOT_LISTS; list++) {
		struct search s = {t, list >= DWELL_HOT_TYPES_BYTES, by[list]};
		size_t n = s.of_types ? t->types.n : t->functions.n;

		t->hot[list].n = 0;
		if (list == DWELL_HOT_WAITS && !dw_totals_has_waits(t))
			continue;
		for (uint32_t i = 0; i < n; i++)
			if (list == DWELL_HOT_WORK || key_of(&s, i).exclusive)
				insert(&s, i, &t->hot[list]);
	}
}

/* The bits of the hot rows, in the order of their lists. */
struct spread {
	struct dw_totals *totals;
	uint32_t processes_n;
	uint64_t *function; /* by dense id */
	uint64_t *type;	    /* by type id */
	uint64_t *process;  /* by process id: what it has */
};

static uint32_t dense_id(const struct dw_row_keys *keys, const uint32_t *group,
			 const struct dw_function_total *f)
{
	if (f->function == (uint32_t)DWELL_FUNCTION_ROOT)
		return dw_row_keys_none(keys) + group[f->thread];
	if (f->function == (uint32_t)DWELL_FUNCTION_CUT)
		return dw_row_keys_cut(keys);
	return f->function < keys->functions_n ? f->function : 0;
}

/* @group: of calls, by thread id. */
static int spread_init(struct spread *s, const struct dw_profile *p, const struct dw_row_keys *keys,
		       const uint32_t *group, struct dw_totals *t)
{
	uint64_t bit = 1;

	*s = (struct spread){.totals = t,
			     .processes_n = dw_processes_count(&p->processes) + 1,
			     .function =
				     calloc(dw_row_keys_truncated(keys) + 1ul, sizeof(uint64_t)),
			     .type = calloc(p->allocations.types.n + 1, sizeof(uint64_t))};
	s->process = calloc(s->processes_n, sizeof(uint64_t));
	if (!s->function || !s->type || !s->process)
		return -ENOMEM;
	for (int list = 0; list < DWELL_HOT_LISTS; list++)
		for (unsigned i = 0; i < t->hot[list].n; i++, bit <<= 1) {
			uint32_t row = t->hot[list].v[i].row;

			if (list >= DWELL_HOT_TYPES_BYTES)
				s->type[t->types.v[row].type] |= bit;
			else
				s->function[dense_id(keys, group, &t->functions.v[row])] |= bit;
		}
	return 0;
}

static void spread_end(struct spread *s)
{
	unsigned place = 0;

	for (int list = 0; list < DWELL_HOT_LISTS && s->process; list++)
		for (unsigned i = 0; i < s->totals->hot[list].n; i++, place++) {
			uint32_t *processes = &s->totals->hot[list].v[i].processes;

			*processes = 0;
			for (uint32_t id = 0; id < s->processes_n; id++)
				*processes += s->process[id] >> place & 1;
		}
	free(s->function);
	free(s->type);
	free(s->process);
}

/* By frame: the bits of its functions. NULL without memory. */
static uint64_t *bits_of_frames(const struct spread *s, const struct dw_row_keys *keys)
{
	uint64_t *bits = calloc(keys->frames_n, sizeof *bits);

	for (uint32_t frame = 0; bits && frame < keys->frames_n; frame++)
		for (uint32_t slot = keys->first[frame]; slot < keys->first[frame + 1]; slot++)
			bits[frame] |= s->function[keys->function[slot]];
	return bits;
}

/* By stack: those of all functions on it. NULL without memory. */
static uint64_t *bits_of_stacks(const struct dw_stacks *stacks, const struct dw_row_keys *keys,
				const uint64_t *frames)
{
	uint32_t n = dw_stacks_count(stacks) + 1;
	uint64_t *bits = calloc(n, sizeof *bits);

	if (bits)
		bits[0] = frames[0];
	for (uint32_t id = 1; bits && id < n; id++) {
		const struct dw_stack *at = &stacks->rows.v[id];

		bits[id] = frames[at->frame < keys->frames_n ? at->frame : 0];
		if (at->parent && at->parent < id)
			bits[id] |= bits[at->parent];
	}
	return bits;
}

/* A part of a stack says of its innermost frame alone that it counts. */
static void spread_points(struct spread *s, const struct dw_points *t, const uint64_t *frames,
			  uint32_t frames_n, const uint64_t *stacks)
{
	const struct dw_stacks *all = &t->profile->stacks;
	size_t n = t->end[2ul * t->lanes.n - 1];

	for (size_t i = 0; i < n; i++) {
		struct dw_point point = dw_points_get(t, i);
		uint32_t stack = point.stack <= dw_stacks_count(all) ? point.stack : 0;
		uint64_t *process = &s->process[t->lanes.process[point.thread]];
		uint32_t frame;

		*process |= s->type[point.type];
		if (!dw_points_part(t, i)) {
			*process |= stacks[stack];
			continue;
		}
		frame = all->rows.v[stack].frame;
		*process |= frames[frame < frames_n ? frame : 0];
	}
}

int dw_hot_rows_spread(const struct dw_points *points, const struct dw_row_keys *keys,
		       struct dw_totals *t)
{
	uint64_t *frames = NULL, *stacks = NULL;
	struct spread s;
	int rc;

	if (t->processes_seen < 2)
		return 0;
	rc = spread_init(&s, points->profile, keys, NULL, t);
	if (!rc)
		frames = bits_of_frames(&s, keys);
	if (frames)
		stacks = bits_of_stacks(&points->profile->stacks, keys, frames);
	if (stacks)
		spread_points(&s, points, frames, keys->frames_n, stacks);
	spread_end(&s);
	free(frames);
	free(stacks);
	return stacks ? 0 : -ENOMEM;
}

/* Note where the node @id, or one that was called below it, has anything; then so does its parent.
 */
static void spread_node(struct spread *s, const struct dw_call_nodes *nodes, uint32_t id, bool *has)
{
	const struct dw_call_node *node = dw_call_nodes_get(nodes, id);
	uint64_t *process = &s->process[nodes->lanes.process[node->thread]];
	uint32_t parent;

	*process |= s->function[dw_call_callee(nodes, id)];
	if (node->flags & DWELL_CALL_OVERFLOW) {
		*process |= s->function[dw_call_function_at(nodes, node->caller)];
		return;
	}
	parent = dw_call_nodes_parent(nodes, id);
	if (parent)
		has[parent] = true;
}

int dw_hot_rows_spread_calls(const struct dw_call_nodes *nodes, struct dw_totals *t)
{
	bool *has;
	struct spread s;
	int rc;

	if (t->processes_seen < 2)
		return 0;
	rc = spread_init(&s, nodes->profile, nodes->row_keys, nodes->group, t);
	has = calloc(nodes->n, sizeof *has);
	for (uint32_t id = nodes->n; has && --id && !rc;)
		if ((nodes->state[id] & DWELL_CALL_PRESENT || has[id]) &&
		    !(dw_call_nodes_get(nodes, id)->flags & DWELL_CALL_ESTIMATED))
			spread_node(&s, nodes, id, has);
	spread_end(&s);
	free(has);
	return has ? rc : -ENOMEM;
}
