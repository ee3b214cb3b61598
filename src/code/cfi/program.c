/*
 * Call frame instructions and expressions; see program.h. Sources: DWARF 5, 6.4.2 and 2.5.1; GNU
 * extensions as in LSB Core.
 *
 * Registers past the return address (vector state) have their operands read and are forgotten.
 * Restoring a state restores the CFA too, as compilers expect.
 *
 * Operations that call frame information may not use fail. Values are 64-bit, arithmetic wraps;
 * comparisons, abs, div and shra are signed, mod and shr unsigned, as the standard says.
 */
#include "code/cfi/program.h"

#include "base/cursor.h"
#include "base/error.h"

#include <dwarf.h>
#include <string.h>

enum {
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
	CFA_ADVANCE_LOC = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_PRIMARY_MASK = 0xc0,
};

static void set_rule(struct dw_cfi_machine *m, uint64_t reg, struct dw_cfi_rule rule)
{
	if (reg < DWELL_REG_COUNT)
		m->rules.r[reg] = rule;
}

static struct dw_cfi_rule offset_rule(enum dw_cfi_how how, int64_t offset)
{
	return (struct dw_cfi_rule){.how = (uint8_t)how, .offset = offset};
}

/* @factored in units of the data alignment; hostile products wrap. */
static int64_t scaled(const struct dw_cfi_machine *m, uint64_t factored)
{
	return (int64_t)(factored * (uint64_t)m->cie->data_align);
}

static struct dw_cfi_rule expression_rule(struct dw_cfi_machine *m, enum dw_cfi_how how)
{
	uint64_t n = dw_cursor_uleb(&m->c);
	const uint8_t *ops = dw_cursor_bytes(&m->c, n);

	if (n > UINT32_MAX)
		m->c.failed = true;
	return (struct dw_cfi_rule){.how = (uint8_t)how, .ops_n = (uint32_t)n, .ops = ops};
}

static void restore_register(struct dw_cfi_machine *m, uint64_t reg)
{
	if (reg < DWELL_REG_COUNT)
		m->rules.r[reg] = m->cie->initial.r[reg];
}

static void define_cfa(struct dw_cfi_machine *m, uint64_t reg, int64_t offset)
{
	m->rules.cfa = offset_rule(DWELL_CFI_OFFSET, offset);
	m->rules.cfa.reg = reg < DWELL_REG_COUNT ? (uint8_t)reg : DWELL_REG_COUNT;
}

/* Change one half of a CFA of register and offset; there must be one. */
static void change_cfa(struct dw_cfi_machine *m, bool reg, uint64_t value)
{
	if (m->rules.cfa.how != DWELL_CFI_OFFSET)
		m->c.failed = true;
	else if (reg)
		define_cfa(m, value, m->rules.cfa.offset);
	else
		m->rules.cfa.offset = (int64_t)value;
}

static void remember(struct dw_cfi_machine *m, bool restore)
{
	if (restore ? !m->depth : m->depth == DWELL_CFI_REMEMBER_MAX)
		m->c.failed = true;
	else if (restore)
		m->rules = m->remembered[--m->depth];
	else
		m->remembered[m->depth++] = m->rules;
}

/* Instructions about the CFA and the state as a whole. False: none of them. */
static bool run_state(struct dw_cfi_machine *m, uint8_t op)
{
	struct dw_cursor *c = &m->c;
	uint64_t reg;

	switch (op) {
	case CFA_NOP:
		return true;
	case CFA_GNU_ARGS_SIZE:
		dw_cursor_uleb(c);
		return true;
	case CFA_REMEMBER_STATE:
	case CFA_RESTORE_STATE:
		remember(m, op == CFA_RESTORE_STATE);
		return true;
	case CFA_DEF_CFA:
		reg = dw_cursor_uleb(c);
		define_cfa(m, reg, (int64_t)dw_cursor_uleb(c));
		return true;
	case CFA_DEF_CFA_SF:
		reg = dw_cursor_uleb(c);
		define_cfa(m, reg, scaled(m, (uint64_t)dw_cursor_sleb(c)));
		return true;
	case CFA_DEF_CFA_REGISTER:
		change_cfa(m, true, dw_cursor_uleb(c));
		return true;
	case CFA_DEF_CFA_OFFSET:
		change_cfa(m, false, dw_cursor_uleb(c));
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		change_cfa(m, false, (uint64_t)scaled(m, (uint64_t)dw_cursor_sleb(c)));
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		m->rules.cfa = expression_rule(m, DWELL_CFI_VAL_EXPRESSION);
		return true;
	}
	return false;
}

