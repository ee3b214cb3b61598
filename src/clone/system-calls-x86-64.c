/* Finding system calls that may have gates; see system-calls-x86-64.h. */
#include "clone/system-calls-x86-64.h"

#include "clone/free-stack-x86-64.h"

static bool has_system_call(const struct dw_clone_module *m, const struct dw_clone_function *f)
{
	for (uint32_t i = f->first; i < f->first + f->n; i++)
		if (m->insns.v[i].flags & DWELL_INSN_SYSCALL)
			return true;
	return false;
}

static void mark(struct dw_clone_module *m, const struct dw_clone_function *f,
		 struct dw_free_stack *stack)
{
	uint64_t at = f->start;

	dw_free_stack_begin(stack, f);
	for (uint32_t i = f->first; i < f->first + f->n; at += m->insns.v[i++].length)
		if (m->insns.v[i].flags & DWELL_INSN_SYSCALL && dw_free_stack_at(stack, at))
			m->marks.v[i] |= DWELL_MARK_SYSTEM_CALL;
}

static bool is_marked(const struct dw_clone_module *m, const struct dw_clone_function *f)
{
	for (uint32_t i = f->first; i < f->first + f->n; i++)
		if (m->marks.v[i] & DWELL_MARK_SYSTEM_CALL)
			return true;
	return false;
}

int dw_system_calls_find(struct dw_clone_module *m)
{
	struct dw_free_stack stack = {0};
	bool any = false;
	int rc = 0;

	if (m->probes != DWELL_PROBES_SYSTEM_CALLS && m->probes != DWELL_PROBES_TIME)
		return 0;
	dw_vec_each(f, &m->functions)
		any |= has_system_call(m, f);
	if (any)
		rc = dw_free_stack_init(&stack, m);
	dw_vec_each(f, &m->functions) {
		if (any && !rc && !f->reason && has_system_call(m, f))
			mark(m, f, &stack);
		if (!f->reason && m->probes == DWELL_PROBES_SYSTEM_CALLS && !is_marked(m, f))
			f->reason = DWELL_LEFT_NOT_CHOSEN;
	}
	dw_free_stack_release(&stack);
	return rc;
}

void dw_system_calls_count(struct dw_clone_module *m)
{
	m->system_calls = m->system_calls_left = 0;
	dw_vec_each(f, &m->functions)
		for (uint32_t i = f->first; i < f->first + f->n; i++) {
			bool is_call = m->insns.v[i].flags & DWELL_INSN_SYSCALL;
			bool has_gates = !f->reason && m->marks.v[i] & DWELL_MARK_SYSTEM_CALL;

			m->system_calls += is_call && has_gates;
			m->system_calls_left += is_call && !has_gates;
		}
}
