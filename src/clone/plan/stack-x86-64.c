/*
 * What functions do with the stack pointer and with the word that holds their return address; see
 * plan.h.
 *
 * The unwind table says for every instruction where the CFA is; the return address stands 8 below.
 * An operand at that place through rsp or rbp is a use; so is moving rsp over it by anything but a
 * return. Putting another address there is none of a caller's affairs: the code goes elsewhere, as
 * it would by a jump. Functions that look at the word and may replace it, and do nothing else with
 * it, are unwinders (__builtin_eh_return) and switches of stacks, which serve clones as well: those
 * have unwind tables of their own. Code that copies rsp to other registers first is not followed:
 * compilers do that to align frames, and copy the word only for unwinders.
 *
 * Compilers load rsp where they give back arrays of variable size, from a register that it was
 * saved in or a word of the frame at rbp; everything else is taken for a switch of stacks, which at
 * worst makes a question of the probes slower. Known by bytes, since decoding operands of all code
 * takes long.
 */
#include "clone/plan/plan.h"
#include "code/decode/insn-x86-64.h"

#include <string.h>

enum {
	SLOT_BYTES = 8,
	LINE_MAX = 24,
	PREFIX_FS = 0x64,
	XOR = 0x30,
	OP_IMMEDIATE = 0x83,
	ROTATE = 0xc1,
	ROTATE_BY_1 = 0xd1,
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
	const struct dw_cfi_fde *fde = &r->entry.fde;

	if (dw_clone_read_fde(r->m, f, &r->entry))
		return false;
	w->m = r->m;
	w->f = f;
	w->has_more = true;
	dw_cfi_machine_init(&w->machine, &r->entry.cie, f->start, fde->program, fde->program_n);
	next_row(w);
	return true;
}

/* Mixing with other bits, as setjmp() hides pointers: xor, rotation. */
static bool is_mixing(const uint8_t *bytes)
{
	const uint8_t *op = (bytes[0] & 0xf0) == 0x40 ? bytes + 1 : bytes;

	if (op[0] == PREFIX_FS)
		op += (op[1] & 0xf0) == 0x40 ? 2 : 1;
	return (op[0] >= XOR && op[0] <= XOR + 5) || op[0] == ROTATE || op[0] == ROTATE_BY_1 ||
	       (op[0] == OP_IMMEDIATE && (op[1] >> 3 & 7) == XOR >> 3);
}

/* Whether the instruction computes with the values in @registers, or reads what they point to. */
static bool computes_with(const uint8_t *bytes, const struct dw_insn_detail *d, uint32_t registers)
{
	const struct dw_insn_memory *o = &d->memory;

	if (o->is_there && ((o->base != DWELL_NO_REGISTER && registers >> o->base & 1) ||
			    (o->index != DWELL_NO_REGISTER && registers >> o->index & 1)))
		return true;
	return d->reads & d->writes & registers && d->op != DWELL_OP_XCHG &&
	       d->op != DWELL_OP_PUSH && !is_mixing(bytes);
}

/* Read instruction @k of the function, the one behind that at *@at, which goes on to it. Its bytes,
 * NULL: they cannot be read. */
static const uint8_t *step(const struct walk *w, uint32_t k, uint64_t *at, struct dw_insn *insn,
			   struct dw_insn_detail *d)
{
	uint8_t n = w->m->insns.v[w->f->first + k].length;
	const uint8_t *bytes;

	*at += w->m->insns.v[w->f->first + k - 1].length;
	bytes = dw_clone_module_bytes(w->m, *at, n);
	return bytes && dw_insn_decode_detail(bytes, n, insn, d) ? bytes : NULL;
}

/* Follow the return address that instruction @i at @at puts into @reg, along the line. */
static unsigned follow_value(const struct walk *w, uint32_t i, uint64_t at, uint8_t reg)
{
	uint32_t registers = 1u << reg;

	for (uint32_t k = i + 1; registers && k < w->f->n && k - i < LINE_MAX; k++) {
		struct dw_insn_detail d;
		struct dw_insn insn;
		const uint8_t *bytes = step(w, k, &at, &insn, &d);

		if (!bytes)
			return DWELL_SLOT_CHANGED;
		if (insn.kind != DWELL_INSN_PLAIN && insn.kind != DWELL_INSN_BRANCH)
			break;
		if (computes_with(bytes, &d, registers))
			return DWELL_SLOT_CHANGED;
		if (d.op == DWELL_OP_MOV && d.to != DWELL_NO_REGISTER && !d.memory.is_there &&
		    d.from != DWELL_NO_REGISTER && registers >> d.from & 1)
			registers |= 1u << d.to;
		else if (!(d.reads & d.writes & registers))
			registers &= ~d.writes;
	}
	return DWELL_SLOT_READ;
}

