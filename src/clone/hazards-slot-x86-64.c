/*
 * Uses of the return slot; see hazards-slot-x86-64.h.
 *
 * The unwind table says for every instruction where the CFA is; the return address stands 8 below.
 * An operand at that place through rsp or rbp is a use; so is moving rsp over it by anything but a
 * return. Code that copies rsp to other registers first is not followed: compilers do that to
 * align frames, and copy the word only for unwinders.
 */
#include "clone/hazards-slot-x86-64.h"

#include <string.h>

enum {
	SLOT_BYTES = 8,
	LINE_MAX = 24,
	POP = 0x58,
	POP_LAST = 0x5f,
	REX_B = 0x41,
	NO_ROW = UINT8_MAX,
};

/* Where the CFA is from @from on: register @reg (DWARF's number) + @offset. */
struct row {
	uint64_t from;
	uint64_t to;
	uint8_t reg; /* NO_ROW = not known in this form */
	int64_t offset;
};

struct walk {
	const struct dw_clone_module *m;
	const struct dw_clone_function *f;
	struct dw_cfi_machine machine;
	struct row row;
	bool has_more;
};

static void next_row(struct walk *w)
{
	const struct dw_cfi_rule *cfa = &w->machine.rules.cfa;
	int rc = w->has_more ? dw_cfi_machine_next(&w->machine, &w->row.from, &w->row.to) : -1;

	w->has_more = rc == 1;
	if (rc <= 0)
		w->row.to = UINT64_MAX;
	w->row.reg = NO_ROW;
	if (rc < 0)
		return;
	if (cfa->how == DWELL_CFI_OFFSET) {
		w->row.reg = cfa->reg;
		w->row.offset = cfa->offset;
	}
}

static bool start(struct dw_slot_reader *r, const struct dw_clone_function *f, struct walk *w)
{
	const struct dw_cfi_fde_ref *ref = &r->m->fdes.list.v[f->fde];
	const struct dw_cfi_section *s = &r->m->sections[ref->kind];
	size_t offset = ref->offset;
	struct dw_cfi_entry entry;
	struct dw_cfi_fde fde;

	if (dw_cfi_next_entry(s, &offset, &entry) != 1 || entry.is_cie)
		return false;
	if (entry.cie_offset != r->cie_offset) {
		r->cie_offset = SIZE_MAX;
		if (dw_cfi_read_cie(s, entry.cie_offset, &r->cie))
			return false;
		r->cie_offset = entry.cie_offset;
	}
	if (dw_cfi_read_fde(s, &entry, &r->cie, &fde))
		return false;
	w->m = r->m;
	w->f = f;
	w->has_more = true;
	dw_cfi_machine_init(&w->machine, &r->cie, f->start, fde.program, fde.program_n);
	next_row(w);
	return true;
}

/* Whether the instruction uses the loaded value @reg as more than a number to keep. */
static bool computes_with(const struct dw_insn *insn, const struct dw_insn_detail *d, uint8_t reg)
{
	if (!(d->reads >> reg & 1))
		return false;
	if (d->memory.is_there && (d->memory.base == reg || d->memory.index == reg))
		return true;
	if (insn->kind != DWELL_INSN_PLAIN)
		return insn->kind == DWELL_INSN_JUMP_INDIRECT ||
		       (insn->kind == DWELL_INSN_CALL_INDIRECT && d->from == reg);
	return d->writes >> reg & 1 && d->op != DWELL_OP_MOV;
}

