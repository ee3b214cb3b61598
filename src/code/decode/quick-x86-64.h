/*
 * A short decoder for the instructions that most code is made of; the rest is Zydis's.
 */
#pragma once

#include "code/decode/insn.h"

/*
 * Decode the instruction at @bytes, of which @n can be read, when it is a common one: the
 * prefixes of padding and of 16-bit and vector operations, REX, and an opcode of the table. Where
 * it answers, it answers as dw_insn_decode(). False: not common, or no instruction.
 */
bool dw_insn_decode_quick(const uint8_t *bytes, size_t n, struct dw_insn *ret);
