/*
 * Reading call frame programs; see frame-program.h. Source: DWARF 5, 6.4.2; LSB Core.
 *
 * Instructions are told by the form of their operands only; what they mean is the business of
 * src/code/cfi. Expressions that look at the program counter or hold addresses would mean another
 * thing in a clone (the table of a PLT does so): they are refused, as is all that is not known.
 */
#include "clone/frame-program.h"

#include <dwarf.h>

enum { PRIMARY_MASK = 0xc0, RETURN_ADDRESS = 16 };

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

	return ops && dw_frame_expression_moves(ops, n);
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

/* Pass over the operands of @op. False: not known, or about the program counter or an address. */
static bool skip_op(struct dw_cursor *c, uint8_t op)
{
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		dw_cursor_sleb(c);
		return op - DW_OP_breg0 != RETURN_ADDRESS;
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
		if (dw_cursor_uleb(c) == RETURN_ADDRESS)
			return false;
		dw_cursor_sleb(c);
		return true;
	}
	return false;
}

bool dw_frame_expression_moves(const uint8_t *ops, size_t n)
{
	struct dw_cursor c;

	dw_cursor_init(&c, ops, n);
	while (dw_cursor_left(&c))
		if (!skip_op(&c, dw_cursor_u8(&c)))
			return false;
	return !c.failed;
}
