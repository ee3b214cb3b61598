/*
 * Measuring what jumps-write-x86-64.c will write.
 */
#pragma once

#include "clone/jumps.h"

/* Set load_bytes and load_disp_at of @plan, whose load has the module bytes @bytes: an instruction
 * of one opcode byte with a memory operand that has an index. */
void dw_jump_load_measure(const uint8_t *bytes, struct dw_jump_plan *plan);
