/*
 * Flat totals; see flat.h.
 *
 * Every stack of the process is visited once, depth first, with its weight. A subject is given the
 * weight where it appears on a path for the first time: what lies below it on that path is inside
 * that weight already, so recursion counts once per sample, and the time is that of the distinct
 * stacks, not of the samples.
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

static uint32_t dense(uint32_t function)
{
	return function == (uint32_t)DWELL_FUNCTION_UNKNOWN ? 0 : function;
}

int dw_flat_init(struct dw_flat *f, const struct dw_subjects *subjects, unsigned parts)
{
	*f = (struct dw_flat){.subjects = subjects, .parts = parts};
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

/* The edge into @callee joins the path; one that nobody asked for does not. @self of the samples
 * end in the callee. */
static int enter_edge(struct dw_flat *f, uint32_t caller, uint32_t callee, uint32_t inclusive,
		      uint32_t self)
{
	uint32_t id;

	if (f->only && caller != f->only && callee != f->only)
		return 0;
	id = edge_id(f, caller, callee);
	if (!id)
		return -ENOMEM;
	dw_tally_enter(&f->edges, id, inclusive, f->clock);
	dw_tally_end(&f->edges, id, self);
	return 0;
}

/* The edges of all functions of a frame, outermost first, then the innermost one's exclusive. */
static int enter_edges(struct dw_flat *f, const struct dw_trie *t, uint32_t stack, uint32_t self)
{
	const struct dw_subjects *s = f->subjects;
	uint32_t frame = t->rows[stack].frame < s->frames_n ? t->rows[stack].frame : 0;
	uint32_t parent = dw_trie_parent(t, stack), caller = 0;

	if (parent) {
		uint32_t above = t->rows[parent].frame;

		caller = s->function[s->first[above < s->frames_n ? above : 0]];
	}
	for (uint32_t slot = s->first[frame + 1]; slot-- > s->first[frame];) {
		if (enter_edge(f, caller, s->function[slot], t->nodes[stack].inclusive,
			       slot == s->first[frame] ? self : 0))
			return -ENOMEM;
		caller = s->function[slot];
	}
	return 0;
}

/* Samples that belong to nothing known. */
static int count_unknown(struct dw_flat *f, uint32_t caller, uint32_t self)
{
	struct dw_tally *tallies[] = {&f->functions, &f->modules, &f->lines, &f->instructions};

	for (size_t i = 0; self && i < sizeof tallies / sizeof *tallies; i++) {
		if (!tallies[i]->n)
			continue;
		dw_tally_enter(tallies[i], 0, self, f->clock);
		dw_tally_end(tallies[i], 0, self);
	}
	if (!self || !(f->parts & DWELL_TOTALS_EDGES))
		return 0;
	return enter_edge(f, caller, (uint32_t)DWELL_FUNCTION_UNKNOWN, self, self);
}

/* A stack joins the path. */
static int enter(struct dw_flat *f, const struct dw_trie *t, const struct visit *v)
{
	const struct dw_subjects *s = f->subjects;
	uint32_t stack = v->stack, frame = v->frame, clock = f->clock;
	uint32_t first = s->first[frame], end = s->first[frame + 1];
	uint32_t inclusive = t->nodes[stack].inclusive, self = t->nodes[stack].self;

	if (s->function[first] == (uint32_t)DWELL_FUNCTION_CUT)
		return count_unknown(f, (uint32_t)DWELL_FUNCTION_CUT, self);
	if (f->functions.n) {
		for (uint32_t slot = first; slot < end; slot++)
			dw_tally_enter(&f->functions, dense(s->function[slot]), inclusive, clock);
		dw_tally_end(&f->functions, dense(s->function[first]), self);
	}
	if (f->lines.n) {
		for (uint32_t slot = first; slot < end; slot++)
			dw_tally_enter(&f->lines, s->line[slot], inclusive, clock);
		dw_tally_end(&f->lines, s->line[first], self);
	}
	if (f->modules.n) {
		dw_tally_enter(&f->modules, s->module[frame], inclusive, clock);
		dw_tally_end(&f->modules, s->module[frame], self);
	}
	if (f->instructions.n) {
		dw_tally_enter(&f->instructions, frame, inclusive, clock);
		dw_tally_end(&f->instructions, frame, self);
	}
	return f->parts & DWELL_TOTALS_EDGES ? enter_edges(f, t, stack, self) : 0;
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
			__builtin_prefetch(&f->instructions.rows[v[i].frame]);
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
	rc = count_unknown(f, 0, t->nodes[0].self);
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

static int emit_functions(struct dw_flat *f, uint32_t process, struct dw_totals *ret)
{
	const struct dw_tally *t = &f->functions;
	int rc = dw_vec_reserve(&ret->functions, t->touched_n);

	for (uint32_t i = 0; i < t->touched_n && !rc; i++) {
		uint32_t id = t->touched[i];

		t->rows[id].place = (uint32_t)ret->functions.n;
		ret->functions.v[ret->functions.n++] = (struct dw_function_total){
			.process = process,
			.function = id ? id : (uint32_t)DWELL_FUNCTION_UNKNOWN,
			.values = dw_tally_values(t, i)};
	}
	return rc;
}

static int emit_modules(struct dw_flat *f, uint32_t process, struct dw_totals *ret)
{
	const struct dw_tally *t = &f->modules;
	int rc = dw_vec_reserve(&ret->modules, t->touched_n);

	for (uint32_t i = 0; i < t->touched_n && !rc; i++)
		ret->modules.v[ret->modules.n++] =
			(struct dw_module_total){.process = process,
						 .module = t->touched[i],
						 .values = dw_tally_values(t, i)};
	return rc;
}

static int emit_lines(struct dw_flat *f, uint32_t process, struct dw_totals *ret)
{
	const struct dw_tally *t = &f->lines;
	int rc = dw_vec_reserve(&ret->lines, t->touched_n);

	for (uint32_t i = 0; i < t->touched_n && !rc; i++) {
		struct dw_line_total *row = &ret->lines.v[ret->lines.n];

		*row = f->subjects->lines.v[t->touched[i]];
		row->process = process;
		row->values = dw_tally_values(t, i);
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
	int rc = dw_vec_reserve(&ret->instructions, t->touched_n);

	for (uint32_t i = 0; i < t->touched_n && !rc; i++) {
		uint32_t frame = t->touched[i], line = f->lines.n ? s->line[s->first[frame]] : 0;

		ret->instructions.v[ret->instructions.n++] = (struct dw_instruction_total){
			.process = process,
			.frame = frame,
			.line_row = f->lines.n ? f->lines.rows[line].place : 0,
			.values = dw_tally_values(t, i),
		};
	}
	return rc;
}

static int emit_edges(struct dw_flat *f, uint32_t process, struct dw_totals *ret)
{
	const struct dw_tally *t = &f->edges;
	int rc = dw_vec_reserve(&ret->edges, t->touched_n);

	for (uint32_t i = 0; i < t->touched_n && !rc; i++) {
		struct dw_edge_key key = f->keys.v[t->touched[i]];

		ret->edges.v[ret->edges.n++] = (struct dw_edge_total){
			.process = process,
			.caller = key.caller,
			.callee = key.callee,
			.values = dw_tally_values(t, i),
		};
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
