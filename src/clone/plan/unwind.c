/*
 * Unwind tables of functions, as far as clones need them; see unwind.h. Sources: DWARF 5, 6.4.2;
 * LSB Core, "Exception Frames".
 *
 * Instructions of call frame programs are told by the form of their operands only; what they mean
 * is the business of src/code/cfi. Expressions that look at the program counter or hold addresses
 * would mean another thing in a clone (the table of a PLT does so): they are refused, as is all
 * that is not known.
 */
#include "clone/plan/unwind.h"

#include "clone/plan/plan.h"
#include "clone/read/lsda.h"

#include <dwarf.h>
#include <errno.h>

enum {
	PRIMARY_MASK = 0xc0,
	BASE_MASK = 0x70,
	FORMAT_MASK = 0x0f,
	PERSONALITIES_MAX = 16, /* of one module; real ones have three */
};

/* Pass over the operands of @op. False: not known, or about the program counter or an address. */
static bool skip_op(struct dw_cursor *c, uint8_t op)
{
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		dw_cursor_sleb(c);
		return op - DW_OP_breg0 != DWELL_REG_PC;
	}
	if ((op >= DW_OP_dup && op <= DW_OP_over) || (op >= DW_OP_swap && op <= DW_OP_plus) ||
	    (op >= DW_OP_shl && op <= DW_OP_xor) || (op >= DW_OP_eq && op <= DW_OP_ne) ||
	    (op >= DW_OP_lit0 && op <= DW_OP_lit31))
		return true;
	switch (op) {
	case DW_OP_deref:
	case DW_OP_nop:
		return true;
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_pick:
	case DW_OP_deref_size:
		dw_cursor_skip(c, 1);
		return true;
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_bra:
	case DW_OP_skip:
		dw_cursor_skip(c, 2);
		return true;
	case DW_OP_const4u:
	case DW_OP_const4s:
		dw_cursor_skip(c, 4);
		return true;
	case DW_OP_constu:
	case DW_OP_plus_uconst:
		dw_cursor_uleb(c);
		return true;
	case DW_OP_consts:
		dw_cursor_sleb(c);
		return true;
	case DW_OP_bregx:
		if (dw_cursor_uleb(c) == DWELL_REG_PC)
			return false;
		dw_cursor_sleb(c);
		return true;
	}
	return false;
}

/* Whether the DWARF expression of @n bytes at @ops means the same wherever the code lies. */
static bool expression_moves(const uint8_t *ops, size_t n)
{
	struct dw_cursor c;

	dw_cursor_init(&c, ops, n);
	while (dw_cursor_left(&c))
		if (!skip_op(&c, dw_cursor_u8(&c)))
			return false;
	return !c.failed;
}

void dw_frame_program_init(struct dw_frame_program *p, const struct dw_cfi_cie *cie, uint64_t start,
			   const uint8_t *program, size_t n)
{
	p->cie = cie;
	p->pc = start;
	dw_cursor_init(&p->c, program, n);
}

/* Pass over an expression with its length in front. */
static bool skip_expression(struct dw_cursor *c)
{
	uint64_t n = dw_cursor_uleb(c);
	const uint8_t *ops = dw_cursor_bytes(c, n);

	return ops && expression_moves(ops, n);
}

/* Pass over the operands of @op, which sets rules. False: not known, or refused. */
static bool skip_operands(struct dw_cursor *c, uint8_t op)
{
	switch (op) {
	case DW_CFA_nop:
	case DW_CFA_remember_state:
	case DW_CFA_restore_state:
		return true;
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_GNU_args_size:
		dw_cursor_uleb(c);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		dw_cursor_sleb(c);
		return true;
	case DW_CFA_offset_extended:
	case DW_CFA_register:
	case DW_CFA_def_cfa:
	case DW_CFA_val_offset:
	case DW_CFA_GNU_negative_offset_extended:
		dw_cursor_uleb(c);
		dw_cursor_uleb(c);
		return true;
	case DW_CFA_offset_extended_sf:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_val_offset_sf:
		dw_cursor_uleb(c);
		dw_cursor_sleb(c);
		return true;
	case DW_CFA_def_cfa_expression:
		return skip_expression(c);
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		dw_cursor_uleb(c);
		return skip_expression(c);
	}
	return false;
}

/* Whether @op moves the location; *@pc then gets the new one. */
static bool read_advance(struct dw_frame_program *p, uint8_t op, uint64_t *pc)
{
	uint64_t delta;

	if ((op & PRIMARY_MASK) == DW_CFA_advance_loc)
		delta = op & ~PRIMARY_MASK;
	else if (op == DW_CFA_advance_loc1)
		delta = dw_cursor_u8(&p->c);
	else if (op == DW_CFA_advance_loc2)
		delta = dw_cursor_u16(&p->c);
	else if (op == DW_CFA_advance_loc4)
		delta = dw_cursor_u32(&p->c);
	else
		return false;
	*pc += delta * p->cie->code_align;
	return true;
}

