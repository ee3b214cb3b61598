/*
 * Loads of the stack pointer; see stack-pointer-x86-64.h.
 *
 * Compilers load it where they give back arrays of variable size, from a register that it was saved
 * in or a word of the frame at rbp; everything else is taken for a switch, which at worst makes a
 * question of the probes slower. Known by bytes, since decoding operands of all code takes long.
 */
#include "clone/stack-pointer-x86-64.h"

enum {
	RSP = 4,
	RBP = 5,
	REX = 0x40,
	REX_W = 8,
	REX_R = 4,
	REX_B = 1,
	MOV_TO = 0x89,
	MOV_FROM = 0x8b,
	XCHG = 0x87,
	XCHG_RAX_RSP = 0x94,
	POP_RSP = 0x5c,
	IN_REGISTER = 3,
	NO_REGISTER = 16,
	OF_CALLERS = 0x0fc7, /* registers that a call leaves nothing in: rax, rcx, rdx, rsi, rdi, r8
				to r11 */
};

/* A move of 8 bytes between registers, or of memory to a register. */
struct move {
	uint8_t to;
	uint8_t from; /* NO_REGISTER = memory */
	uint8_t base; /* of memory, as far as it matters: RBP or another */
};

/* Understand the bytes of a move with REX.W. */
static bool read_move(const uint8_t *p, struct move *ret)
{
	uint8_t rex = p[0], op = p[1], mod = p[2] >> 6;
	uint8_t reg = (p[2] >> 3 & 7) | (rex & REX_R) << 1, rm = (p[2] & 7) | (rex & REX_B) << 3;

	*ret = (struct move){.from = NO_REGISTER, .base = mod ? rm : NO_REGISTER};
	if (op == MOV_TO && mod == IN_REGISTER) {
		ret->to = rm;
		ret->from = reg;
		return true;
	}
	ret->to = reg;
	if (mod == IN_REGISTER)
		ret->from = rm;
	return op == MOV_FROM;
}

/* Whether the instruction of @n bytes at @p exchanges the stack pointer or pops it. */
static bool exchanges(const uint8_t *p, uint8_t n)
{
	bool wide = n > 1 && (p[0] & 0xf8) == (REX | REX_W);
	bool is_reg = n > 2 && (p[2] >> 3 & 7) == RSP && !(p[0] & REX_R);
	bool is_rm = n > 2 && p[2] >> 6 == IN_REGISTER && (p[2] & 7) == RSP && !(p[0] & REX_B);

	if (n == 1)
		return p[0] == POP_RSP;
	if (!wide)
		return false;
	return (n == 2 && p[1] == XCHG_RAX_RSP && !(p[0] & REX_B)) ||
	       (p[1] == XCHG && (is_reg || is_rm));
}

/* Registers, as bits. */
struct copies {
	uint32_t known; /* hold this stack's pointer, as far as loads of it are concerned */
	uint32_t fresh; /* have been given it, and nothing else since that is seen: may be copied on
			 */
};

/* Whether @move loads the stack pointer with what may be another stack's. */
static bool is_switch(const struct move *move, struct copies *c)
{
	bool is_copy =
		move->from == RSP || (move->from != NO_REGISTER && c->fresh >> move->from & 1);

	if (move->to == RSP)
		return move->from == NO_REGISTER ? move->base != RBP
						 : !is_copy && !(c->known >> move->from & 1);
	c->fresh &= ~(1u << move->to);
	if (is_copy) {
		c->fresh |= 1u << move->to;
		c->known |= 1u << move->to;
	}
	return false;
}

bool dw_switches_stacks(const struct dw_clone_module *m, const struct dw_clone_function *f)
{
	const uint8_t *p = dw_clone_module_bytes(m, f->start, f->end - f->start);
	struct copies copies = {.known = 1u << RBP};

	for (uint32_t i = f->first; p && i < f->first + f->n; p += m->insns.v[i++].length) {
		uint8_t n = m->insns.v[i].length, kind = m->insns.v[i].kind;
		struct move move;

		if (kind == DWELL_INSN_CALL || kind == DWELL_INSN_CALL_INDIRECT)
			copies.fresh &= ~(uint32_t)OF_CALLERS;
		if (kind != DWELL_INSN_PLAIN)
			continue;
		if (exchanges(p, n))
			return true;
		if (n >= 3 && (p[0] & 0xf8) == (REX | REX_W) && read_move(p, &move) &&
		    is_switch(&move, &copies))
			return true;
	}
	return false;
}
