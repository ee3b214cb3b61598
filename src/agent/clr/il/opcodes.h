/*
 * Instructions of the runtime's intermediate language (IL), as ECMA-335 part III numbers them: how
 * long each is, and what a rewriter must know of it. [async-signal-safe] [any-thread]
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum dw_il_opcode {
	DWELL_IL_LDC_I4 = 0x20,
	DWELL_IL_LDC_I8 = 0x21,
	DWELL_IL_JMP = 0x27,
	DWELL_IL_CALL = 0x28,
	DWELL_IL_CALLI = 0x29,
	DWELL_IL_RET = 0x2a,
	DWELL_IL_BR_S = 0x2b,
	DWELL_IL_BR = 0x38,
	DWELL_IL_SWITCH = 0x45,
	DWELL_IL_CALLVIRT = 0x6f,
	DWELL_IL_CONV_I = 0xd3,
	DWELL_IL_CONV_U = 0xe0,
	DWELL_IL_LEAVE = 0xdd,
	DWELL_IL_LEAVE_S = 0xde,
	DWELL_IL_TWO_BYTES = 0xfe, /* the opcode's first byte: numbers from 0xfe00 */
	DWELL_IL_TAIL = 0xfe14,
};

/* What follows an opcode. */
enum dw_il_operand {
	DWELL_IL_INVALID, /* no opcode */
	DWELL_IL_NONE,
	DWELL_IL_ONE, /* bytes that stay as they are */
	DWELL_IL_TWO,
	DWELL_IL_FOUR,
	DWELL_IL_EIGHT,
	DWELL_IL_NEAR,	/* a distance of one byte from the next instruction */
	DWELL_IL_FAR,	/* one of four bytes */
	DWELL_IL_TABLE, /* a number and so many of these */
};

/* Added to what follows a prefix, which belongs to the next instruction. */
enum { DWELL_IL_PREFIX = 0x10 };

/* One instruction; a prefix counts as one. */
struct dw_il_instruction {
	uint32_t at, bytes; /* in the code */
	uint32_t opcode;
	enum dw_il_operand operand;
	uint32_t operand_at; /* in the code; of a table its first distance */
	uint32_t branches;   /* distances, one after the other */
	bool is_prefix;
};

/* Decode the instruction at @at, before the end of the @n bytes of @code. False: there is none
 * whole. */
bool dw_il_decode(const uint8_t *code, uint32_t n, uint32_t at, struct dw_il_instruction *ret);

/* Where its branch @i leads, a distance from the code's beginning that may lie outside it. */
int64_t dw_il_target(const uint8_t *code, const struct dw_il_instruction *ins, uint32_t i);

/* The @bytes (1 to 8) at @at, lowest first. */
static inline uint64_t dw_il_get(const uint8_t *at, uint32_t bytes)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << i * 8;
	return value;
}