/* Whether @op sets the location, in the one encoding that has been seen anywhere. */
static bool read_location(struct dw_frame_program *p, uint8_t op, uint64_t *pc)
{
	if (op != DW_CFA_set_loc || p->cie->pointer_encoding != DW_EH_PE_absptr)
		return false;
	*pc = dw_cursor_u64(&p->c);
	return true;
}

enum dw_frame_part dw_frame_program_next(struct dw_frame_program *p, const uint8_t **bytes,
					 size_t *n)
{
	uint64_t pc = p->pc;
	bool is_row;
	uint8_t op;

	*bytes = p->c.pos;
	*n = 0;
	if (!dw_cursor_left(&p->c))
		return p->c.failed ? DWELL_FRAME_BAD : DWELL_FRAME_END;
	op = dw_cursor_u8(&p->c);
	is_row = read_advance(p, op, &pc) || read_location(p, op, &pc);
	if (!is_row && (op & PRIMARY_MASK) == DW_CFA_offset)
		dw_cursor_uleb(&p->c);
	else if (!is_row && (op & PRIMARY_MASK) != DW_CFA_restore && !skip_operands(&p->c, op))
		return DWELL_FRAME_BAD;
	if (p->c.failed || pc < p->pc)
		return DWELL_FRAME_BAD;
	*n = (size_t)(p->c.pos - *bytes);
	p->pc = pc;
	return is_row ? DWELL_FRAME_ROW : DWELL_FRAME_RULES;
}

uint32_t dw_unwind_saved_below(const struct dw_cfi_rules *rules)
{
	const struct dw_cfi_rule *cfa = &rules->cfa;
	uint32_t below = 0;

	if (cfa->how != DWELL_CFI_OFFSET || cfa->reg != DWELL_REG_SP)
		return 0;
	for (unsigned i = 0; i < DWELL_REG_PC; i++)
		if (i != DWELL_REG_SP && rules->r[i].how == DWELL_CFI_OFFSET &&
		    rules->r[i].offset + cfa->offset < 0)
			below |= 1u << i;
	return below;
}

int dw_unwind_read_entry(const struct dw_clone_module *m, const struct dw_clone_function *f,
			 struct dw_cfi_reading *r)
{
	return m->fdes.list.v[f->fde].kind == DWELL_CFI_EH ? dw_clone_read_fde(m, f, r)
							   : DWELL_ERR_UNSUPPORTED;
}

static bool is_absolute(uint8_t encoding)
{
	return (encoding & BASE_MASK) == DW_EH_PE_absptr;
}

/* Whether the loader fills in the personality in the table itself. */
static bool by_loader(const struct dw_clone_module *m, const struct dw_cfi_cie *cie)
{
	return !m->is_fixed && is_absolute(cie->personality_encoding);
}

uint64_t dw_unwind_personality(const struct dw_clone_module *m, const struct dw_cfi_cie *cie,
			       bool *indirect)
{
	*indirect = by_loader(m, cie) || cie->personality_encoding & DW_EH_PE_indirect;
	return by_loader(m, cie) ? m->sections[DWELL_CFI_EH].svma + cie->personality_at
				 : cie->personality;
}

/* Personalities that were looked up, by the address that leads to them. */
struct personalities {
	uint64_t svma[PERSONALITIES_MAX];
	bool known[PERSONALITIES_MAX];
	size_t n;
};

static bool personality_is_known(const struct dw_clone_module *m, struct personalities *p,
				 uint64_t svma)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->svma[i] == svma)
			return p->known[i];
	if (p->n == PERSONALITIES_MAX)
		return false;
	p->svma[p->n] = svma;
	p->known[p->n] = dw_personality_is_known(m->elf, svma);
	return p->known[p->n++];
}

/* Whether FDEs of @cie can be said of clones. */
static bool cie_moves(const struct dw_clone_module *m, const struct dw_cfi_cie *cie)
{
	struct dw_frame_program p;
	enum dw_frame_part part;
	const uint8_t *bytes;
	size_t n;

	if (cie->unknown || cie->return_register != DWELL_REG_PC)
		return false;
	if (cie->personality_encoding != DW_EH_PE_omit && by_loader(m, cie) &&
	    (cie->personality_encoding & FORMAT_MASK) != DW_EH_PE_absptr)
		return false;
	dw_frame_program_init(&p, cie, 0, cie->program, cie->program_n);
	do
		part = dw_frame_program_next(&p, &bytes, &n);
	while (part == DWELL_FRAME_RULES);
	return part == DWELL_FRAME_END;
}

