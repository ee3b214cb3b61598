/*
 * DWARF expressions as call frame information uses them: a stack machine over registers and memory.
 *
 * Programs come from hostile files: steps and stack are bounded, every operand is checked.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What an expression may look at. */
struct dw_cfi_context {
	const uint64_t *r; /* by DWARF number, DWELL_CFI_REGS of them; 16 = the program counter */
	uint32_t known;	   /* bit n: r[n] holds */
	/* Read 8 bytes of the target at @addr. 0 or a negative code that the evaluation passes on.
	 */
	int (*read)(void *ctx, uint64_t addr, uint64_t *ret);
	void *ctx;
};

/*
 * Run the @n bytes at @ops. @initial (NULL = nothing) is pushed first. *@ret = the top of the stack
 * at the end. 0; DWELL_ERR_FORMAT; DWELL_ERR_NOT_FOUND (needs a register that is not known); what
 * context->read() returned.
 */
int dw_cfi_eval(const uint8_t *ops, size_t n, const struct dw_cfi_context *context,
		const uint64_t *initial, uint64_t *ret);
