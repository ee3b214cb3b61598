/*
 * The decoder on Zydis; see insn-x86-64.h.
 *
 * Movers of code need lengths and relative fields of millions of instructions, so the plain way
 * asks a short decoder of common instructions first, then Zydis in its minimal mode, which finds
 * the mnemonic and the raw parts but no operands. Near
 * branches with an operand-size prefix and no REX.W mean different things to Intel and AMD and
 * count as OTHER; so do operands at eip + value.
 */
#include "code/decode/insn-x86-64.h"

#include <Zydis/Zydis.h>
#include <string.h>

enum {
	RSP = 4,
	RBP = 5,
	REX_W = 8,
	PREFIX_LOCK = 0xf0,
	PREFIX_NOTRACK = 0x3e,
	FAR_OPCODE_FIRST = 3
};

static const ZydisDecoder fast = {
	.machine_mode = ZYDIS_MACHINE_MODE_LONG_64,
	.stack_width = ZYDIS_STACK_WIDTH_64,
	.decoder_mode = {[ZYDIS_DECODER_MODE_MINIMAL] = true,
			 [ZYDIS_DECODER_MODE_MPX] = true,
			 [ZYDIS_DECODER_MODE_CET] = true,
			 [ZYDIS_DECODER_MODE_LZCNT] = true,
			 [ZYDIS_DECODER_MODE_TZCNT] = true,
			 [ZYDIS_DECODER_MODE_WBNOINVD] = true,
			 [ZYDIS_DECODER_MODE_CLDEMOTE] = true},
};

static const ZydisDecoder whole = {
	.machine_mode = ZYDIS_MACHINE_MODE_LONG_64,
	.stack_width = ZYDIS_STACK_WIDTH_64,
	.decoder_mode = {[ZYDIS_DECODER_MODE_MPX] = true,
			 [ZYDIS_DECODER_MODE_CET] = true,
			 [ZYDIS_DECODER_MODE_LZCNT] = true,
			 [ZYDIS_DECODER_MODE_TZCNT] = true,
			 [ZYDIS_DECODER_MODE_WBNOINVD] = true,
			 [ZYDIS_DECODER_MODE_CLDEMOTE] = true},
};

static bool has_prefix(const ZydisDecodedInstruction *in, uint8_t value)
{
	for (unsigned i = 0; i < in->raw.prefix_count; i++)
		if (in->raw.prefixes[i].value == value)
			return true;
	return false;
}

static bool is_far(const ZydisDecodedInstruction *in)
{
	/* ff /3 and ff /5; 9a and ea do not exist in 64-bit mode. */
	return in->raw.modrm.reg == FAR_OPCODE_FIRST || in->raw.modrm.reg == FAR_OPCODE_FIRST + 2;
}

static enum dw_insn_kind branch_kind(const ZydisDecodedInstruction *in)
{
	bool relative = in->raw.imm[0].is_relative;

	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_CALL:
		return relative	    ? DWELL_INSN_CALL
		       : is_far(in) ? DWELL_INSN_OTHER
				    : DWELL_INSN_CALL_INDIRECT;
	case ZYDIS_MNEMONIC_JMP:
		return relative	    ? DWELL_INSN_JUMP
		       : is_far(in) ? DWELL_INSN_OTHER
				    : DWELL_INSN_JUMP_INDIRECT;
	case ZYDIS_MNEMONIC_LOOP:
	case ZYDIS_MNEMONIC_LOOPE:
	case ZYDIS_MNEMONIC_LOOPNE:
	case ZYDIS_MNEMONIC_JRCXZ:
	case ZYDIS_MNEMONIC_JECXZ:
		return DWELL_INSN_LOOP;
	case ZYDIS_MNEMONIC_XBEGIN:
		return DWELL_INSN_BEGIN;
	case ZYDIS_MNEMONIC_RET: /* cb and ca: far */
		return in->opcode & 8 ? DWELL_INSN_OTHER : DWELL_INSN_RETURN;
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_SYSEXIT:
		return DWELL_INSN_OTHER;
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
		return DWELL_INSN_STOP;
	default:
		return relative ? DWELL_INSN_BRANCH : DWELL_INSN_PLAIN;
	}
}

static bool has_rip_operand(const ZydisDecodedInstruction *in)
{
	return in->attributes & ZYDIS_ATTRIB_HAS_MODRM && in->raw.modrm.mod == 0 &&
	       in->raw.modrm.rm == 5;
}

