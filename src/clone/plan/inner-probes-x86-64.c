/*
 * Probes in the middle of functions: which system calls and which first instructions of statements
 * get one.
 *
 * Other than at entries and calls, the stack below rsp may be in use there. It is free where the
 * function has no operand below rsp, none below rbp unless it calls others (then compilers keep
 * nothing below rsp), is no part of another function, is not jumped into by others, and its unwind
 * rules find no register below rsp. System calls elsewhere get no probes. Statements do, as rsp is
 * moved below the red zone before and back behind the probe; then the clone's unwind rows tell of
 * that.
 *
 * 	mov %rax, -16(%rsp)		what the trampoline LINE expects
 * 	mov $statement, %eax
 * 	call trampoline
 *
 * What leaves its function with registers below rsp has unwind rows of its own already
 * (emit/unwind.c) and gets no probe that moves rsp; so has what may load another stack's rsp, and
 * an instruction with a lock prefix, behind which the C library jumps. What jumps to the
 * instruction jumps to the probe, but branches of the same line go behind it: a loop in one line
 * costs one probe.
 */
#include "clone/plan/plan.h"

#include "base/vec.h"
#include "clone/plan/unwind.h"
#include "code/decode/insn-x86-64.h"

#include <errno.h>
#include <stdlib.h>

struct free_stack {
	const struct dw_clone_module *m;
	bool *is_entered; /* by function: others jump into its middle */
	/* of the function that is looked at */
	bool is_used;
	bool has_rows;
	struct dw_cfi_reading entry;
	struct dw_cfi_machine machine;
	uint64_t end; /* of the machine's row, svma */
};

static void mark_entered(const struct dw_clone_module *m, const struct dw_clone_function *f,
			 bool *is_entered)
{
	uint64_t at = f->start;

	for (uint32_t i = f->first; i < f->first + f->n; at += m->insns.v[i++].length) {
		const struct dw_insn *insn = &m->insns.v[i];
		uint64_t to = dw_insn_target(insn, at);
		const struct dw_clone_function *g;

		if ((insn->kind != DWELL_INSN_JUMP && insn->kind != DWELL_INSN_BRANCH &&
		     insn->kind != DWELL_INSN_LOOP) ||
		    to - f->start < f->end - f->start)
			continue;
		g = dw_clone_function_at(m, to);
		if (g && g->start != to)
			is_entered[g - m->functions.v] = true;
	}
}

static int free_stack_init(struct free_stack *s, const struct dw_clone_module *m)
{
	*s = (struct free_stack){.m = m,
				 .is_entered = calloc(m->functions.n + 1, sizeof *s->is_entered)};
	if (!s->is_entered)
		return -ENOMEM;
	dw_vec_each(f, &m->functions)
		mark_entered(m, f, s->is_entered);
	return 0;
}

static bool uses_red_zone(const struct dw_clone_module *m, const struct dw_clone_function *f)
{
	bool by_fp = false, calls = false;

	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		const struct dw_insn *insn = &m->insns.v[i];

		if (insn->flags & DWELL_INSN_SP && insn->value < 0)
			return true;
		by_fp |= insn->flags & DWELL_INSN_FP && insn->value < 0;
		calls |= insn->kind == DWELL_INSN_CALL || insn->kind == DWELL_INSN_CALL_INDIRECT;
	}
	return by_fp && !calls;
}

/* Start the unwind rows of @f. False: they cannot be read. */
static bool open_rows(struct free_stack *s, const struct dw_clone_function *f)
{
	const struct dw_cfi_fde *fde = &s->entry.fde;

	if (dw_clone_read_fde(s->m, f, &s->entry) || fde->start != f->start)
		return false;
	dw_cfi_machine_init(&s->machine, &s->entry.cie, fde->start, fde->program, fde->program_n);
	s->end = f->start;
	return true;
}

/* Look at @f from now on. Its rows are read once, in its order. */
static void free_stack_begin(struct free_stack *s, const struct dw_clone_function *f)
{
	s->is_used = f->flags & DWELL_CLONE_COLD || s->is_entered[f - s->m->functions.v] ||
		     uses_red_zone(s->m, f);
	s->has_rows = open_rows(s, f);
}

/* The unwind rules at @svma of that function, no lower than before, borrowed. NULL = unknown. */
static const struct dw_cfi_rules *free_stack_rules(struct free_stack *s, uint64_t svma)
{
	uint64_t from;

	while (s->has_rows && s->end <= svma)
		s->has_rows = dw_cfi_machine_next(&s->machine, &from, &s->end) >= 0;
	return s->has_rows ? &s->machine.rules : NULL;
}

