/* Finding system calls that may have gates; see system-calls-x86-64.h. */
#include "clone/system-calls-x86-64.h"

#include "clone/unwind-leaving.h"
#include "code/cfi/entry.h"

#include <errno.h>
#include <stdlib.h>

static bool has_system_call(const struct dw_clone_module *m, const struct dw_clone_function *f)
{
	for (uint32_t i = f->first; i < f->first + f->n; i++)
		if (m->insns.v[i].flags & DWELL_INSN_SYSCALL)
			return true;
	return false;
}

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

/* The unwind rows of a function. */
struct rows {
	struct dw_cfi_cie cie;
	struct dw_cfi_fde fde;
	struct dw_cfi_machine machine;
	uint64_t end; /* of the machine's row */
};

static bool open_rows(const struct dw_clone_module *m, const struct dw_clone_function *f,
		      struct rows *r)
{
	const struct dw_cfi_fde_ref *ref = &m->fdes.list.v[f->fde];
	const struct dw_cfi_section *s = &m->sections[ref->kind];
	size_t offset = ref->offset;
	struct dw_cfi_entry e;

	if (dw_cfi_next_entry(s, &offset, &e) != 1 || e.is_cie ||
	    dw_cfi_read_cie(s, e.cie_offset, &r->cie) || dw_cfi_read_fde(s, &e, &r->cie, &r->fde) ||
	    r->fde.start != f->start)
		return false;
	dw_cfi_machine_init(&r->machine, &r->cie, r->fde.start, r->fde.program, r->fde.program_n);
	r->end = f->start;
	return true;
}

/* Whether the row of @svma, no lower than before, finds all registers above rsp. */
static bool is_above(struct rows *r, uint64_t svma)
{
	uint64_t from;

	while (r->end <= svma)
		if (dw_cfi_machine_next(&r->machine, &from, &r->end) < 0)
			return false;
	return !dw_leaving_below(&r->machine.rules);
}

static void mark(struct dw_clone_module *m, const struct dw_clone_function *f)
{
	uint64_t at = f->start;
	struct rows rows;

	if (uses_red_zone(m, f) || !open_rows(m, f, &rows))
		return;
	for (uint32_t i = f->first; i < f->first + f->n; at += m->insns.v[i++].length)
		if (m->insns.v[i].flags & DWELL_INSN_SYSCALL && is_above(&rows, at))
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
	bool *is_entered, any = false;

	if (m->probes != DWELL_PROBES_SYSTEM_CALLS && m->probes != DWELL_PROBES_TIME)
		return 0;
	is_entered = calloc(m->functions.n + 1, sizeof *is_entered);
	if (!is_entered)
		return -ENOMEM;
	dw_vec_each(f, &m->functions)
		any |= has_system_call(m, f);
	for (size_t i = 0; i < m->functions.n && any; i++)
		mark_entered(m, &m->functions.v[i], is_entered);
	dw_vec_each(f, &m->functions) {
		if (any && !f->reason && !(f->flags & DWELL_CLONE_COLD) &&
		    !is_entered[f - m->functions.v] && has_system_call(m, f))
			mark(m, f);
		if (!f->reason && m->probes == DWELL_PROBES_SYSTEM_CALLS && !is_marked(m, f))
			f->reason = DWELL_LEFT_NOT_CHOSEN;
	}
	free(is_entered);
	return 0;
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
