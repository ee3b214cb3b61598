/*
 * Instructions of x86-64: what a mover of code must know beyond struct dw_insn, and on
 * request what they read and write (struct dw_insn_detail).
 *
 * The decoder is Zydis, which only src/code/decode sees.
 */
#pragma once

#include "code/decode/insn.h"

enum dw_insn_flag {
	DWELL_INSN_NOTRACK = 4,	 /* a notrack prefix */
	DWELL_INSN_INDEX = 32,	 /* with DWELL_INSN_SP or _FP: + an index */
	DWELL_INSN_SYSCALL = 64, /* the instruction syscall */
};

/*
 * The same by a short decoder of common instructions: the prefixes of padding and of 16-bit and
 * vector operations, REX, and an opcode of its table. Where it answers, it answers as
 * dw_insn_decode(). False: not common, or no instruction.
 */
bool dw_insn_decode_quick(const uint8_t *bytes, size_t n, struct dw_insn *ret);

/* General registers are told by their number in code: rax 0, rcx 1, rdx 2, rbx 3, rsp 4, rbp 5, ...
 * r15. */

/* Operations that data-flow questions need by name. */
enum dw_insn_op {
	DWELL_OP_OTHER,
	DWELL_OP_MOV, /* general register or memory, or immediate */
	DWELL_OP_MOVSXD,
	DWELL_OP_LEA,
	DWELL_OP_ADD,
	DWELL_OP_SUB,
	DWELL_OP_CMP,
	DWELL_OP_PUSH,
	DWELL_OP_POP,
	DWELL_OP_XCHG,
	DWELL_OP_NOP,
	DWELL_OP_SYSCALL,
};

struct dw_insn_memory {
	uint8_t base; /* DWELL_NO_REGISTER = none; rip operands have none and is_rip */
	uint8_t index;
	uint8_t scale; /* 1, 2, 4, 8 */
	uint8_t bytes; /* accessed, 0 = none (lea) or unknown */
	bool is_there;
	bool is_rip;
	bool is_read;
	bool is_written;
	bool has_segment; /* fs or gs */
	int64_t disp;	  /* for rip operands: the field */
};

struct dw_insn_detail {
	uint32_t reads; /* bit n: general register n, addresses included; partial writes read too */
	uint32_t writes;	/* bit n: may be changed */
	uint32_t flags_read;	/* of CF PF AF ZF SF OF, as bits of rflags */
	uint32_t flags_written; /* changed or undefined for certain */
	uint8_t op;		/* enum dw_insn_op */
	uint8_t to;    /* register written as first operand, DWELL_NO_REGISTER = memory or none */
	uint8_t from;  /* register that is the second operand, or the operand of jumps and calls */
	uint8_t bytes; /* operand size */
	bool has_immediate;
	int64_t immediate;
	struct dw_insn_memory memory;
};

/* As dw_insn_decode(), with what it reads and writes, some ten times slower. */
bool dw_insn_decode_detail(const uint8_t *bytes, size_t n, struct dw_insn *ret,
			   struct dw_insn_detail *detail);