/* DWELL_INSN_SP or DWELL_INSN_FP, and DWELL_INSN_INDEX, by the memory operand of @in. */
static uint8_t stack_operand(const ZydisDecodedInstruction *in)
{
	bool has_rex = in->attributes & ZYDIS_ATTRIB_HAS_REX;
	uint8_t mod = in->raw.modrm.mod, base = in->raw.modrm.rm, ret = 0;

	if (!(in->attributes & ZYDIS_ATTRIB_HAS_MODRM) || mod == 3 || (has_rex && in->raw.rex.B))
		return 0;
	if (base == RSP) { /* a SIB byte */
		base = in->raw.sib.base;
		if (in->raw.sib.index != RSP || (has_rex && in->raw.rex.X))
			ret = DWELL_INSN_INDEX;
	}
	if (base == RSP)
		return ret | DWELL_INSN_SP;
	return base == RBP && mod ? ret | DWELL_INSN_FP : 0;
}

static void describe(const uint8_t *bytes, const ZydisDecodedInstruction *in, struct dw_insn *ret)
{
	bool narrow =
		has_prefix(in, 0x66) && !(in->raw.rex.W && in->attributes & ZYDIS_ATTRIB_HAS_REX);

	*ret = (struct dw_insn){.length = in->length, .kind = (uint8_t)branch_kind(in)};
	if (in->raw.imm[0].is_relative) {
		ret->field_at = in->raw.imm[0].offset;
		ret->value = (int32_t)in->raw.imm[0].value.s;
		if (narrow || (in->raw.imm[0].size != 32 && in->raw.imm[0].size != 8))
			ret->kind = DWELL_INSN_OTHER;
	} else if (has_rip_operand(in)) {
		ret->field_at = in->raw.disp.offset;
		ret->value = (int32_t)in->raw.disp.value;
		ret->flags |= DWELL_INSN_RELATIVE;
		if (in->address_width != 64)
			ret->kind = DWELL_INSN_OTHER;
	}
	if (!ret->field_at && stack_operand(in)) {
		ret->flags |= stack_operand(in);
		ret->value = (int32_t)in->raw.disp.value;
	}
	if (narrow && (ret->kind == DWELL_INSN_RETURN || ret->kind == DWELL_INSN_CALL_INDIRECT ||
		       ret->kind == DWELL_INSN_JUMP_INDIRECT))
		ret->kind = DWELL_INSN_OTHER;
	if (in->mnemonic == ZYDIS_MNEMONIC_SYSCALL)
		ret->flags |= DWELL_INSN_SYSCALL;
	if (bytes[0] == PREFIX_LOCK)
		ret->flags |= DWELL_INSN_PREFIX;
	if ((ret->kind == DWELL_INSN_CALL_INDIRECT || ret->kind == DWELL_INSN_JUMP_INDIRECT) &&
	    has_prefix(in, PREFIX_NOTRACK))
		ret->flags |= DWELL_INSN_NOTRACK;
}

bool dw_insn_decode(const uint8_t *bytes, size_t n, struct dw_insn *ret)
{
	ZydisDecodedInstruction in;
	ZydisDecoderContext context;

	if (dw_insn_decode_quick(bytes, n, ret))
		return true;
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&fast, &context, bytes, n, &in)))
		return false;
	describe(bytes, &in, ret);
	return true;
}

/* The number of the general register that @reg is, or is a part of. */
static uint8_t general(ZydisRegister reg)
{
	ZydisRegister all = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (all < ZYDIS_REGISTER_RAX || all > ZYDIS_REGISTER_R15)
		return DWELL_NO_REGISTER;
	return (uint8_t)(all - ZYDIS_REGISTER_RAX);
}

static uint32_t general_bit(ZydisRegister reg)
{
	uint8_t number = general(reg);

	return number == DWELL_NO_REGISTER ? 0 : 1u << number;
}

static void add_register(const ZydisDecodedOperand *o, struct dw_insn_detail *d)
{
	uint32_t bit = general_bit(o->reg.value);

	/* 32-bit writes clear the upper half; shorter ones keep the rest. */
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ ||
	    o->actions & ZYDIS_OPERAND_ACTION_CONDWRITE ||
	    (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE && o->size < 32))
		d->reads |= bit;
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		d->writes |= bit;
}