/* Instructions about register @reg, which was read already. False: there is no such instruction. */
static bool run_register(struct dw_cfi_machine *m, uint8_t op, uint64_t reg)
{
	struct dw_cursor *c = &m->c;
	bool val = op == CFA_VAL_OFFSET || op == CFA_VAL_OFFSET_SF;
	enum dw_cfi_how how = val ? DWELL_CFI_VAL_OFFSET : DWELL_CFI_OFFSET;

	switch (op) {
	case CFA_OFFSET_EXTENDED:
	case CFA_VAL_OFFSET:
		set_rule(m, reg, offset_rule(how, scaled(m, dw_cursor_uleb(c))));
		return true;
	case CFA_OFFSET_EXTENDED_SF:
	case CFA_VAL_OFFSET_SF:
		set_rule(m, reg, offset_rule(how, scaled(m, (uint64_t)dw_cursor_sleb(c))));
		return true;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		set_rule(m, reg, offset_rule(how, scaled(m, -dw_cursor_uleb(c))));
		return true;
	case CFA_RESTORE_EXTENDED:
		restore_register(m, reg);
		return true;
	case CFA_UNDEFINED:
		set_rule(m, reg, (struct dw_cfi_rule){.how = DWELL_CFI_UNDEFINED});
		return true;
	case CFA_SAME_VALUE:
		set_rule(m, reg, (struct dw_cfi_rule){.how = DWELL_CFI_SAME});
		return true;
	case CFA_REGISTER: {
		uint64_t from = dw_cursor_uleb(c);

		if (from >= DWELL_REG_COUNT)
			set_rule(m, reg, (struct dw_cfi_rule){.how = DWELL_CFI_UNDEFINED});
		else
			set_rule(m, reg,
				 (struct dw_cfi_rule){.how = DWELL_CFI_REGISTER,
						      .reg = (uint8_t)from});
		return true;
	}
	case CFA_EXPRESSION:
		set_rule(m, reg, expression_rule(m, DWELL_CFI_EXPRESSION));
		return true;
	case CFA_VAL_EXPRESSION:
		set_rule(m, reg, expression_rule(m, DWELL_CFI_VAL_EXPRESSION));
		return true;
	}
	return false;
}

/* Run @op if it does not move the location. */
static void run(struct dw_cfi_machine *m, uint8_t op)
{
	uint64_t low = op & ~CFA_PRIMARY_MASK;

	if ((op & CFA_PRIMARY_MASK) == CFA_OFFSET)
		set_rule(m, low, offset_rule(DWELL_CFI_OFFSET, scaled(m, dw_cursor_uleb(&m->c))));
	else if ((op & CFA_PRIMARY_MASK) == CFA_RESTORE)
		restore_register(m, low);
	else if (!run_state(m, op) && !run_register(m, op, dw_cursor_uleb(&m->c)))
		m->c.failed = true;
}

/* Whether @op moves the location; *@pc then gets the new one. */
static bool run_advance(struct dw_cfi_machine *m, uint8_t op, uint64_t *pc)
{
	uint64_t delta;

	if ((op & CFA_PRIMARY_MASK) == CFA_ADVANCE_LOC)
		delta = op & ~CFA_PRIMARY_MASK;
	else if (op == CFA_ADVANCE_LOC1)
		delta = dw_cursor_u8(&m->c);
	else if (op == CFA_ADVANCE_LOC2)
		delta = dw_cursor_u16(&m->c);
	else if (op == CFA_ADVANCE_LOC4)
		delta = dw_cursor_u32(&m->c);
	else
		return false;
	*pc += delta * m->cie->code_align;
	return true;
}

/* Jump to an absolute location. Only the plain encoding has been seen anywhere: others fail. */
static void set_location(struct dw_cfi_machine *m, uint64_t *pc)
{
	uint64_t to = dw_cursor_u64(&m->c);

	if (m->cie->pointer_encoding || to < *pc)
		m->c.failed = true;
	else
		*pc = to;
}

int dw_cfi_machine_next(struct dw_cfi_machine *m, uint64_t *from, uint64_t *to)
{
	uint64_t pc = m->pc;

	*from = pc;
	while (dw_cursor_left(&m->c)) {
		uint8_t op = dw_cursor_u8(&m->c);

		if (op == CFA_SET_LOC)
			set_location(m, &pc);
		else if (!run_advance(m, op, &pc))
			run(m, op);
		if (m->c.failed || pc < m->pc)
			return DWELL_ERR_FORMAT;
		if (pc > m->pc) {
			m->pc = *to = pc;
			return 1;
		}
	}
	*to = ~(uint64_t)0;
	return m->c.failed ? DWELL_ERR_FORMAT : 0;
}

