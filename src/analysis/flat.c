/*
 * Flat totals; see flat.h.
 *
 * Every path of the lane is visited once, depth first. A row is given what lies at or below a
 * path where it appears on it for the first time: what lies below is inside that already, so
 * recursion counts once, and the time is that of the distinct paths, not of the samples.
 *
 * Samples without any known frame (an empty stack, or one that is cut before its first frame) go to
 * the unknown function, in no module, so that every view's exclusive values add up to all samples.
 */
#include "analysis/flat.h"

#include "analysis/totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Room for ids below @n. Growth doubles, so that ids may be made up on the way. */
static int reserve(struct dw_flat_rows *rows, uint32_t n)
{
	struct dw_flat_row *bigger;

	if (n <= rows->ids_n)
		return 0;
	if (n < UINT32_MAX / 2 && n < rows->ids_n * 2)
		n = rows->ids_n * 2;
	bigger = reallocarray(rows->v, n, sizeof *bigger);
	if (!bigger)
		return -ENOMEM;
	memset(bigger + rows->ids_n, 0, (n - rows->ids_n) * sizeof *bigger);
	rows->v = bigger;
	rows->ids_n = n;
	return 0;
}

int dw_flat_init(struct dw_flat *f, const struct dw_row_keys *row_keys, unsigned parts,
		 uint32_t only)
{
	uint32_t functions_n = dw_row_keys_truncated(row_keys);

	*f = (struct dw_flat){.row_keys = row_keys, .parts = parts, .only = only};
	if ((parts & DWELL_TOTALS_FUNCTIONS && reserve(&f->functions, functions_n)) ||
	    (parts & DWELL_TOTALS_MODULES && reserve(&f->modules, row_keys->modules_n + 1)) ||
	    (parts & DWELL_TOTALS_LINES && reserve(&f->lines, (uint32_t)row_keys->lines.n)) ||
	    (parts & DWELL_TOTALS_INSTRUCTIONS && reserve(&f->instructions, row_keys->frames_n)))
		return -ENOMEM;
	if (row_keys->roots.n && f->lines.ids_n) {
		f->line_flags = calloc(f->lines.ids_n, sizeof *f->line_flags);
		if (!f->line_flags)
			return -ENOMEM;
	}
	return parts & DWELL_TOTALS_EDGES ? dw_vec_push(&f->keys, (struct dw_flat_edge){0}) : 0;
}

void dw_flat_begin(struct dw_flat *f, const struct dw_cct *tree, struct dw_totals *out)
{
	f->tree = tree;
	f->out = out;
	f->path.n = 0;
}

int dw_flat_step(struct dw_flat *f, uint32_t p, uint32_t *above)
{
	const uint32_t *end = f->tree->end;

	while (f->path.n && end[f->path.v[f->path.n - 1]] <= p)
		f->path.n--;
	*above = f->path.n ? f->path.v[f->path.n - 1] : UINT32_MAX;
	return dw_vec_push(&f->path, p);
}

int dw_flat_make(struct dw_flat *f, struct dw_flat_rows *rows, uint32_t id)
{
	uint32_t row = dw_amounts_push(&f->out->amounts);

	if (row == UINT32_MAX || dw_vec_push(&rows->seen, id))
		return -ENOMEM;
	rows->v[id].amounts = row + 1;
	return 0;
}

int dw_flat_add(struct dw_flat *f, struct dw_flat_rows *rows, uint32_t id,
		const struct dw_amount *amount, enum dw_amounts_side side)
{
	uint32_t row;
	int rc = dw_flat_find(f, rows, id, &row);

	return rc ? rc < 0 ? rc : 0 : dw_amounts_add(&f->out->amounts, row, amount, side);
}

uint32_t dw_flat_edge(struct dw_flat *f, uint32_t caller, uint32_t callee)
{
	uint64_t key = (uint64_t)caller << 32 | callee;
	uint32_t id;

	if (!(f->parts & DWELL_TOTALS_EDGES) || (f->only && caller != f->only && callee != f->only))
		return 0;
	id = dw_map_get(&f->edge_ids, key);
	if (id)
		return id;
	id = (uint32_t)f->keys.n;
	if (reserve(&f->edges, id + 1) || dw_map_put(&f->edge_ids, key, id) ||
	    dw_vec_push(&f->keys, (struct dw_flat_edge){caller, callee}))
		return UINT32_MAX;
	return id;
}

