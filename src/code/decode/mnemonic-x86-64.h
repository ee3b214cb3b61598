/*
 * Names of instructions as GNU's assembler and objdump write them.
 */
#pragma once

#include <Zydis/Zydis.h>

#include <stdbool.h>

enum { DWELL_MNEMONIC_MAX_BYTES = 32 };

/*
 * Write the name of @in, without its prefixes, to @ret: in Intel's style with @intel, else with
 * AT&T's letters for the size of operands where no register tells it. @operands are those of @in.
 */
void dw_mnemonic(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands, bool intel,
		 char ret[DWELL_MNEMONIC_MAX_BYTES]);
