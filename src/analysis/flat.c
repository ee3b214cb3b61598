/*
 * Flat totals; see flat.h.
 *
 * Every stack of the process is visited once, depth first, with its weight. A subject is given the
 * weight where it appears on a path for the first time: what lies below it on that path is inside
 * that weight already, so recursion counts once per sample, and the time is that of the distinct
 * stacks, not of the samples. Allocations go the same way: each stack with some is one sample,
 * which says where its amounts are added.
 *
 * Samples without any known frame (an empty stack, or one that is cut before its first frame) go to
 * the unknown function, in no module, so that every view's exclusive values add up to all samples.
 */
#include "analysis/flat.h"

#include "analysis/totals.h"

#include <errno.h>

enum { AHEAD = 32 }; /* visits whose memory is asked for together */

/* A stack that the walk comes to. */
struct visit {
	uint32_t stack;
	uint32_t frame; /* its innermost */
};

/* What a stack has at or below it, and of its own. */
struct weight {
	uint32_t inclusive, self;	     /* samples */
	const struct dw_alloc_values *below; /* NULL = only samples are counted */
	const struct dw_alloc_count *own;
	const struct dw_blocked *blocked; /* NULL = there are no waits */
};

static inline struct weight weight_of(const struct dw_trie *t, uint32_t stack)
{
	struct weight w = {t->nodes[stack].inclusive, t->nodes[stack].self, NULL, NULL,
			   t->blocked ? &t->blocked[stack] : NULL};

	if (t->amounts) {
		w.below = &t->amounts[stack].inclusive;
		w.own = &t->amounts[stack].exclusive;
	}
	return w;
}

/* @id joins the path. */
static inline void enter_id(struct dw_tally *t, uint32_t id, const struct weight *w, uint32_t clock)
{
	if (!dw_tally_enter(t, id, w->inclusive, clock))
		return;
	if (w->below)
		dw_alloc_values_add(&t->amounts[id].inclusive, w->below);
	if (w->blocked)
		dw_blocked_add_inclusive(&t->blocked[id], w->blocked);
}

/* What is the stack's own is @id's own. */
static inline void end_id(struct dw_tally *t, uint32_t id, const struct weight *w)
{
	dw_tally_end(t, id, w->self);
	if (w->own)
		dw_alloc_count_add(&t->amounts[id].exclusive, w->own);
	if (w->blocked)
		dw_blocked_add_exclusive(&t->blocked[id], w->blocked);
}

static uint32_t dense(uint32_t function)
{
	return function == (uint32_t)DWELL_FUNCTION_UNKNOWN ? 0 : function;
}

int dw_flat_init(struct dw_flat *f, const struct dw_subjects *subjects, unsigned parts,
		 enum dw_flat_more more)
{
	struct dw_tally *tallies[] = {&f->functions, &f->modules, &f->lines, &f->instructions,
				      &f->edges};

	*f = (struct dw_flat){.subjects = subjects, .parts = parts};
	for (size_t i = 0; i < sizeof tallies / sizeof *tallies; i++) {
		tallies[i]->weighs = more == DWELL_FLAT_AMOUNTS;
		tallies[i]->waits = more == DWELL_FLAT_WAITS;
	}
	if ((parts & DWELL_TOTALS_FUNCTIONS &&
	     dw_tally_reserve(&f->functions, subjects->functions_n)) ||
	    (parts & DWELL_TOTALS_MODULES && dw_tally_reserve(&f->modules, subjects->modules_n)) ||
	    (parts & DWELL_TOTALS_LINES &&
	     dw_tally_reserve(&f->lines, (uint32_t)subjects->lines.n)) ||
	    (parts & DWELL_TOTALS_INSTRUCTIONS &&
	     dw_tally_reserve(&f->instructions, subjects->frames_n)))
		return -ENOMEM;
	return parts & DWELL_TOTALS_EDGES ? dw_vec_push(&f->keys, (struct dw_edge_key){0}) : 0;
}