/* Whether rows begin at instructions only, and the machine understands all of them. */
static bool rows_move(const struct dw_clone_module *m, const struct dw_clone_function *f,
		      const struct dw_cfi_reading *e)
{
	struct dw_frame_program p;
	struct dw_cfi_machine machine;
	enum dw_frame_part part;
	const uint8_t *bytes;
	uint64_t from, to;
	size_t n;
	int rc;

	if (e->cie.pointer_encoding == DW_EH_PE_absptr && !m->is_fixed)
		return false;
	dw_frame_program_init(&p, &e->cie, f->start, e->fde.program, e->fde.program_n);
	while ((part = dw_frame_program_next(&p, &bytes, &n)) > DWELL_FRAME_END)
		if (part == DWELL_FRAME_ROW && p.pc != f->end &&
		    dw_clone_insn_at(m, f, p.pc) == UINT32_MAX)
			return false;
	if (part != DWELL_FRAME_END)
		return false;
	dw_cfi_machine_init(&machine, &e->cie, f->start, e->fde.program, e->fde.program_n);
	while ((rc = dw_cfi_machine_next(&machine, &from, &to)) == 1)
		;
	return !rc;
}

/* What checking a module needs. */
struct check {
	struct dw_cfi_reading e;
	size_t cie_known; /* offset of the CIE that was looked at, + 1 */
	bool cie_moves;
	struct personalities personalities;
	struct dw_lsda lsda;
	DW_VEC(struct dw_clone_pad) pads; /* that matter to probes */
};

static int add_pads(struct check *c, uint32_t i)
{
	dw_vec_each(site, &c->lsda.sites)
		if (site->pad && dw_vec_push(&c->pads, (struct dw_clone_pad){i, site->pad}))
			return -ENOMEM;
	return 0;
}

/* Whether the LSDA of @f, if it has one, can be said of a clone. 1, 0, or -ENOMEM. */
static int lsda_moves(const struct dw_clone_module *m, const struct dw_clone_function *f,
		      struct check *c)
{
	const struct dw_cfi_cie *cie = &c->e.cie;
	bool indirect;
	int rc;

	if (cie->lsda_encoding != DW_EH_PE_omit && is_absolute(cie->lsda_encoding) && !m->is_fixed)
		return 0; /* the file does not tell it */
	if (!c->e.fde.lsda)
		return 1;
	if (c->e.fde.lsda == DWELL_CFI_LSDA_UNKNOWN || cie->personality_encoding == DW_EH_PE_omit ||
	    !personality_is_known(m, &c->personalities, dw_unwind_personality(m, cie, &indirect)))
		return 0;
	rc = dw_lsda_read(m, f, c->e.fde.lsda, &c->lsda);
	if (!rc && m->probes == DWELL_PROBES_TIME)
		rc = add_pads(c, (uint32_t)(f - m->functions.v));
	return rc == -ENOMEM ? rc : !rc;
}

/* 1 when the tables of @f can be said of its clone, 0 when not; -ENOMEM. */
static int moves(const struct dw_clone_module *m, const struct dw_clone_function *f,
		 struct check *c)
{
	if (dw_unwind_read_entry(m, f, &c->e))
		return 0;
	if (c->cie_known != c->e.cie_offset + 1) {
		c->cie_known = c->e.cie_offset + 1;
		c->cie_moves = cie_moves(m, &c->e.cie);
	}
	if (!c->cie_moves || c->e.fde.start != f->start || c->e.fde.end != f->end ||
	    !rows_move(m, f, &c->e))
		return 0;
	return lsda_moves(m, f, c);
}

/* All shares. */
struct checks {
	struct dw_clone_module *m;
	struct check of[DWELL_SHARES];
	int rc[DWELL_SHARES];
};

static void check_share(void *ctx, const struct dw_share *share)
{
	struct check c = {0};
	struct checks *all = ctx;
	int rc = 0;

	for (uint32_t i = share->first; i < share->end && rc >= 0; i++) {
		struct dw_clone_function *f = &all->m->functions.v[i];

		if (f->reason)
			continue;
		rc = moves(all->m, f, &c);
		if (!rc)
			f->reason = DWELL_LEFT_UNWIND;
	}
	dw_lsda_release(&c.lsda);
	all->of[share->k] = c;
	all->rc[share->k] = rc < 0 ? rc : 0;
}

int dw_clone_unwind_check(struct dw_clone_module *m)
{
	struct checks all = {.m = m};
	int rc = 0;

	dw_shares_run(m, check_share, &all);
	for (unsigned k = 0; k < DWELL_SHARES; k++) {
		rc = rc ? rc : all.rc[k];
		dw_vec_each(pad, &all.of[k].pads)
			rc = rc ? rc : dw_vec_push(&m->pads, *pad);
		dw_vec_release(&all.of[k].pads);
	}
	return rc;
}
