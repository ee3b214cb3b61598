/*
 * Consuming the clone of one instruction from left to right: what the parts of the verifier that
 * look at code share. The first thing that is wrong stays; nothing is consumed behind it that
 * matters.
 */
#pragma once

#include "clone/gates.h"
#include "clone/verify-state.h"
#include "code/decode/insn-x86-64.h"

/* One instruction and the part of its clone that was not yet looked at. */
struct dw_verify_reader {
	struct dw_verify *v;
	const struct dw_verify_function *f;
	struct dw_insn insn;
	const uint8_t *bytes; /* in the module */
	uint64_t svma;
	const uint8_t *p; /* in the clone */
	uint32_t at;	  /* area offset of p */
	uint32_t left;
	bool is_last;	   /* of its function */
	const char *wrong; /* what was found first */
};

/* Note that something is wrong. @what is static. */
void dw_expect_fail(struct dw_verify_reader *r, const char *what);

/* Pass over @n bytes, which are there. */
void dw_expect_skip(struct dw_verify_reader *r, uint32_t n);

/* Consume exactly the @n bytes at @want. */
void dw_expect(struct dw_verify_reader *r, const void *want, uint32_t n, const char *what);

/* Consume exactly the byte @want. */
void dw_expect_byte(struct dw_verify_reader *r, uint8_t want, const char *what);

/* Consume a 32-bit distance that ends its instruction. The svma it leads to. */
uint64_t dw_expect_any_target(struct dw_verify_reader *r);

/* Consume a call of @gate. */
void dw_expect_gate(struct dw_verify_reader *r, enum dw_gate gate);

/* Consume a copy whose operand, if it has one relative to its place, leads to the same address. */
void dw_expect_copy(struct dw_verify_reader *r);

/* Consume the clone of a call, direct or indirect, with its gates, or of a system call. */
void dw_expect_call(struct dw_verify_reader *r);

/* Consume a probe that tells of the import that the instruction calls or jumps to by @gate. */
void dw_expect_import_gate(struct dw_verify_reader *r, enum dw_gate gate);