/* The id of the edge @caller -> @callee, made when new; 0 without memory. */
static uint32_t edge_id(struct dw_flat *f, uint32_t caller, uint32_t callee)
{
	uint64_t key = (uint64_t)caller << 32 | callee;
	uint32_t id = dw_map_get(&f->edge_ids, key);

	if (id)
		return id;
	id = (uint32_t)f->keys.n;
	if (dw_tally_reserve(&f->edges, id + 1) || dw_map_put(&f->edge_ids, key, id) ||
	    dw_vec_push(&f->keys, (struct dw_edge_key){caller, callee}))
		return 0;
	return id;
}

/* The edge into @callee joins the path; one that nobody asked for does not. @ends: the stack's own
 * is the callee's. */
static int enter_edge(struct dw_flat *f, uint32_t caller, uint32_t callee, const struct weight *w,
		      bool ends)
{
	uint32_t id;

	if (f->only && caller != f->only && callee != f->only)
		return 0;
	id = edge_id(f, caller, callee);
	if (!id)
		return -ENOMEM;
	enter_id(&f->edges, id, w, f->clock);
	if (ends)
		end_id(&f->edges, id, w);
	return 0;
}

/* The edges of all functions of a frame, outermost first, then the innermost one's exclusive. */
static int enter_edges(struct dw_flat *f, const struct dw_trie *t, uint32_t stack,
		       const struct weight *w)
{
	const struct dw_subjects *s = f->subjects;
	uint32_t frame = t->rows[stack].frame < s->frames_n ? t->rows[stack].frame : 0;
	uint32_t parent = dw_trie_parent(t, stack), caller = 0;

	if (parent) {
		uint32_t above = t->rows[parent].frame;

		caller = s->function[s->first[above < s->frames_n ? above : 0]];
	}
	for (uint32_t slot = s->first[frame + 1]; slot-- > s->first[frame];) {
		if (enter_edge(f, caller, s->function[slot], w, slot == s->first[frame]))
			return -ENOMEM;
		caller = s->function[slot];
	}
	return 0;
}

/* What is @stack's own belongs to nothing known. */
static int count_unknown(struct dw_flat *f, const struct dw_trie *t, uint32_t caller,
			 uint32_t stack)
{
	struct dw_tally *tallies[] = {&f->functions, &f->modules, &f->lines, &f->instructions};
	struct weight w = weight_of(t, stack);
	struct dw_alloc_values own;
	struct dw_blocked blocked;

	if (!w.self)
		return 0;
	if (w.blocked) {
		blocked = *w.blocked;
		blocked.ns.inclusive = blocked.ns.exclusive;
		blocked.waits.inclusive = blocked.waits.exclusive;
		w.blocked = &blocked;
	}
	w.inclusive = w.self;
	if (w.below) {
		own = dw_trie_own(t, stack);
		w.below = &own;
	}
	for (size_t i = 0; i < sizeof tallies / sizeof *tallies; i++) {
		if (!tallies[i]->n)
			continue;
		enter_id(tallies[i], 0, &w, f->clock);
		end_id(tallies[i], 0, &w);
	}
	if (!(f->parts & DWELL_TOTALS_EDGES))
		return 0;
	return enter_edge(f, caller, (uint32_t)DWELL_FUNCTION_UNKNOWN, &w, true);
}

/* A stack joins the path. */
static int enter(struct dw_flat *f, const struct dw_trie *t, const struct visit *v)
{
	const struct dw_subjects *s = f->subjects;
	uint32_t stack = v->stack, frame = v->frame, clock = f->clock;
	uint32_t first = s->first[frame], end = s->first[frame + 1];
	struct weight w = weight_of(t, stack);

	if (s->function[first] == (uint32_t)DWELL_FUNCTION_CUT)
		return count_unknown(f, t, (uint32_t)DWELL_FUNCTION_CUT, stack);
	if (f->functions.n) {
		for (uint32_t slot = first; slot < end; slot++)
			enter_id(&f->functions, dense(s->function[slot]), &w, clock);
		end_id(&f->functions, dense(s->function[first]), &w);
	}
	if (f->lines.n) {
		for (uint32_t slot = first; slot < end; slot++)
			enter_id(&f->lines, s->line[slot], &w, clock);
		end_id(&f->lines, s->line[first], &w);
	}
	if (f->modules.n) {
		enter_id(&f->modules, s->module[frame], &w, clock);
		end_id(&f->modules, s->module[frame], &w);
	}
	if (f->instructions.n) {
		enter_id(&f->instructions, s->instruction[frame], &w, clock);
		end_id(&f->instructions, s->instruction[frame], &w);
	}
	return f->parts & DWELL_TOTALS_EDGES ? enter_edges(f, t, stack, &w) : 0;
}