/* What is @p's own belongs to @id, which is nothing known. */
static int count_own(struct dw_flat *f, struct dw_flat_rows *rows, uint32_t id, uint32_t p)
{
	uint32_t row;
	int rc = dw_flat_find(f, rows, id, &row);

	if (!rc && p >= rows->v[id].until)
		rc = dw_cct_add_span(f->tree, p, p + 1, &f->out->amounts, row, false);
	if (!rc)
		rc = dw_cct_add_own(f->tree, p, &f->out->amounts, row);
	return rc < 0 ? rc : 0;
}

static int count_unknown(struct dw_flat *f, uint32_t caller, uint32_t p)
{
	struct dw_flat_rows *rows[] = {&f->functions, &f->modules, &f->lines, &f->instructions};
	uint32_t edge;
	int rc = 0;

	if (!dw_cct_has_own(f->tree, p))
		return 0;
	for (size_t i = 0; i < sizeof rows / sizeof *rows && !rc; i++)
		rc = count_own(f, rows[i], 0, p);
	edge = rc ? 0 : dw_flat_edge(f, caller, 0);
	if (edge == UINT32_MAX)
		return -ENOMEM;
	return edge ? count_own(f, &f->edges, edge, p) : rc;
}

/* The function that called what a frame stands for. @above: the frame outside of it, UINT32_MAX =
 * none. */
static uint32_t caller_at(const struct dw_flat *f, uint32_t above)
{
	const struct dw_row_keys *s = f->row_keys;

	return above == UINT32_MAX ? dw_row_keys_none(s) : s->function[s->first[above]];
}

/* The edges of all functions of @frame, outermost first; the innermost one has what is @p's own. */
static int enter_edges(struct dw_flat *f, uint32_t frame, uint32_t above, uint32_t p)
{
	const struct dw_row_keys *s = f->row_keys;
	uint32_t edge = 0, caller = caller_at(f, above);
	int rc = 0;

	if (s->function[s->first[frame]] == dw_row_keys_cut(s))
		return 0;
	for (uint32_t slot = s->first[frame + 1]; slot-- > s->first[frame] && !rc;) {
		edge = dw_flat_edge(f, caller, s->function[slot]);
		if (edge == UINT32_MAX)
			return -ENOMEM;
		rc = edge ? dw_flat_join(f, &f->edges, edge, p) : 0;
		caller = s->function[slot];
	}
	return edge && !rc ? dw_flat_own(f, &f->edges, edge, p) : rc;
}

/* The walk is at position @p, at @frame. */
static int enter(struct dw_flat *f, uint32_t frame, uint32_t p)
{
	const struct dw_row_keys *s = f->row_keys;
	uint32_t first = s->first[frame], end = s->first[frame + 1];
	int rc = 0;

	if (s->function[first] == dw_row_keys_cut(s))
		return count_unknown(f, dw_row_keys_cut(s), p);
	rc |= dw_flat_join_own(f, &f->functions, s->function[first], p);
	for (uint32_t slot = first + 1; slot < end && f->functions.ids_n; slot++)
		rc |= dw_flat_join(f, &f->functions, s->function[slot], p);
	if (f->lines.ids_n)
		rc |= dw_flat_join_own(f, &f->lines, s->line[first], p);
	for (uint32_t slot = first + 1; slot < end && f->lines.ids_n; slot++)
		rc |= dw_flat_join(f, &f->lines, s->line[slot], p);
	rc |= dw_flat_join_own(f, &f->modules, s->module[frame], p);
	rc |= dw_flat_join_own(f, &f->instructions, s->instruction[frame], p);
	return rc ? -ENOMEM : 0;
}

/* Positions that lie ahead will need memory from all over: ask for it in time, the nearer ones for
 * what was found through that of the farther ones. */
static void look_ahead(const struct dw_flat *f, uint32_t p)
{
	enum { STEP = 8 };
	const struct dw_row_keys *s = f->row_keys;
	uint32_t n = f->tree->n, slot, frame;

	if (p + 3 * STEP < n)
		__builtin_prefetch(&s->first[f->tree->about[p + 3 * STEP]]);
	if (p + 2 * STEP < n) {
		slot = s->first[f->tree->about[p + 2 * STEP]];
		__builtin_prefetch(&s->function[slot]);
		if (s->line)
			__builtin_prefetch(&s->line[slot]);
	}
	if (p + STEP >= n)
		return;
	frame = f->tree->about[p + STEP];
	if (f->functions.ids_n)
		__builtin_prefetch(&f->functions.v[s->function[s->first[frame]]]);
	if (f->lines.ids_n)
		__builtin_prefetch(&f->lines.v[s->line[s->first[frame]]]);
	if (f->instructions.ids_n)
		__builtin_prefetch(&f->instructions.v[s->instruction[frame]]);
}

