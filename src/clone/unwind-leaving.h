/*
 * Where a probed clone leaves its function, or moves its stack pointer for a probe: what its unwind
 * rows must say there.
 *
 * Before a return, a tail jump or the end, where the next function goes on, compilers have given
 * back all registers, but leave the rules that find them saved below the stack pointer: true, as
 * the words are still there, until the call of the leaving gate writes over them. From that call
 * on the registers are what they are.
 *
 * Probes of statements may move rsp down (statements-x86-64.h); a CFA that counts from it is that
 * much farther then.
 */
#pragma once

#include "clone/module.h"
#include "code/cfi/entry.h"

struct dw_leaving_walk {
	const struct dw_clone_module *m; /* laid out */
	const struct dw_clone_function *f;
	uint32_t next;	/* instruction */
	bool has_moved; /* its probe was told of */
	uint64_t at;	/* its svma */
	struct dw_cfi_machine machine;
	uint64_t row_end; /* svma; the machine's rules hold below */
};

/* One place: from @from to @to (area offsets) @registers (bit n: DWARF number n) have no rule, or
 * the CFA is rsp + @moved and rsp + @back behind it (@moved not 0). */
struct dw_leaving {
	uint32_t from;
	uint32_t to;
	uint32_t registers;
	uint32_t moved, back;
};

/* Start at the beginning of the clone of @f, whose entries are @cie and @fde, all borrowed. */
void dw_leaving_start(struct dw_leaving_walk *w, const struct dw_clone_module *m,
		      const struct dw_clone_function *f, const struct dw_cfi_cie *cie,
		      const struct dw_cfi_fde *fde);

/* The next place, ascending. False at the end, and for clones without probes. */
bool dw_leaving_next(struct dw_leaving_walk *w, struct dw_leaving *ret);

/* The registers that @rules find below the stack pointer, bit n: DWARF number n. */
uint32_t dw_leaving_below(const struct dw_cfi_rules *rules);