/* What a part of a stack counts for. */
struct part {
	const struct dw_alloc_values *values;
	bool is_first, is_leaf;
};

static void add_part(struct dw_tally *t, uint32_t id, const struct part *part)
{
	struct dw_tally_row *row = &t->rows[id];

	if (!part->is_first && !part->is_leaf)
		return;
	if (!row->inclusive)
		t->touched[t->touched_n++] = id;
	row->inclusive |= 1;
	if (part->is_first)
		dw_alloc_values_add(&t->amounts[id].inclusive, part->values);
	if (part->is_leaf)
		dw_alloc_count_add(&t->amounts[id].exclusive, &part->values->allocated);
}

/* @part counts for what @kind says. */
static struct part part_of(unsigned part, unsigned kind, const struct dw_alloc_values *values)
{
	return (struct part){values, part & kind, part & DWELL_PART_LEAF};
}

/* The calls of all functions of @frame, outermost first. */
static int add_calls(struct dw_flat *f, uint32_t caller, uint32_t frame, const struct part *part)
{
	const struct dw_subjects *s = f->subjects;

	for (uint32_t slot = s->first[frame + 1]; slot-- > s->first[frame];) {
		uint32_t callee = s->function[slot], id;
		struct part one = *part;

		one.is_leaf &= slot == s->first[frame];
		if (!f->only || caller == f->only || callee == f->only) {
			id = edge_id(f, caller, callee);
			if (!id)
				return -ENOMEM;
			add_part(&f->edges, id, &one);
		}
		caller = callee;
	}
	return 0;
}

int dw_flat_add_part(struct dw_flat *f, const struct dw_trie *t, uint32_t stack, unsigned part,
		     const struct dw_alloc_values *values)
{
	const struct dw_subjects *s = f->subjects;
	uint32_t frame = t->rows[stack].frame < s->frames_n ? t->rows[stack].frame : 0;
	uint32_t parent = dw_trie_parent(t, stack), caller = 0, first = s->first[frame];
	struct part function = part_of(part, DWELL_PART_FUNCTION, values);
	struct part module = part_of(part, DWELL_PART_MODULE, values);
	struct part line = part_of(part, DWELL_PART_LINE, values);
	struct part call = part_of(part, DWELL_PART_CALL, values);

	if (s->function[first] == (uint32_t)DWELL_FUNCTION_CUT)
		return 0;
	for (uint32_t slot = first; slot < s->first[frame + 1]; slot++) {
		if (f->functions.n)
			add_part(&f->functions, dense(s->function[slot]), &function);
		if (f->lines.n)
			add_part(&f->lines, s->line[slot], &line);
		function.is_leaf = line.is_leaf = false;
	}
	if (f->modules.n)
		add_part(&f->modules, s->module[frame], &module);
	line.is_leaf = part & DWELL_PART_LEAF;
	if (f->instructions.n)
		add_part(&f->instructions, frame, &line);
	if (parent && dw_trie_parent(t, parent)) {
		uint32_t above = t->rows[parent].frame;

		caller = s->function[s->first[above < s->frames_n ? above : 0]];
	}
	return f->parts & DWELL_TOTALS_EDGES ? add_calls(f, caller, frame, &call) : 0;
}