int dw_flat_walk_stacks(struct dw_flat *f)
{
	const uint32_t *frame = f->tree->about;
	uint32_t above;
	int rc = f->tree->n ? count_unknown(f, dw_row_keys_none(f->row_keys), 0) : 0;

	/* The root is the empty stack. */
	for (uint32_t p = 1; p < f->tree->n && !rc; p++) {
		look_ahead(f, p);
		rc = enter(f, frame[p], p);
		if (!rc && f->parts & DWELL_TOTALS_EDGES)
			rc = dw_flat_step(f, p, &above);
		if (!rc && f->parts & DWELL_TOTALS_EDGES)
			rc = enter_edges(f, frame[p], above == UINT32_MAX ? above : frame[above],
					 p);
	}
	f->path.n = 0;
	return rc;
}

static int add_part(struct dw_flat *f, struct dw_flat_rows *rows, uint32_t id,
		    const struct dw_amount *amount, enum dw_amounts_side side)
{
	return side && rows->ids_n ? dw_flat_add(f, rows, id, amount, side) : 0;
}

/* On which sides a part counts for rows of @kind: its frame may be the first of them, and a leaf.
 */
static enum dw_amounts_side side_of(unsigned part, unsigned kind, bool is_innermost)
{
	return (part & kind ? DWELL_INCLUSIVE : 0) |
	       (part & DWELL_PART_LEAF && is_innermost ? DWELL_EXCLUSIVE : 0);
}

/* The calls of all functions of @frame, outermost first. */
static int add_part_edges(struct dw_flat *f, uint32_t caller, uint32_t frame, unsigned part,
			  const struct dw_amount *amount)
{
	const struct dw_row_keys *s = f->row_keys;
	int rc = 0;

	for (uint32_t slot = s->first[frame + 1]; slot-- > s->first[frame] && !rc;) {
		uint32_t edge = dw_flat_edge(f, caller, s->function[slot]);

		if (edge == UINT32_MAX)
			return -ENOMEM;
		if (edge)
			rc = add_part(f, &f->edges, edge, amount,
				      side_of(part, DWELL_PART_CALL, slot == s->first[frame]));
		caller = s->function[slot];
	}
	return rc;
}

int dw_flat_add_part(struct dw_flat *f, uint32_t frame, uint32_t above, unsigned part,
		     const struct dw_amount *amount)
{
	const struct dw_row_keys *s = f->row_keys;
	uint32_t first = s->first[frame];
	int rc = 0;

	if (s->function[first] == dw_row_keys_cut(s))
		return 0;
	for (uint32_t slot = first; slot < s->first[frame + 1]; slot++) {
		rc |= add_part(f, &f->functions, s->function[slot], amount,
			       side_of(part, DWELL_PART_FUNCTION, slot == first));
		if (f->lines.ids_n)
			rc |= add_part(f, &f->lines, s->line[slot], amount,
				       side_of(part, DWELL_PART_LINE, slot == first));
	}
	rc |= add_part(f, &f->modules, s->module[frame], amount,
		       side_of(part, DWELL_PART_MODULE, true));
	rc |= add_part(f, &f->instructions, frame, amount, side_of(part, DWELL_PART_LINE, true));
	if (f->parts & DWELL_TOTALS_EDGES)
		rc |= add_part_edges(f, caller_at(f, above), frame, part, amount);
	return rc ? -ENOMEM : 0;
}

/* Rows are in their arrays: forget them. */
static void clear(struct dw_flat_rows *rows)
{
	dw_vec_each(id, &rows->seen)
		rows->v[*id] = (struct dw_flat_row){0};
	rows->seen.n = 0;
}