/* Follow the return address that instruction @i at @at loads into @reg. */
static unsigned follow_value(const struct walk *w, uint32_t i, uint64_t at, uint8_t reg)
{
	for (uint32_t k = i + 1; k < w->f->n && k - i < LINE_MAX; k++) {
		struct dw_insn_detail d;
		const uint8_t *bytes;
		struct dw_insn insn;

		at += w->m->insns.v[w->f->first + k - 1].length;
		bytes = dw_clone_module_bytes(w->m, at, w->m->insns.v[w->f->first + k].length);
		if (!bytes || !dw_insn_decode_detail(bytes, DWELL_INSN_BYTES_MAX, &insn, &d))
			return DWELL_SLOT_CHANGED;
		if (computes_with(&insn, &d, reg))
			return DWELL_SLOT_CHANGED;
		if (d.writes >> reg & 1 || insn.kind == DWELL_INSN_CALL ||
		    insn.kind == DWELL_INSN_CALL_INDIRECT || insn.kind == DWELL_INSN_RETURN)
			return DWELL_SLOT_READ;
	}
	return DWELL_SLOT_READ;
}

/* The instruction @i at @at has the slot as its operand. */
static unsigned operand_use(const struct walk *w, uint32_t i, uint64_t at)
{
	uint8_t n = w->m->insns.v[w->f->first + i].length;
	const uint8_t *bytes = dw_clone_module_bytes(w->m, at, n);
	struct dw_insn_detail d;
	struct dw_insn insn;

	if (!bytes || !dw_insn_decode_detail(bytes, n, &insn, &d) || d.memory.is_written ||
	    d.op == DWELL_OP_LEA || insn.kind == DWELL_INSN_JUMP_INDIRECT ||
	    insn.kind == DWELL_INSN_CALL_INDIRECT)
		return DWELL_SLOT_CHANGED;
	if (d.op == DWELL_OP_NOP || !d.memory.is_read)
		return DWELL_SLOT_UNTOUCHED;
	if (d.to == DWELL_NO_REGISTER)
		return DWELL_SLOT_READ;
	return d.op == DWELL_OP_MOV ? follow_value(w, i, at, d.to) : DWELL_SLOT_CHANGED;
}

/* Whether the instruction at @bytes takes the word at rsp off the stack. */
static bool pops(const uint8_t *bytes, uint8_t n)
{
	static const uint8_t add_rsp[] = {0x48, 0x83, 0xc4};

	if (n == 1)
		return bytes[0] >= POP && bytes[0] <= POP_LAST;
	if (n == 2)
		return bytes[0] == REX_B && bytes[1] >= POP && bytes[1] <= POP_LAST;
	return n == 4 && !memcmp(bytes, add_rsp, sizeof add_rsp) && (int8_t)bytes[3] > 0;
}

static unsigned use_of(const struct walk *w, uint32_t i, uint64_t at)
{
	const struct dw_insn *insn = &w->m->insns.v[w->f->first + i];
	uint8_t flag = w->row.reg == DWELL_CFI_RSP   ? DWELL_INSN_RSP
		       : w->row.reg == DWELL_CFI_RBP ? DWELL_INSN_RBP
						     : 0;
	const uint8_t *bytes;

	if (flag && insn->flags & flag && insn->value == w->row.offset - SLOT_BYTES)
		return operand_use(w, i, at);
	if (w->row.reg != DWELL_CFI_RSP || w->row.offset != SLOT_BYTES ||
	    insn->kind != DWELL_INSN_PLAIN)
		return DWELL_SLOT_UNTOUCHED;
	bytes = dw_clone_module_bytes(w->m, at, insn->length);
	return bytes && pops(bytes, insn->length) ? DWELL_SLOT_CHANGED : DWELL_SLOT_UNTOUCHED;
}

unsigned dw_slot_use(struct dw_slot_reader *r, const struct dw_clone_function *f, bool *by_kernel)
{
	unsigned ret = DWELL_SLOT_UNTOUCHED;
	uint64_t at = f->start;
	struct walk w;

	*by_kernel = false;
	if (!start(r, f, &w))
		return DWELL_SLOT_UNTOUCHED;
	*by_kernel = r->cie.signal;
	for (uint32_t i = 0; i < f->n; i++) {
		while (at >= w.row.to)
			next_row(&w);
		ret |= use_of(&w, i, at);
		at += r->m->insns.v[f->first + i].length;
	}
	return ret;
}