/* Ask for the memory that visits will need, so that its latencies pass together. */
static void fetch(const struct dw_flat *f, const struct visit *v, size_t n)
{
	const struct dw_subjects *s = f->subjects;

	for (size_t i = 0; i < n; i++)
		__builtin_prefetch(&s->first[v[i].frame]);
	for (size_t i = 0; i < n; i++) {
		uint32_t slot = s->first[v[i].frame];

		__builtin_prefetch(&s->function[slot]);
		if (f->lines.n)
			__builtin_prefetch(&s->line[slot]);
		if (f->instructions.n)
			__builtin_prefetch(&f->instructions.rows[s->instruction[v[i].frame]]);
	}
	for (size_t i = 0; i < n; i++)
		for (uint32_t slot = s->first[v[i].frame]; slot < s->first[v[i].frame + 1];
		     slot++) {
			if (f->lines.n)
				__builtin_prefetch(&f->lines.rows[s->line[slot]]);
			if (f->functions.n)
				__builtin_prefetch(&f->functions.rows[dense(s->function[slot])]);
		}
}

/* The stack behind @at, depth first; 0 = it was the last. */
static uint32_t next_stack(const struct dw_trie *t, uint32_t at)
{
	if (t->nodes[at].child)
		return t->nodes[at].child;
	while (at && !t->nodes[at].next)
		at = dw_trie_parent(t, at);
	return at ? t->nodes[at].next : 0;
}

static int walk(struct dw_flat *f, const struct dw_trie *t)
{
	uint32_t at = t->nodes[0].child, frames = f->subjects->frames_n;
	struct visit ahead[AHEAD];
	int rc;

	f->clock = 0;
	rc = count_unknown(f, t, 0, 0);
	f->clock += t->nodes[0].self;
	while (at && !rc) {
		size_t n = 0;

		for (; at && n < AHEAD; at = next_stack(t, at)) {
			__builtin_prefetch(&t->nodes[t->nodes[at].next]);
			__builtin_prefetch(&t->rows[t->nodes[at].next]);
			ahead[n++] = (struct visit){
				at, t->rows[at].frame < frames ? t->rows[at].frame : 0};
		}
		fetch(f, ahead, n);
		for (size_t i = 0; i < n && !rc; i++) {
			rc = enter(f, t, &ahead[i]);
			f->clock += t->nodes[ahead[i].stack].self;
		}
	}
	return rc;
}

/* Room for the rows of @t. 0 or -ENOMEM. */
static int reserve(const struct dw_tally *t, struct dw_totals *ret)
{
	return dw_amounts_reserve(&ret->amounts, t->touched_n);
}

/* Put the amounts of the touched id number @i into a row of @ret, whose number goes to *@row. 0 or
 * -ENOMEM. */
static int put_amounts(const struct dw_tally *t, uint32_t i, struct dw_totals *ret, uint32_t *row)
{
	uint32_t id = t->touched[i], at = *row = dw_amounts_push(&ret->amounts);

	if (at == UINT32_MAX)
		return -ENOMEM;
	if (t->amounts) {
		dw_amounts_add_own_allocs(&ret->amounts, at, &t->amounts[id].exclusive);
		return dw_amounts_add_allocs(&ret->amounts, at, &t->amounts[id].inclusive);
	}
	*dw_amounts_common(&ret->amounts, at, DWELL_MEASURE_SAMPLES) = dw_tally_values(t, i);
	if (t->blocked)
		*dw_amounts_common(&ret->amounts, at, DWELL_MEASURE_BLOCKED) = t->blocked[id].ns;
	return 0;
}

static int emit_functions(struct dw_flat *f, uint32_t process, struct dw_totals *ret)
{
	const struct dw_tally *t = &f->functions;
	int rc = reserve(t, ret) || dw_vec_reserve(&ret->functions, t->touched_n) ? -ENOMEM : 0;

	for (uint32_t i = 0; i < t->touched_n && !rc; i++) {
		struct dw_function_total *row;
		uint32_t id = t->touched[i];

		t->rows[id].place = (uint32_t)ret->functions.n;
		row = &ret->functions.v[ret->functions.n++];
		*row = (struct dw_function_total){
			.process = process, .function = id ? id : (uint32_t)DWELL_FUNCTION_UNKNOWN};
		rc = put_amounts(t, i, ret, &row->amounts);
	}
	return rc;
}

