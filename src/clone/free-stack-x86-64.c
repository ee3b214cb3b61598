/* Finding free stack; see free-stack-x86-64.h. Rows are read once for a function, in its order. */
#include "clone/free-stack-x86-64.h"

#include "clone/unwind-leaving.h"

#include <errno.h>
#include <stdlib.h>

/* Mark the functions into whose middle @f jumps. */
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

int dw_free_stack_init(struct dw_free_stack *s, const struct dw_clone_module *m)
{
	*s = (struct dw_free_stack){
		.m = m, .is_entered = calloc(m->functions.n + 1, sizeof *s->is_entered)};
	if (!s->is_entered)
		return -ENOMEM;
	dw_vec_each(f, &m->functions)
		mark_entered(m, f, s->is_entered);
	return 0;
}

/* Whether the instructions of @f may use stack below rsp. */
static bool uses_red_zone(const struct dw_clone_module *m, const struct dw_clone_function *f)
{
	bool by_rbp = false, calls = false;

	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		const struct dw_insn *insn = &m->insns.v[i];

		if (insn->flags & DWELL_INSN_RSP && insn->value < 0)
			return true;
		by_rbp |= insn->flags & DWELL_INSN_RBP && insn->value < 0;
		calls |= insn->kind == DWELL_INSN_CALL || insn->kind == DWELL_INSN_CALL_INDIRECT;
	}
	return by_rbp && !calls;
}

/* Start the unwind rows of @f. False: they cannot be read. */
static bool open_rows(struct dw_free_stack *s, const struct dw_clone_function *f)
{
	const struct dw_cfi_fde *fde = &s->entry.fde;

	if (dw_clone_read_fde(s->m, f, &s->entry) || fde->start != f->start)
		return false;
	dw_cfi_machine_init(&s->machine, &s->entry.cie, fde->start, fde->program, fde->program_n);
	s->end = f->start;
	return true;
}

void dw_free_stack_begin(struct dw_free_stack *s, const struct dw_clone_function *f)
{
	s->is_used = f->flags & DWELL_CLONE_COLD || s->is_entered[f - s->m->functions.v] ||
		     uses_red_zone(s->m, f);
	s->has_rows = open_rows(s, f);
}

const struct dw_cfi_rules *dw_free_stack_rules(struct dw_free_stack *s, uint64_t svma)
{
	uint64_t from;

	while (s->has_rows && s->end <= svma)
		s->has_rows = dw_cfi_machine_next(&s->machine, &from, &s->end) >= 0;
	return s->has_rows ? &s->machine.rules : NULL;
}

bool dw_free_stack_at(struct dw_free_stack *s, uint64_t svma)
{
	const struct dw_cfi_rules *rules = dw_free_stack_rules(s, svma);

	return !s->is_used && rules && !dw_leaving_below(rules);
}

void dw_free_stack_release(struct dw_free_stack *s)
{
	free(s->is_entered);
	*s = (struct dw_free_stack){0};
}
