/*
 * What the parts of the verifier that look at code share.
 *
 * The clone of one instruction is consumed from left to right. The first thing that is wrong stays;
 * nothing is consumed behind it that matters. Of indirect jumps (sequences that look targets up in
 * a map, and tables of clone addresses beside the module's) what is wrong is told as a static text,
 * NULL = nothing. One thread.
 */
#pragma once

#include "clone/trampolines/trampolines.h"
#include "clone/verify/state.h"
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

/* Consume a call of @trampoline. */
void dw_expect_trampoline(struct dw_verify_reader *r, enum dw_trampoline trampoline);

/* Consume a copy whose operand, if it has one relative to its place, leads to the same address. */
void dw_expect_copy(struct dw_verify_reader *r);

/* Consume the clone of a call, direct or indirect, with its trampolines, or of a system call. */
void dw_expect_call(struct dw_verify_reader *r);

/* Consume a probe that tells of the import that the instruction calls or jumps to by @trampoline.
 */
void dw_expect_import_trampoline(struct dw_verify_reader *r, enum dw_trampoline trampoline);

/* Consume the probe of a statement, if the instruction begins one. */
void dw_expect_statement(struct dw_verify_reader *r);

/* An instruction in the module, and all of its clone, which stands at area offset @at. */
struct dw_verify_pair {
	struct dw_verify *v;
	const struct dw_verify_function *f;
	struct dw_insn insn;
	const uint8_t *bytes;
	uint64_t svma;
	uint32_t at;
	uint32_t n; /* bytes of the clone */
};

/* Run the clone of an indirect jump for targets of all kinds; the way out without a hit must be the
 * module's own jump. */
const char *dw_verify_map_jump(const struct dw_verify_pair *p);

/* Check that the clone is a copy of the jump, or reads a table of clone addresses, with what such
 * tables need behind it. */
const char *dw_verify_table_jump(const struct dw_verify_pair *p);

/*
 * Check that the clone reads a table of clone addresses where the instruction reads one of the
 * module; *@n = its bytes. Notes where that table stands, for dw_verify_tables().
 */
const char *dw_verify_table_load(const struct dw_verify_pair *p, uint32_t *n);

/* Note that @n bytes of the area, from @svma on, belong to a map or table. 0 or -ENOMEM. */
int dw_verify_note(struct dw_verify *v, uint64_t svma, uint64_t n);

/* Check that all bytes of the part that holds maps and tables belong to one that was checked. 0 or
 * -ENOMEM. */
int dw_verify_tables(struct dw_verify *v);
