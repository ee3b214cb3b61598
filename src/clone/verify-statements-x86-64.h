/*
 * Probes of statements, as the verifier sees them: in front of the instructions that the image
 * lists, and nowhere else. Both inputs may be hostile.
 */
#pragma once

#include "clone/verify-reader-x86-64.h"
#include "clone/verify-state.h"

/* Where the stack pointer is lower than the function has it, area offsets. */
struct dw_verify_moved {
	uint32_t from, to;
};

/* Consume the probe of a statement, if the instruction begins one. */
void dw_expect_statement(struct dw_verify_reader *r);

/* Where the probe in front of instruction @i (in v->insns) moves the stack pointer by
 * DWELL_VERIFY_MOVE. Nowhere: both are equal. */
struct dw_verify_moved dw_verify_statement_moves(const struct dw_verify *v, uint32_t i);

enum { DWELL_VERIFY_MOVE = 128 };

/* Bytes of the probe in front of the instruction at @svma, 0 = none: branches of the same function
 * may go behind it. */
uint32_t dw_verify_statement_bytes(const struct dw_verify *v, uint64_t svma);

/* The list itself. */
void dw_verify_statements(struct dw_verify *v);