/* Whether the stack below rsp is free at @svma of that function, no lower than before. */
static bool is_free_at(struct free_stack *s, uint64_t svma)
{
	const struct dw_cfi_rules *rules = free_stack_rules(s, svma);

	return !s->is_used && rules && !dw_unwind_saved_below(rules);
}

static void free_stack_release(struct free_stack *s)
{
	free(s->is_entered);
	*s = (struct free_stack){0};
}

static bool has_system_call(const struct dw_clone_module *m, const struct dw_clone_function *f)
{
	for (uint32_t i = f->first; i < f->first + f->n; i++)
		if (m->insns.v[i].flags & DWELL_INSN_SYSCALL)
			return true;
	return false;
}

/* Mark the system calls of @f that may have probes. Whether there are any. */
static bool mark_system_calls(struct dw_clone_module *m, const struct dw_clone_function *f,
			      struct free_stack *stack)
{
	uint64_t at = f->start;
	bool any = false;

	free_stack_begin(stack, f);
	for (uint32_t i = f->first; i < f->first + f->n; at += m->insns.v[i++].length)
		if (m->insns.v[i].flags & DWELL_INSN_SYSCALL && is_free_at(stack, at)) {
			m->marks.v[i] |= DWELL_MARK_SYSTEM_CALL;
			any = true;
		}
	return any;
}

int dw_system_calls_find(struct dw_clone_module *m)
{
	struct free_stack stack = {0};
	bool any = false;
	int rc = 0;

	if (m->probes != DWELL_PROBES_SYSTEM_CALLS && m->probes != DWELL_PROBES_TIME)
		return 0;
	dw_vec_each(f, &m->functions)
		any |= has_system_call(m, f);
	if (any)
		rc = free_stack_init(&stack, m);
	dw_vec_each(f, &m->functions) {
		bool is_marked = any && !rc && !f->reason && has_system_call(m, f) &&
				 mark_system_calls(m, f, &stack);

		if (!f->reason && m->probes == DWELL_PROBES_SYSTEM_CALLS && !is_marked)
			f->reason = DWELL_LEFT_NOT_CHOSEN;
	}
	free_stack_release(&stack);
	return rc;
}

void dw_system_calls_count(struct dw_clone_module *m)
{
	m->system_calls = m->system_calls_left = 0;
	dw_vec_each(f, &m->functions)
		for (uint32_t i = f->first; i < f->first + f->n; i++) {
			bool is_call = m->insns.v[i].flags & DWELL_INSN_SYSCALL;
			bool has_trampolines = !f->reason && m->marks.v[i] & DWELL_MARK_SYSTEM_CALL;

			m->system_calls += is_call && has_trampolines;
			m->system_calls_left += is_call && !has_trampolines;
		}
}

enum { FRAME_BYTES_MAX = 1 << 28 };

struct search {
	struct dw_clone_module *m;
	const struct dw_clone_line *next, *end; /* those that are asked for */
	struct free_stack stack;
	/* of the function that is looked at, by instruction */
	DW_VEC(uint64_t) lines; /* which its code belongs to: that of the last statement before */
	DW_VEC(bool) is_target; /* of a branch from another line */
};

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

	if (s->m->insns.v[i].flags & DWELL_INSN_PREFIX)
		return 0;
	if (is_free_at(&s->stack, at))
		return DWELL_MARK_LINE;
	rules = free_stack_rules(&s->stack, at);
	if (!rules || rules->cfa.how != DWELL_CFI_OFFSET || rules->cfa.offset < 0 ||
	    rules->cfa.offset > FRAME_BYTES_MAX || dw_clone_leaves(s->m, f, i, at))
		return 0;
	return DWELL_MARK_LINE | DWELL_MARK_LINE_BELOW;
}

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
	free_stack_begin(&s->stack, f);
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
	rc = free_stack_init(&s.stack, m);
	dw_vec_each(f, &m->functions) {
		while (s.next < s.end && s.next->svma < f->start)
			s.next++;
		if (!rc && !f->reason && dw_clone_is_measured(m, f) &&
		    !(f->flags & DWELL_CLONE_SWITCHES))
			rc = find_in(&s, f);
	}
	free_stack_release(&s.stack);
	dw_vec_release(&s.lines);
	dw_vec_release(&s.is_target);
	return rc;
}

uint32_t dw_statement_index(const struct dw_clone_module *m, uint64_t svma)
{
	uint64_t at = svma - m->start;

	return (uint32_t)dw_sorted_count(m->statements.v, m->statements.n, e, e->at < at);
}
