/*
 * Choosing statements for probes; see statements-x86-64.h.
 *
 * What leaves its function with registers below rsp has unwind rows of its own already
 * (unwind-leaving.h) and gets no probe that moves rsp; so has what may load another stack's rsp,
 * and an instruction with a lock prefix, behind which the C library jumps.
 */
#include "clone/statements-x86-64.h"

#include "base/vec.h"
#include "clone/emit.h"
#include "clone/free-stack-x86-64.h"

#include <errno.h>

enum { FRAME_BYTES_MAX = 1 << 28 };

struct search {
	struct dw_clone_module *m;
	const struct dw_clone_line *next, *end; /* those that are asked for */
	struct dw_free_stack stack;
	/* of the function that is looked at, by instruction */
	DW_VEC(uint64_t) lines; /* which its code belongs to: that of the last statement before */
	DW_VEC(bool) is_target; /* of a branch from another line */
};

/* Find out which line each instruction of @f belongs to. */
static int find_lines(struct search *s, const struct dw_clone_function *f)
{
	uint64_t at = f->start, line = 0;

	s->lines.n = s->is_target.n = 0;
	if (dw_vec_reserve(&s->lines, f->n) || dw_vec_reserve(&s->is_target, f->n))
		return -ENOMEM;
	for (const struct dw_clone_line *next = s->next; s->lines.n < f->n;) {
		while (next < s->end && next->svma <= at)
			line = next++->line;
		at += s->m->insns.v[f->first + s->lines.n].length;
		s->lines.v[s->lines.n++] = line;
		s->is_target.v[s->is_target.n++] = false;
	}
	return 0;
}

/* The instruction of @f that the branch @insn at @at leads to; UINT32_MAX = there is none. */
static uint32_t target_of(const struct search *s, const struct dw_clone_function *f,
			  const struct dw_insn *insn, uint64_t at)
{
	if (insn->kind == DWELL_INSN_JUMP || insn->kind == DWELL_INSN_BRANCH ||
	    insn->kind == DWELL_INSN_LOOP || insn->kind == DWELL_INSN_BEGIN)
		return dw_clone_insn_at(s->m, f, dw_insn_target(insn, at));
	return UINT32_MAX;
}

/* Note where branches of @f lead in it, to another line. */
static void find_targets(struct search *s, const struct dw_clone_function *f)
{
	uint64_t at = f->start;

	for (uint32_t i = 0; i < f->n; at += s->m->insns.v[f->first + i++].length) {
		uint32_t to = target_of(s, f, &s->m->insns.v[f->first + i], at);

		if (to != UINT32_MAX && s->lines.v[to - f->first] != s->lines.v[i])
			s->is_target.v[to - f->first] = true;
	}
}

/* Mark the branches of @f to probes of their own line, once those are known. */
static void mark_branches(struct search *s, const struct dw_clone_function *f)
{
	uint64_t at = f->start;

	for (uint32_t i = 0; i < f->n; at += s->m->insns.v[f->first + i++].length) {
		uint32_t to = target_of(s, f, &s->m->insns.v[f->first + i], at);

		if (to != UINT32_MAX && s->lines.v[to - f->first] == s->lines.v[i] &&
		    s->m->marks.v[to] & DWELL_MARK_LINE)
			s->m->marks.v[f->first + i] |= DWELL_MARK_SAME_LINE;
	}
}

/* The marks of a probe in front of instruction @i of @f at @at; 0 = there cannot be one. */
static uint8_t marks_of(struct search *s, const struct dw_clone_function *f, uint32_t i,
			uint64_t at)
{
	const struct dw_cfi_rules *rules;

	if (s->m->insns.v[i].flags & DWELL_INSN_LOCK)
		return 0;
	if (dw_free_stack_at(&s->stack, at))
		return DWELL_MARK_LINE;
	rules = dw_free_stack_rules(&s->stack, at);
	if (!rules || rules->cfa.how != DWELL_CFI_OFFSET || rules->cfa.offset < 0 ||
	    rules->cfa.offset > FRAME_BYTES_MAX || dw_emit_leaves(s->m, f, i, at))
		return 0;
	return DWELL_MARK_LINE | DWELL_MARK_LINE_BELOW;
}

/* Put a probe in front of instruction @i of @f at @at. */
static int add(struct search *s, const struct dw_clone_function *f, uint32_t i, uint64_t at)
{
	struct dw_clone_statement statement = {(uint32_t)(at - s->m->start),
					       (uint32_t)(f - s->m->functions.v)};
	uint8_t marks = marks_of(s, f, i, at);

	s->m->marks.v[i] |= marks;
	s->m->statements_left += !marks;
	return marks ? dw_vec_push(&s->m->statements, statement) : 0;
}

/* Whether control may come to instruction @i of @f from another line. */
static bool is_entered(const struct search *s, const struct dw_clone_function *f, uint32_t i)
{
	uint32_t k = i - f->first;

	return f->has_indirect_jump || s->stack.is_entered[f - s->m->functions.v] ||
	       s->is_target.v[k] || s->m->marks.v[i] & DWELL_MARK_LANDING ||
	       s->lines.v[k] != s->lines.v[k - 1];
}

/* Look at what is asked for in @f, which has probes. */
static int find_in(struct search *s, const struct dw_clone_function *f)
{
	uint64_t at = f->start;
	int rc = find_lines(s, f);

	if (rc)
		return rc;
	dw_free_stack_begin(&s->stack, f);
	find_targets(s, f);
	for (uint32_t i = f->first; i < f->first + f->n && s->next < s->end && !rc;
	     at += s->m->insns.v[i++].length) {
		while (s->next < s->end && s->next->svma < at)
			s->next++;
		if (s->next < s->end && s->next->svma == at && i > f->first && is_entered(s, f, i))
			rc = add(s, f, i, at);
	}
	mark_branches(s, f);
	return rc;
}

int dw_statements_find(struct dw_clone_module *m, const struct dw_clone_options *options)
{
	struct search s = {.m = m, .next = options->lines};
	int rc;

	if (m->probes != DWELL_PROBES_TIME || !options->lines_n)
		return 0;
	s.end = options->lines + options->lines_n;
	rc = dw_free_stack_init(&s.stack, m);
	dw_vec_each(f, &m->functions) {
		while (s.next < s.end && s.next->svma < f->start)
			s.next++;
		if (!rc && !f->reason && dw_clone_is_measured(m, f) &&
		    !(f->flags & DWELL_CLONE_SWITCHES))
			rc = find_in(&s, f);
	}
	dw_free_stack_release(&s.stack);
	dw_vec_release(&s.lines);
	dw_vec_release(&s.is_target);
	return rc;
}

uint32_t dw_statement_index(const struct dw_clone_module *m, uint64_t svma)
{
	uint64_t at = svma - m->start;

	return (uint32_t)dw_sorted_count(m->statements.v, m->statements.n, e, e->at < at);
}
