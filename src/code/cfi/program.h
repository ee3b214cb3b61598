/*
 * The machines that run call frame information: a CIE's and an FDE's program -> rules per address,
 * and the DWARF expressions in these, a stack machine over registers and memory.
 *
 * Pulls one row after the other: dw_cfi_machine_next() runs up to the next advance of the location.
 * Rules borrow the section's bytes (expressions). Programs come from hostile files: steps and stack
 * are bounded, every operand is checked. One thread per machine.
 */
#pragma once

#include "arch/registers.h"
#include "base/cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dw_cfi_how {
	DWELL_CFI_UNSPECIFIED, /* as the callee left it; the stack pointer: the CFA */
	DWELL_CFI_SAME,
	DWELL_CFI_UNDEFINED, /* the caller's value is lost; the return address: no caller */
	DWELL_CFI_OFFSET,    /* saved at CFA + offset; the CFA itself: reg + offset */
	DWELL_CFI_VAL_OFFSET,
	DWELL_CFI_REGISTER, /* in register reg */
	DWELL_CFI_EXPRESSION,
	DWELL_CFI_VAL_EXPRESSION,
};

struct dw_cfi_rule {
	uint8_t how; /* enum dw_cfi_how */
	uint8_t reg;
	uint32_t ops_n;
	union {
		int64_t offset;
		const uint8_t *ops; /* a DWARF expression */
	};
};

/* How to find the caller's registers from one address on. */
struct dw_cfi_rules {
	struct dw_cfi_rule cfa; /* OFFSET or VAL_EXPRESSION; UNSPECIFIED = none yet */
	struct dw_cfi_rule r[DWELL_REG_COUNT];
};

/* What FDEs share. */
struct dw_cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_register; /* < DWELL_REG_COUNT */
	uint8_t pointer_encoding;
	bool augmented;		      /* FDEs have augmentation data, with its length in front */
	bool signal;		      /* frames of its FDEs are signal frames */
	bool unknown;		      /* its augmentation says more than we understand */
	uint8_t personality_encoding; /* DW_EH_PE_*; 0xff = no personality */
	uint8_t lsda_encoding;	      /* 0xff = FDEs have none */
	size_t personality_at;	      /* offset of the personality's pointer in the section */
	uint64_t personality;	      /* svma; of the word that holds it where indirect */
	const uint8_t *program;	      /* borrowed */
	size_t program_n;
	struct dw_cfi_rules initial;
};

enum { DWELL_CFI_REMEMBER_MAX = 16 };

struct dw_cfi_machine {
	const struct dw_cfi_cie *cie;
	struct dw_cursor c;
	uint64_t pc; /* where the next row starts */
	struct dw_cfi_rules rules;
	unsigned depth;
	struct dw_cfi_rules remembered[DWELL_CFI_REMEMBER_MAX];
};

/* Run a CIE's initial instructions into cie->initial, the other fields being set. 0;
 * DWELL_ERR_FORMAT. */
int dw_cfi_run_initial(struct dw_cfi_cie *cie, const uint8_t *program, size_t n);

/* Start the program of an FDE at address @start. */
void dw_cfi_machine_init(struct dw_cfi_machine *m, const struct dw_cfi_cie *cie, uint64_t start,
			 const uint8_t *program, size_t n);

/*
 * Run up to the next advance: m->rules hold for [*@from, *@to). 1; 0 when this row is the last one
 * (*@to = ~0); DWELL_ERR_FORMAT, after which rows from *@from on are not known.
 */
int dw_cfi_machine_next(struct dw_cfi_machine *m, uint64_t *from, uint64_t *to);

/* What an expression may look at. */
struct dw_cfi_context {
	const uint64_t *r; /* by DWARF number, DWELL_REG_COUNT of them */
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
