/*
 * Instructions as text, for people. Any thread may call; bytes may be hostile.
 */
#pragma once

#include "base/buf.h"
#include "code/decode/insn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Append the instruction at @bytes, of which @n can be read and which lies at @svma, as assemblers
 * of AT&T's kind write it, or of Intel's. False: not an instruction, nothing was appended.
 */
bool dw_insn_put(struct dw_buf *to, const uint8_t *bytes, size_t n, uint64_t svma, bool intel);
