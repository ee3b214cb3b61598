/*
 * What unwind tables say of functions: call frame programs, instruction by instruction (the places
 * where rows begin, and the bytes between them, which hold for a clone as they are), and entries.
 *
 * Programs come from hostile files and are only read. Pure functions: any thread may call.
 */
#pragma once

#include "base/cursor.h"
#include "clone/module.h"
#include "code/cfi/entry.h"
#include "code/cfi/program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_frame_program {
	struct dw_cursor c;
	const struct dw_cfi_cie *cie;
	uint64_t pc; /* svma of the row that is being described */
};

enum dw_frame_part {
	DWELL_FRAME_BAD = -1, /* no program, or one that cannot be moved */
	DWELL_FRAME_END,
	DWELL_FRAME_ROW,   /* the row ends, the next one begins at pc */
	DWELL_FRAME_RULES, /* an instruction that does not depend on where the code is */
};

/* Start at the program of @n bytes of a range at @start. */
void dw_frame_program_init(struct dw_frame_program *p, const struct dw_cfi_cie *cie, uint64_t start,
			   const uint8_t *program, size_t n);

/* Pass over the next instruction, *@bytes, *@n of them (borrowed). What it was. */
enum dw_frame_part dw_frame_program_next(struct dw_frame_program *p, const uint8_t **bytes,
					 size_t *n);

/* Read the entries of @f, which must be in .eh_frame. 0 or negative. */
int dw_unwind_read_entry(const struct dw_clone_module *m, const struct dw_clone_function *f,
			 struct dw_cfi_reading *r);

/* The svma that leads to the personality routine, and how: directly or as the word that holds it.
 */
uint64_t dw_unwind_personality(const struct dw_clone_module *m, const struct dw_cfi_cie *cie,
			       bool *indirect);

/* The registers that @rules find below the stack pointer, bit n: DWARF number n. */
uint32_t dw_unwind_saved_below(const struct dw_cfi_rules *rules);
