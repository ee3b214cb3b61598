/*
 * Instructions: what they are to those who follow or move code, and as text for people.
 *
 * Pure functions of the bytes: any thread may call. Bytes may be hostile.
 */
#pragma once

#include "arch/registers.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dw_insn_kind {
	DWELL_INSN_PLAIN, /* goes on with the next */
	DWELL_INSN_CALL,  /* direct */
	DWELL_INSN_CALL_INDIRECT,
	DWELL_INSN_JUMP, /* direct */
	DWELL_INSN_JUMP_INDIRECT,
	DWELL_INSN_BRANCH, /* with a condition */
	DWELL_INSN_LOOP,   /* with a condition on a counter: short only */
	DWELL_INSN_RETURN, /* not a far one, which is OTHER */
	DWELL_INSN_STOP,   /* a trap that does not go on; a breakpoint may, and is PLAIN */
	DWELL_INSN_BEGIN,  /* of a transaction: falls through */
	DWELL_INSN_OTHER,  /* cannot be moved */
};

/* Of flags. */
enum {
	DWELL_INSN_RELATIVE = 1, /* a memory operand that stands at dw_insn_target() */
	DWELL_INSN_PREFIX = 2,	 /* also entered behind its first byte, a prefix (lock) */
	DWELL_INSN_SP = 8,	 /* one at the stack pointer + value */
	DWELL_INSN_FP = 16,	 /* the same at the frame pointer */
};

enum { DWELL_NO_REGISTER = 0xff }; /* among numbers of registers in code */

struct dw_insn {
	uint8_t length;
	uint8_t kind;	  /* enum dw_insn_kind */
	uint8_t field_at; /* offset of the relative field: the branch's, or of an operand; 0 =
			     none */
	uint8_t flags;	  /* the above, and those of the processor (insn-x86-64.h) */
	int32_t value;	  /* of that field, or a displacement from what the flags say */
};

/* Decode the instruction at @bytes, of which @n can be read. False: not an instruction. */
bool dw_insn_decode(const uint8_t *bytes, size_t n, struct dw_insn *ret);

/* Where the branch or relative operand of @insn at @svma leads. */
static inline uint64_t dw_insn_target(const struct dw_insn *insn, uint64_t svma)
{
	return svma + insn->length + (uint64_t)(int64_t)insn->value;
}

/*
 * Append the instruction at @bytes, of which @n can be read and which lies at @svma, as assemblers
 * of AT&T's kind write it, or of Intel's. False: not an instruction, nothing was appended.
 */
bool dw_insn_put(struct dw_buf *to, const uint8_t *bytes, size_t n, uint64_t svma, bool intel);