void dw_cfi_machine_init(struct dw_cfi_machine *m, const struct dw_cfi_cie *cie, uint64_t start,
			 const uint8_t *program, size_t n)
{
	m->cie = cie;
	m->pc = start;
	m->rules = cie->initial;
	m->depth = 0;
	dw_cursor_init(&m->c, program, n);
}

int dw_cfi_run_initial(struct dw_cfi_cie *cie, const uint8_t *program, size_t n)
{
	struct dw_cfi_machine m;
	uint64_t from, to;
	int rc;

	memset(&cie->initial, 0, sizeof cie->initial);
	dw_cfi_machine_init(&m, cie, 0, program, n);
	rc = dw_cfi_machine_next(&m, &from, &to);
	if (rc)
		return DWELL_ERR_FORMAT; /* also an advance, which makes no sense here */
	cie->initial = m.rules;
	return 0;
}

enum { STACK_MAX = 64, STEPS_MAX = 1000 };

struct machine {
	const struct dw_cfi_context *context;
	struct dw_cursor c;
	uint64_t stack[STACK_MAX];
	unsigned n;
	int rc; /* first failure */
};

static void push(struct machine *m, uint64_t v)
{
	if (m->n == STACK_MAX)
		m->rc = DWELL_ERR_FORMAT;
	else
		m->stack[m->n++] = v;
}

static uint64_t pop(struct machine *m)
{
	if (!m->n) {
		m->rc = DWELL_ERR_FORMAT;
		return 0;
	}
	return m->stack[--m->n];
}

/* Push the element @index below the top. */
static void pick(struct machine *m, unsigned index)
{
	if (index >= m->n)
		m->rc = DWELL_ERR_FORMAT;
	else
		push(m, m->stack[m->n - 1 - index]);
}

/* Rotate the top @n elements: the top one goes below the others. */
static void rotate(struct machine *m, unsigned n)
{
	uint64_t top;

	if (m->n < n) {
		m->rc = DWELL_ERR_FORMAT;
		return;
	}
	top = m->stack[m->n - 1];
	memmove(&m->stack[m->n - n + 1], &m->stack[m->n - n], (n - 1) * sizeof top);
	m->stack[m->n - n] = top;
}

static void push_register(struct machine *m, uint64_t reg)
{
	int64_t offset = dw_cursor_sleb(&m->c);

	if (reg >= DWELL_REG_COUNT)
		m->rc = DWELL_ERR_FORMAT;
	else if (!(m->context->known >> reg & 1))
		m->rc = DWELL_ERR_NOT_FOUND;
	else
		push(m, m->context->r[reg] + (uint64_t)offset);
}

static void deref(struct machine *m, unsigned bytes)
{
	uint64_t v = 0, addr = pop(m);

	if (m->rc)
		return;
	if (bytes < 1 || bytes > 8) {
		m->rc = DWELL_ERR_FORMAT;
		return;
	}
	m->rc = m->context->read(m->context->ctx, addr, &v);
	push(m, bytes == 8 ? v : v & (((uint64_t)1 << 8 * bytes) - 1));
}

/* Move by a signed distance of two bytes, if @taken. */
static void branch(struct machine *m, bool taken)
{
	int16_t distance = (int16_t)dw_cursor_u16(&m->c);
	int64_t to = (int64_t)dw_cursor_offset(&m->c) + distance;

	if (!taken)
		return;
	if (to < 0)
		m->rc = DWELL_ERR_FORMAT;
	else
		dw_cursor_seek(&m->c, (size_t)to);
}

/* Operations that push a constant. False: none of them. */
static bool run_constant(struct machine *m, uint8_t op)
{
	struct dw_cursor *c = &m->c;

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		push(m, op - DW_OP_lit0);
	else if (op == DW_OP_addr || op == DW_OP_const8u || op == DW_OP_const8s)
		push(m, dw_cursor_u64(c));
	else if (op == DW_OP_const1u)
		push(m, dw_cursor_u8(c));
	else if (op == DW_OP_const1s)
		push(m, (uint64_t)(int64_t)(int8_t)dw_cursor_u8(c));
	else if (op == DW_OP_const2u)
		push(m, dw_cursor_u16(c));
	else if (op == DW_OP_const2s)
		push(m, (uint64_t)(int64_t)(int16_t)dw_cursor_u16(c));
	else if (op == DW_OP_const4u)
		push(m, dw_cursor_u32(c));
	else if (op == DW_OP_const4s)
		push(m, (uint64_t)(int64_t)(int32_t)dw_cursor_u32(c));
	else if (op == DW_OP_constu)
		push(m, dw_cursor_uleb(c));
	else if (op == DW_OP_consts)
		push(m, (uint64_t)dw_cursor_sleb(c));
	else
		return false;
	return true;
}