static void add_memory(const ZydisDecodedOperand *o, struct dw_insn_detail *d)
{
	struct dw_insn_memory *m = &d->memory;

	d->reads |= general_bit(o->mem.base) | general_bit(o->mem.index);
	if (m->is_there || o->visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
		return;
	m->is_there = true;
	m->is_rip = o->mem.base == ZYDIS_REGISTER_RIP;
	m->base = general(o->mem.base);
	m->index = general(o->mem.index);
	m->scale = o->mem.scale ? o->mem.scale : 1;
	m->bytes = o->mem.type == ZYDIS_MEMOP_TYPE_AGEN || o->size / 8 > UINT8_MAX
			   ? 0
			   : (uint8_t)(o->size / 8);
	m->is_read = o->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	m->is_written = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	m->has_segment = o->mem.segment == ZYDIS_REGISTER_FS || o->mem.segment == ZYDIS_REGISTER_GS;
	m->disp = o->mem.disp.value;
}

static enum dw_insn_op operation(const ZydisDecodedInstruction *in)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		return DWELL_OP_MOV;
	case ZYDIS_MNEMONIC_MOVSXD:
		return DWELL_OP_MOVSXD;
	case ZYDIS_MNEMONIC_LEA:
		return DWELL_OP_LEA;
	case ZYDIS_MNEMONIC_ADD:
		return DWELL_OP_ADD;
	case ZYDIS_MNEMONIC_SUB:
		return DWELL_OP_SUB;
	case ZYDIS_MNEMONIC_CMP:
		return DWELL_OP_CMP;
	case ZYDIS_MNEMONIC_PUSH:
		return DWELL_OP_PUSH;
	case ZYDIS_MNEMONIC_POP:
		return DWELL_OP_POP;
	case ZYDIS_MNEMONIC_XCHG:
		return DWELL_OP_XCHG;
	case ZYDIS_MNEMONIC_NOP:
	case ZYDIS_MNEMONIC_ENDBR64:
		return DWELL_OP_NOP;
	case ZYDIS_MNEMONIC_SYSCALL:
		return DWELL_OP_SYSCALL;
	default:
		return DWELL_OP_OTHER;
	}
}

/* Whether @in may leave the flags as they were: a count of zero, by register or by rep. */
static bool may_keep_flags(const ZydisDecodedInstruction *in)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_ROL:
	case ZYDIS_MNEMONIC_ROR:
	case ZYDIS_MNEMONIC_RCL:
	case ZYDIS_MNEMONIC_RCR:
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
	case ZYDIS_MNEMONIC_SHLD:
	case ZYDIS_MNEMONIC_SHRD:
		return !in->raw.imm[0].size || !(in->raw.imm[0].value.u & 0x1f);
	default:
		return in->attributes &
		       (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
	}
}

static void add_flags(const ZydisDecodedInstruction *in, struct dw_insn_detail *d)
{
	const uint32_t arithmetic = ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF |
				    ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF;
	const ZydisAccessedFlags *f = in->cpu_flags;

	if (!f)
		return;
	d->flags_read = f->tested & arithmetic;
	if (!may_keep_flags(in))
		d->flags_written = (f->modified | f->set_0 | f->set_1 | f->undefined) & arithmetic;
}

/* The first two visible operands. */
static void add_operands(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *o,
			 struct dw_insn_detail *d)
{
	int registers = 0;

	for (unsigned i = 0; i < in->operand_count_visible; i++) {
		if (o[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && !o[i].imm.is_relative) {
			d->has_immediate = true;
			d->immediate = o[i].imm.value.s;
		} else if (o[i].type == ZYDIS_OPERAND_TYPE_REGISTER) {
			bool is_target = i == 0 && o[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;

			if (is_target)
				d->to = general(o[i].reg.value);
			else if (registers++ == 0)
				d->from = general(o[i].reg.value);
		}
	}
}

bool dw_insn_decode_detail(const uint8_t *bytes, size_t n, struct dw_insn *ret,
			   struct dw_insn_detail *d)
{
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&whole, bytes, n, &in, o)))
		return false;
	describe(bytes, &in, ret);
	memset(d, 0, sizeof *d);
	d->op = (uint8_t)operation(&in);
	d->to = d->from = d->memory.base = d->memory.index = DWELL_NO_REGISTER;
	d->bytes = in.operand_width / 8;
	for (unsigned i = 0; i < in.operand_count; i++) {
		if (o[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
			add_register(&o[i], d);
		else if (o[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			add_memory(&o[i], d);
	}
	if (in.mnemonic == ZYDIS_MNEMONIC_BSF || in.mnemonic == ZYDIS_MNEMONIC_BSR)
		d->reads |= d->writes; /* the target stays when the source is zero */
	add_flags(&in, d);
	add_operands(&in, o, d);
	return true;
}
