/*
 * One step outward by full call frame rules: expressions, signal frames, any register.
 *
 * The slow half of the unwinder; unwind.c takes it for rows that are not plain. Also reading of
 * target memory for both halves.
 */
#pragma once

#include "code/cfi/program.h"
#include "unwind/unwind.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Registers of the frame that a walk stands in. */
struct dw_unwind_state {
	uint64_t r[DWELL_REG_COUNT]; /* r[16]: where the frame executes, or its return address */
	uint32_t known;		     /* bit n: r[n] holds */
	bool exact;		     /* r[16] is no return address */
};

enum {
	DWELL_STEP_OK = -1,		 /* went one frame outward; else an enum dw_unwind_end */
	DWELL_STEP_NEEDS_REGISTERS = -2, /* a rule wants a register that is not known */
};

/* Make [@addr, @addr + 8) part of @m's bytes. False: cut. */
bool dw_unwind_extend(struct dw_unwind_memory *m, uint64_t addr);

/* Read the word at @addr. False: cut. */
static inline bool dw_unwind_read(struct dw_unwind_memory *m, uint64_t addr, uint64_t *ret)
{
	if (__builtin_expect(m->n < 8 || addr - m->base > m->n - 8, 0) &&
	    !dw_unwind_extend(m, addr))
		return false;
	memcpy(ret, m->bytes + (addr - m->base), 8);
	return true;
}

/*
 * Step by the rules of @table for @svma from @state, which becomes the caller's. *@cfa = the CFA
 * that was found. DWELL_STEP_OK, DWELL_STEP_NEEDS_REGISTERS or an enum dw_unwind_end; not OK
 * leaves @state as it was.
 */
int dw_unwind_step(const struct dw_cfi_table *table, uint64_t svma, struct dw_unwind_memory *memory,
		   struct dw_unwind_state *state, uint64_t *cfa);