/* @a / @b, signed; the two cases that the processor refuses fail. */
static uint64_t divide(struct machine *m, int64_t a, int64_t b)
{
	if (!b || (b == -1 && a == INT64_MIN)) {
		m->rc = DWELL_ERR_FORMAT;
		return 0;
	}
	return (uint64_t)(a / b);
}

/* Operations on the top two elements, @a being the lower one. False: none of them. */
static bool run_binary(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
	case DW_OP_and:
		return push(m, a & b), true;
	case DW_OP_or:
		return push(m, a | b), true;
	case DW_OP_xor:
		return push(m, a ^ b), true;
	case DW_OP_plus:
		return push(m, a + b), true;
	case DW_OP_minus:
		return push(m, a - b), true;
	case DW_OP_mul:
		return push(m, a * b), true;
	case DW_OP_div:
		return push(m, divide(m, sa, sb)), true;
	case DW_OP_mod:
		if (!b)
			m->rc = DWELL_ERR_FORMAT;
		return push(m, b ? a % b : 0), true;
	case DW_OP_shl:
		return push(m, b < 64 ? a << b : 0), true;
	case DW_OP_shr:
		return push(m, b < 64 ? a >> b : 0), true;
	case DW_OP_shra:
		return push(m, (uint64_t)(sa >> (b < 64 ? b : 63))), true;
	case DW_OP_eq:
		return push(m, a == b), true;
	case DW_OP_ne:
		return push(m, a != b), true;
	case DW_OP_lt:
		return push(m, sa < sb), true;
	case DW_OP_le:
		return push(m, sa <= sb), true;
	case DW_OP_gt:
		return push(m, sa > sb), true;
	case DW_OP_ge:
		return push(m, sa >= sb), true;
	}
	return false;
}

/* Operations on the top element and on the stack itself. False: none of them. */
static bool run_unary(struct machine *m, uint8_t op)
{
	int64_t v;

	switch (op) {
	case DW_OP_nop:
		return true;
	case DW_OP_dup:
		return pick(m, 0), true;
	case DW_OP_drop:
		return pop(m), true;
	case DW_OP_over:
		return pick(m, 1), true;
	case DW_OP_pick:
		return pick(m, dw_cursor_u8(&m->c)), true;
	case DW_OP_swap:
		return rotate(m, 2), true;
	case DW_OP_rot:
		return rotate(m, 3), true;
	case DW_OP_deref:
		return deref(m, 8), true;
	case DW_OP_deref_size:
		return deref(m, dw_cursor_u8(&m->c)), true;
	case DW_OP_abs:
		v = (int64_t)pop(m);
		return push(m, v < 0 ? -(uint64_t)v : (uint64_t)v), true;
	case DW_OP_neg:
		return push(m, -pop(m)), true;
	case DW_OP_not:
		return push(m, ~pop(m)), true;
	case DW_OP_plus_uconst:
		return push(m, pop(m) + dw_cursor_uleb(&m->c)), true;
	case DW_OP_skip:
		return branch(m, true), true;
	case DW_OP_bra:
		return branch(m, pop(m)), true;
	}
	return false;
}

static void step(struct machine *m, uint8_t op)
{
	uint64_t b;

	if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
		push_register(m, op - DW_OP_breg0);
	else if (op == DW_OP_bregx)
		push_register(m, dw_cursor_uleb(&m->c));
	else if (!run_constant(m, op) && !run_unary(m, op)) {
		b = pop(m);
		if (!run_binary(m, op, pop(m), b))
			m->rc = DWELL_ERR_FORMAT;
	}
}

int dw_cfi_eval(const uint8_t *ops, size_t n, const struct dw_cfi_context *context,
		const uint64_t *initial, uint64_t *ret)
{
	struct machine m;

	m.context = context;
	m.n = 0;
	m.rc = 0;
	dw_cursor_init(&m.c, ops, n);
	if (initial)
		push(&m, *initial);
	for (int steps = 0; !m.rc && dw_cursor_left(&m.c); steps++) {
		step(&m, dw_cursor_u8(&m.c));
		if (steps == STEPS_MAX || m.c.failed)
			return DWELL_ERR_FORMAT;
	}
	*ret = m.rc ? 0 : pop(&m);
	return m.rc;
}