/* What is done through the address of the slot that instruction @i at @at puts into @reg, along the
 * line: as the end of what lies below it, it harms nobody. */
static unsigned follow_address(const struct walk *w, uint32_t i, uint64_t at, uint8_t reg)
{
	for (uint32_t k = i + 1; k < w->f->n && k - i < LINE_MAX; k++) {
		struct dw_insn_detail d;
		struct dw_insn insn;

		if (!step(w, k, &at, &insn, &d))
			return DWELL_SLOT_CHANGED;
		if (d.memory.is_there && d.memory.base == reg && d.op != DWELL_OP_LEA &&
		    d.memory.disp < SLOT_BYTES && d.memory.disp + d.memory.bytes > 0)
			return d.memory.is_written ? DWELL_SLOT_CHANGED : DWELL_SLOT_READ;
		if (d.writes >> reg & 1 ||
		    (insn.kind != DWELL_INSN_PLAIN && insn.kind != DWELL_INSN_BRANCH))
			break;
	}
	return DWELL_SLOT_UNTOUCHED;
}

/* The instruction @i at @at has the slot as its operand. */
static unsigned operand_use(const struct walk *w, uint32_t i, uint64_t at)
{
	uint8_t n = w->m->insns.v[w->f->first + i].length;
	const uint8_t *bytes = dw_clone_module_bytes(w->m, at, n);
	struct dw_insn_detail d;
	struct dw_insn insn;

	if (!bytes || !dw_insn_decode_detail(bytes, n, &insn, &d))
		return DWELL_SLOT_CHANGED;
	if (d.op == DWELL_OP_LEA)
		return follow_address(w, i, at, d.to);
	if (insn.flags & DWELL_INSN_PREFIX && d.has_immediate && !d.immediate)
		return DWELL_SLOT_UNTOUCHED; /* a memory barrier */
	if (d.memory.is_written)
		return d.op == DWELL_OP_MOV && d.bytes == SLOT_BYTES ? DWELL_SLOT_UNTOUCHED
								     : DWELL_SLOT_CHANGED;
	if (d.op == DWELL_OP_NOP || !d.memory.is_read)
		return DWELL_SLOT_UNTOUCHED;
	if (d.to == DWELL_NO_REGISTER)
		return DWELL_SLOT_READ;
	return d.op == DWELL_OP_MOV ? follow_value(w, i, at, d.to) : DWELL_SLOT_CHANGED;
}

/* The register that the instruction pops the word at rsp into, DWELL_NO_REGISTER = it does not. */
static uint8_t popped_into(const uint8_t *bytes, uint8_t n)
{
	if (n == 1 && bytes[0] >= POP && bytes[0] <= POP_LAST)
		return bytes[0] - POP;
	if (n == 2 && bytes[0] == REX_B && bytes[1] >= POP && bytes[1] <= POP_LAST)
		return (uint8_t)(bytes[1] - POP + 8);
	return DWELL_NO_REGISTER;
}

/* The number in code of DWARF's register @reg, of rsp and rbp. */
static uint8_t number_of(uint8_t reg)
{
	return reg == DWELL_REG_SP ? 4 : reg == DWELL_REG_FP ? 5 : NO_ROW;
}

/* What instruction @i at @at does with the slot @below_cfa bytes below the CFA. */
static unsigned use_of(const struct walk *w, uint32_t i, uint64_t at, int64_t below_cfa)
{
	const struct dw_insn *insn = &w->m->insns.v[w->f->first + i];
	uint8_t flag = w->row.reg == DWELL_REG_SP   ? DWELL_INSN_SP
		       : w->row.reg == DWELL_REG_FP ? DWELL_INSN_FP
						    : 0;
	const uint8_t *bytes;
	uint8_t reg;

	if (flag && insn->flags & flag && !(insn->flags & DWELL_INSN_INDEX) &&
	    insn->value == w->row.offset - below_cfa)
		return operand_use(w, i, at);
	if (w->row.reg != DWELL_REG_SP || w->row.offset != below_cfa ||
	    insn->kind != DWELL_INSN_PLAIN)
		return DWELL_SLOT_UNTOUCHED;
	bytes = dw_clone_module_bytes(w->m, at, insn->length);
	reg = bytes ? popped_into(bytes, insn->length) : DWELL_NO_REGISTER;
	return reg == DWELL_NO_REGISTER ? DWELL_SLOT_UNTOUCHED : follow_value(w, i, at, reg);
}

