/*
 * The table of opcodes; see opcodes.h. Ranges follow ECMA-335 III.1.2.1; a number that it leaves
 * out is no opcode, as the runtime's compiler refuses it too.
 */
#include "agent/clr/il/opcodes.h"

/* Opcodes of one byte. */
static const uint8_t operands[256] = {
	[0x00 ... 0x0d] = DWELL_IL_NONE, /* nop to stloc.3 */
	[0x0e ... 0x13] = DWELL_IL_ONE,	 /* ldarg.s to stloc.s */
	[0x14 ... 0x1e] = DWELL_IL_NONE, /* ldnull to ldc.i4.8 */
	[0x1f] = DWELL_IL_ONE,		 /* ldc.i4.s */
	[0x20] = DWELL_IL_FOUR,		 /* ldc.i4 */
	[0x21] = DWELL_IL_EIGHT,	 /* ldc.i8 */
	[0x22] = DWELL_IL_FOUR,		 /* ldc.r4 */
	[0x23] = DWELL_IL_EIGHT,	 /* ldc.r8 */
	[0x25 ... 0x26] = DWELL_IL_NONE, /* dup, pop */
	[0x27 ... 0x29] = DWELL_IL_FOUR, /* jmp, call, calli */
	[0x2a] = DWELL_IL_NONE,		 /* ret */
	[0x2b ... 0x37] = DWELL_IL_NEAR, /* br.s to blt.un.s */
	[0x38 ... 0x44] = DWELL_IL_FAR,	 /* br to blt.un */
	[0x45] = DWELL_IL_TABLE,	 /* switch */
	[0x46 ... 0x6e] = DWELL_IL_NONE, /* ldind.i1 to conv.u8 */
	[0x6f ... 0x75] = DWELL_IL_FOUR, /* callvirt to isinst */
	[0x76] = DWELL_IL_NONE,		 /* conv.r.un */
	[0x79] = DWELL_IL_FOUR,		 /* unbox */
	[0x7a] = DWELL_IL_NONE,		 /* throw */
	[0x7b ... 0x81] = DWELL_IL_FOUR, /* ldfld to stobj */
	[0x82 ... 0x8b] = DWELL_IL_NONE, /* conv.ovf.i1.un to conv.ovf.u.un */
	[0x8c ... 0x8d] = DWELL_IL_FOUR, /* box, newarr */
	[0x8e] = DWELL_IL_NONE,		 /* ldlen */
	[0x8f] = DWELL_IL_FOUR,		 /* ldelema */
	[0x90 ... 0xa2] = DWELL_IL_NONE, /* ldelem.i1 to stelem.ref */
	[0xa3 ... 0xa5] = DWELL_IL_FOUR, /* ldelem, stelem, unbox.any */
	[0xb3 ... 0xba] = DWELL_IL_NONE, /* conv.ovf.i1 to conv.ovf.u8 */
	[0xc2] = DWELL_IL_FOUR,		 /* refanyval */
	[0xc3] = DWELL_IL_NONE,		 /* ckfinite */
	[0xc6] = DWELL_IL_FOUR,		 /* mkrefany */
	[0xd0] = DWELL_IL_FOUR,		 /* ldtoken */
	[0xd1 ... 0xdc] = DWELL_IL_NONE, /* conv.u2 to endfinally */
	[0xdd] = DWELL_IL_FAR,		 /* leave */
	[0xde] = DWELL_IL_NEAR,		 /* leave.s */
	[0xdf ... 0xe0] = DWELL_IL_NONE, /* stind.i, conv.u */
};

/* The second byte of opcodes that begin with DWELL_IL_TWO_BYTES. */
static const uint8_t second_operands[] = {
	[0x00 ... 0x05] = DWELL_IL_NONE,	  /* arglist to clt.un */
	[0x06 ... 0x07] = DWELL_IL_FOUR,	  /* ldftn, ldvirtftn */
	[0x09 ... 0x0e] = DWELL_IL_TWO,		  /* ldarg to stloc */
	[0x0f] = DWELL_IL_NONE,			  /* localloc */
	[0x11] = DWELL_IL_NONE,			  /* endfilter */
	[0x12] = DWELL_IL_PREFIX | DWELL_IL_ONE,  /* unaligned. */
	[0x13] = DWELL_IL_PREFIX | DWELL_IL_NONE, /* volatile. */
	[0x14] = DWELL_IL_PREFIX | DWELL_IL_NONE, /* tail. */
	[0x15] = DWELL_IL_FOUR,			  /* initobj */
	[0x16] = DWELL_IL_PREFIX | DWELL_IL_FOUR, /* constrained. */
	[0x17 ... 0x18] = DWELL_IL_NONE,	  /* cpblk, initblk */
	[0x19] = DWELL_IL_PREFIX | DWELL_IL_ONE,  /* no. */
	[0x1a] = DWELL_IL_NONE,			  /* rethrow */
	[0x1c] = DWELL_IL_FOUR,			  /* sizeof */
	[0x1d] = DWELL_IL_NONE,			  /* refanytype */
	[0x1e] = DWELL_IL_PREFIX | DWELL_IL_NONE, /* readonly. */
};

static const uint8_t operand_bytes[] = {
	[DWELL_IL_NONE] = 0,  [DWELL_IL_ONE] = 1,  [DWELL_IL_TWO] = 2, [DWELL_IL_FOUR] = 4,
	[DWELL_IL_EIGHT] = 8, [DWELL_IL_NEAR] = 1, [DWELL_IL_FAR] = 4, [DWELL_IL_TABLE] = 4,
};

/* The opcode's row; its end in *@end. */
static uint32_t take_opcode(const uint8_t *code, uint32_t n, uint32_t at, uint32_t *opcode,
			    uint32_t *end)
{
	*opcode = code[at];
	*end = at + 1;
	if (*opcode != DWELL_IL_TWO_BYTES)
		return operands[*opcode];
	if (n - at < 2 || code[at + 1] >= sizeof(second_operands))
		return DWELL_IL_INVALID;
	*opcode = *opcode << 8 | code[at + 1];
	*end = at + 2;
	return second_operands[code[at + 1]];
}

bool dw_il_decode(const uint8_t *code, uint32_t n, uint32_t at, struct dw_il_instruction *ret)
{
	uint32_t opcode, end, row = take_opcode(code, n, at, &opcode, &end), bytes, count = 0;
	enum dw_il_operand operand = row & (DWELL_IL_PREFIX - 1);

	bytes = operand_bytes[operand];
	if (operand == DWELL_IL_INVALID || n - end < bytes)
		return false;
	*ret = (struct dw_il_instruction){.at = at,
					  .opcode = opcode,
					  .operand = operand,
					  .operand_at = end,
					  .is_prefix = (row & DWELL_IL_PREFIX) != 0};
	if (operand == DWELL_IL_TABLE) {
		count = (uint32_t)dw_il_get(code + end, 4);
		ret->operand_at = end + 4;
		if (count > (n - ret->operand_at) / 4)
			return false;
		bytes += count * 4;
	}
	ret->branches = operand == DWELL_IL_NEAR || operand == DWELL_IL_FAR ? 1 : count;
	ret->bytes = end + bytes - at;
	return true;
}

int64_t dw_il_target(const uint8_t *code, const struct dw_il_instruction *ins, uint32_t i)
{
	const uint8_t *at = code + ins->operand_at;
	int32_t distance =
		ins->operand == DWELL_IL_NEAR ? (int8_t)*at : (int32_t)dw_il_get(at + i * 4, 4);

	return (int64_t)ins->at + ins->bytes + distance;
}
