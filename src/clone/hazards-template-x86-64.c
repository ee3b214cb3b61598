/*
 * Templates; see hazards-template.h.
 *
 * Runtimes write small functions in assembly, copy them to memory of their own and fill in what
 * they lack. A copy of a patched entry would jump astray. Two things tell them, both of which code
 * that runs in place cannot have: in a position-independent module, a jump through a pointer that
 * lies in code, where no loader puts an address (the copy has data at that distance); an immediate
 * operand that is a placeholder for an address, bytes 0xf0 throughout (CoreCLR's write barriers).
 */
#include "clone/hazards-template.h"

#include <elf.h>
#include <string.h>

enum { REX_W = 0x48, REX_WB = 0x49, MOV_IMMEDIATE = 0xb8, REGISTERS = 8 };

static const uint8_t placeholder[] = {0xf0, 0xf0, 0xf0, 0xf0, 0xf0, 0xf0, 0xf0, 0xf0};

static void leave(struct dw_clone_function *f)
{
	if (f && !f->reason)
		f->reason = DWELL_LEFT_TEMPLATE;
}

static bool is_code(const struct dw_clone_module *m, uint64_t svma)
{
	dw_vec_each(s, &m->segments)
		if (s->flags & PF_X && !(s->flags & PF_W) && svma - s->svma < s->n)
			return true;
	return false;
}

/* Whether @f jumps through a pointer that lies in code. */
static bool jumps_through_code(const struct dw_clone_module *m, const struct dw_clone_function *f)
{
	uint64_t at = f->start;

	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		const struct dw_insn *insn = &m->insns.v[i];

		if (insn->kind == DWELL_INSN_JUMP_INDIRECT && insn->flags & DWELL_INSN_RIP &&
		    is_code(m, dw_insn_target(insn, at)))
			return true;
		at += insn->length;
	}
	return false;
}

/* Leave the functions of @s alone that load a placeholder. */
static void leave_placeholders(struct dw_clone_module *m, const struct dw_clone_segment *s)
{
	const uint8_t *from = s->bytes, *end = s->bytes + s->n;

	while ((from = memmem(from, (size_t)(end - from), placeholder, sizeof placeholder))) {
		if (from - s->bytes >= 2 && (from[-2] == REX_W || from[-2] == REX_WB) &&
		    from[-1] - MOV_IMMEDIATE >= 0 && from[-1] - MOV_IMMEDIATE < REGISTERS)
			leave(dw_clone_function_at(m, s->svma + (uint64_t)(from - s->bytes)));
		from++;
	}
}

void dw_templates_find(struct dw_clone_module *m)
{
	if (m->is_fixed)
		return;
	dw_vec_each(f, &m->functions)
		if (!f->reason && jumps_through_code(m, f))
			leave(f);
	dw_vec_each(s, &m->segments)
		if (s->flags & PF_X)
			leave_placeholders(m, s);
}