/* Whether @f has a store of a whole word that may go to the slot: at a distance from it that a
 * register holds, as __builtin_eh_return stores where to go. */
static bool replaces(struct dw_slot_reader *r, const struct dw_clone_function *f)
{
	uint64_t at = f->start;
	struct walk w;

	if (!start(r, f, &w))
		return false;
	for (uint32_t i = 0; i < f->n; at += r->m->insns.v[f->first + i++].length) {
		uint8_t n = r->m->insns.v[f->first + i].length;
		const uint8_t *bytes = dw_clone_module_bytes(r->m, at, n);
		struct dw_insn_detail d;
		struct dw_insn insn;

		while (at >= w.row.to)
			next_row(&w);
		if (r->m->insns.v[f->first + i].flags & DWELL_INSN_INDEX && bytes &&
		    dw_insn_decode_detail(bytes, n, &insn, &d) && d.op == DWELL_OP_MOV &&
		    d.bytes == SLOT_BYTES && d.memory.is_written &&
		    d.memory.index != DWELL_NO_REGISTER && d.memory.scale == 1 &&
		    d.memory.base == number_of(w.row.reg) &&
		    d.memory.disp == w.row.offset - SLOT_BYTES)
			return true;
	}
	return false;
}

/* Whether nothing has called what @w is at the first row of: the kernel enters it, or jumps of what
 * has just become a thread, at the very top of its stack. */
static bool is_outermost(const struct walk *w)
{
	const struct dw_cfi_cie *cie = w->machine.cie;

	return cie->signal || w->machine.rules.r[cie->return_register].how == DWELL_CFI_UNDEFINED;
}

unsigned dw_slot_use(struct dw_slot_reader *r, const struct dw_clone_function *f, bool *by_kernel)
{
	unsigned ret = DWELL_SLOT_UNTOUCHED, when_called = 0;
	uint64_t at = f->start;
	int64_t top;
	struct walk w;

	*by_kernel = false;
	if (!start(r, f, &w))
		return DWELL_SLOT_UNTOUCHED;
	*by_kernel = is_outermost(&w);
	top = w.row.reg == DWELL_REG_SP ? w.row.offset : SLOT_BYTES;
	for (uint32_t i = 0; i < f->n; i++) {
		const struct dw_insn *insn = &r->m->insns.v[f->first + i];

		while (at >= w.row.to)
			next_row(&w);
		if (insn->flags & (DWELL_INSN_SP | DWELL_INSN_FP) || w.row.offset == SLOT_BYTES ||
		    w.row.offset == top) {
			ret |= use_of(&w, i, at, SLOT_BYTES);
			if (top != SLOT_BYTES)
				when_called |= use_of(&w, i, at, top);
		}
		at += insn->length;
	}
	if (ret == DWELL_SLOT_READ && replaces(r, f))
		ret = DWELL_SLOT_UNTOUCHED;
	return ret | when_called << DWELL_SLOT_WHEN_CALLED_SHIFT;
}

enum {
	RSP = 4,
	RBP = 5,
	REX = 0x40,
	REX_W = 8,
	REX_REG = 4,
	REX_RM = 1,
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
	uint8_t reg = (p[2] >> 3 & 7) | (rex & REX_REG) << 1, rm = (p[2] & 7) | (rex & REX_RM) << 3;

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
	bool is_reg = n > 2 && (p[2] >> 3 & 7) == RSP && !(p[0] & REX_REG);
	bool is_rm = n > 2 && p[2] >> 6 == IN_REGISTER && (p[2] & 7) == RSP && !(p[0] & REX_RM);

	if (n == 1)
		return p[0] == POP_RSP;
	if (!wide)
		return false;
	return (n == 2 && p[1] == XCHG_RAX_RSP && !(p[0] & REX_RM)) ||
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