static int emit_modules(struct dw_flat *f, uint32_t process, struct dw_totals *ret)
{
	const struct dw_tally *t = &f->modules;
	int rc = reserve(t, ret) || dw_vec_reserve(&ret->modules, t->touched_n) ? -ENOMEM : 0;

	for (uint32_t i = 0; i < t->touched_n && !rc; i++) {
		struct dw_module_total *row = &ret->modules.v[ret->modules.n++];

		*row = (struct dw_module_total){.process = process, .module = t->touched[i]};
		rc = put_amounts(t, i, ret, &row->amounts);
	}
	return rc;
}

static int emit_lines(struct dw_flat *f, uint32_t process, struct dw_totals *ret)
{
	const struct dw_tally *t = &f->lines;
	int rc = reserve(t, ret) || dw_vec_reserve(&ret->lines, t->touched_n) ? -ENOMEM : 0;

	for (uint32_t i = 0; i < t->touched_n && !rc; i++) {
		struct dw_line_total *row = &ret->lines.v[ret->lines.n];

		*row = f->subjects->lines.v[t->touched[i]];
		row->process = process;
		rc = put_amounts(t, i, ret, &row->amounts);
		if (f->functions.n)
			row->function_row = f->functions.rows[dense(row->function)].place;
		t->rows[t->touched[i]].place = (uint32_t)ret->lines.n++;
	}
	return rc;
}

static int emit_instructions(struct dw_flat *f, uint32_t process, struct dw_totals *ret)
{
	const struct dw_tally *t = &f->instructions;
	const struct dw_subjects *s = f->subjects;
	int rc = reserve(t, ret) || dw_vec_reserve(&ret->instructions, t->touched_n) ? -ENOMEM : 0;

	for (uint32_t i = 0; i < t->touched_n && !rc; i++) {
		struct dw_instruction_total *row = &ret->instructions.v[ret->instructions.n++];
		uint32_t frame = t->touched[i], line = f->lines.n ? s->line[s->first[frame]] : 0;

		*row = (struct dw_instruction_total){
			.process = process,
			.frame = frame,
			.line_row = f->lines.n ? f->lines.rows[line].place : 0,
		};
		rc = put_amounts(t, i, ret, &row->amounts);
	}
	return rc;
}

static int emit_edges(struct dw_flat *f, uint32_t process, struct dw_totals *ret)
{
	const struct dw_tally *t = &f->edges;
	int rc = reserve(t, ret) || dw_vec_reserve(&ret->edges, t->touched_n) ? -ENOMEM : 0;

	for (uint32_t i = 0; i < t->touched_n && !rc; i++) {
		struct dw_edge_key key = f->keys.v[t->touched[i]];
		struct dw_edge_total *row = &ret->edges.v[ret->edges.n++];

		*row = (struct dw_edge_total){
			.process = process, .caller = key.caller, .callee = key.callee};
		rc = put_amounts(t, i, ret, &row->amounts);
	}
	return rc;
}

int dw_flat_count(struct dw_flat *f, const struct dw_trie *t, uint32_t process,
		  struct dw_totals *ret)
{
	int rc = walk(f, t);

	if (rc || emit_functions(f, process, ret) || emit_modules(f, process, ret) ||
	    emit_lines(f, process, ret) || emit_instructions(f, process, ret) ||
	    emit_edges(f, process, ret))
		return -ENOMEM;
	dw_tally_clear(&f->functions);
	dw_tally_clear(&f->modules);
	dw_tally_clear(&f->lines);
	dw_tally_clear(&f->instructions);
	dw_tally_clear(&f->edges);
	return 0;
}

void dw_flat_release(struct dw_flat *f)
{
	dw_tally_release(&f->functions);
	dw_tally_release(&f->modules);
	dw_tally_release(&f->lines);
	dw_tally_release(&f->instructions);
	dw_tally_release(&f->edges);
	dw_map_release(&f->edge_ids);
	dw_vec_release(&f->keys);
}