static void put_functions(struct dw_flat *f, uint32_t lane)
{
	struct dw_totals *out = f->out;

	dw_vec_each(id, &f->functions.seen) {
		struct dw_flat_row *at = &f->functions.v[*id];
		struct dw_function_total row = {.lane = lane, .amounts = at->amounts - 1};

		row.function = dw_row_keys_function(f->row_keys, *id, &row.thread);
		at->place = (uint32_t)out->functions.n;
		out->functions.v[out->functions.n++] = row;
	}
}

static void put_modules(struct dw_flat *f, uint32_t lane)
{
	struct dw_totals *out = f->out;

	dw_vec_each(id, &f->modules.seen)
		out->modules.v[out->modules.n++] = (struct dw_module_total){
			.lane = lane,
			.module = *id == f->row_keys->modules_n ? (uint32_t)DWELL_MODULE_ROOT : *id,
			.amounts = f->modules.v[*id].amounts - 1};
}

/* Where the total of @id stands. */
static uint32_t place_of(const struct dw_flat_rows *rows, uint32_t id, uint32_t none)
{
	return rows->ids_n && rows->v[id].amounts ? rows->v[id].place : none;
}

static void put_lines(struct dw_flat *f, uint32_t lane)
{
	struct dw_totals *out = f->out;

	dw_vec_each(id, &f->lines.seen) {
		struct dw_line_total row = f->row_keys->lines.v[*id];
		bool unknown = row.function == (uint32_t)DWELL_FUNCTION_UNKNOWN;

		row.lane = lane;
		row.function_row = place_of(&f->functions, unknown ? 0 : row.function, UINT32_MAX);
		row.is_site = f->line_flags && !(f->line_flags[*id] & DWELL_LINE_MEASURED);
		row.amounts = f->lines.v[*id].amounts - 1;
		f->lines.v[*id].place = (uint32_t)out->lines.n;
		out->lines.v[out->lines.n++] = row;
		if (f->line_flags)
			f->line_flags[*id] = 0;
	}
}

static void put_instructions(struct dw_flat *f, uint32_t lane)
{
	const struct dw_row_keys *s = f->row_keys;
	struct dw_totals *out = f->out;

	dw_vec_each(frame, &f->instructions.seen) {
		uint32_t line = s->line ? s->line[s->first[*frame]] : 0;

		out->instructions.v[out->instructions.n++] = (struct dw_instruction_total){
			.lane = lane,
			.frame = *frame,
			.line_row = place_of(&f->lines, line, 0),
			.amounts = f->instructions.v[*frame].amounts - 1};
	}
}

static void put_edges(struct dw_flat *f, uint32_t lane)
{
	struct dw_totals *out = f->out;
	uint32_t thread;

	dw_vec_each(id, &f->edges.seen) {
		struct dw_flat_edge key = f->keys.v[*id];

		out->edges.v[out->edges.n++] = (struct dw_edge_total){
			.lane = lane,
			.caller = key.caller == dw_row_keys_none(f->row_keys)
					  ? 0
					  : dw_row_keys_function(f->row_keys, key.caller, &thread),
			.callee = dw_row_keys_function(f->row_keys, key.callee, &thread),
			.amounts = f->edges.v[*id].amounts - 1};
	}
}

int dw_flat_put(struct dw_flat *f, uint32_t lane)
{
	struct dw_totals *out = f->out;

	if (dw_vec_reserve(&out->functions, f->functions.seen.n) ||
	    dw_vec_reserve(&out->modules, f->modules.seen.n) ||
	    dw_vec_reserve(&out->lines, f->lines.seen.n) ||
	    dw_vec_reserve(&out->instructions, f->instructions.seen.n) ||
	    dw_vec_reserve(&out->edges, f->edges.seen.n))
		return -ENOMEM;
	put_functions(f, lane);
	put_modules(f, lane);
	put_lines(f, lane);
	put_instructions(f, lane);
	put_edges(f, lane);
	clear(&f->functions);
	clear(&f->modules);
	clear(&f->lines);
	clear(&f->instructions);
	clear(&f->edges);
	return 0;
}

static void release(struct dw_flat_rows *rows)
{
	free(rows->v);
	dw_vec_release(&rows->seen);
}

void dw_flat_release(struct dw_flat *f)
{
	release(&f->functions);
	release(&f->modules);
	release(&f->lines);
	release(&f->instructions);
	release(&f->edges);
	dw_map_release(&f->edge_ids);
	dw_vec_release(&f->keys);
	dw_vec_release(&f->path);
	free(f->line_flags);
	*f = (struct dw_flat){0};
}
