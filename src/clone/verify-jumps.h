/*
 * Translated indirect jumps for the verifier: sequences that look targets up in a map, and tables
 * of clone addresses beside the module's.
 *
 * What is wrong is told as a static text, NULL = nothing. One thread.
 */
#pragma once

#include "clone/verify-state.h"
#include "code/decode/insn-x86-64.h"

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

/* A place in the code, and registers (bit n) and flags (above DWELL_VERIFY_FLAGS_SHIFT) that hold
 * other values there than in the module. */
struct dw_verify_left {
	uint64_t svma;
	uint32_t left;
};

enum { DWELL_VERIFY_FLAGS_SHIFT = 16 };

/* Whether code of @f from @svma on surely reads some of @left before it writes it. 1, 0 or -ENOMEM.
 */
int dw_verify_is_read(const struct dw_verify *v, const struct dw_verify_function *f, uint64_t svma,
		      uint32_t left);

/* Note that @n bytes of the area, from @svma on, belong to a map or table. 0 or -ENOMEM. */
int dw_verify_note(struct dw_verify *v, uint64_t svma, uint64_t n);

/* Check that all bytes of the part that holds maps and tables belong to one that was checked. 0 or
 * -ENOMEM. */
int dw_verify_tables(struct dw_verify *v);
