/*
 * DWARF expressions; see expr.h. Source: DWARF 5, 2.5.1 and 6.4.2 (which operations call frame
 * information may not use: those fail). Values are 64-bit, arithmetic wraps; comparisons, abs, div
 * and shra are signed, mod and shr unsigned, as the standard says.
 */
#include "code/cfi/expr.h"

#include "base/cursor.h"
#include "base/error.h"
#include "code/cfi/program.h"

#include <dwarf.h>
#include <string.h>

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

	if (reg >= DWELL_CFI_REGS)
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
