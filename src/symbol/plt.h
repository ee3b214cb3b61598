/*
 * Names of PLT stubs: which function the stub at an address jumps to, as "function@plt".
 *
 * Stubs are recognised by their instructions, which are those of one processor.
 */
#pragma once

#include "base/vec.h"
#include "code/elf/elf.h"

#include <stdint.h>

struct dw_plt_slot {
	uint64_t got;	  /* svma of the pointer that the stub jumps through */
	const char *name; /* borrowed from the table */
};

struct dw_plt {
	DW_VEC(struct dw_plt_slot) slots; /* by got */
	char *names;			  /* owned */
};

struct dw_plt_stub {
	const char *name; /* of the function, borrowed from the table */
	uint64_t svma;
	uint64_t bytes;
};

/* Whether @svma lies in a section of stubs. */
const struct dw_elf_section *dw_plt_section(const struct dw_elf *elf, uint64_t svma);

/* Read which pointers the loader fills with which functions. 0 (also with none) or -ENOMEM. */
int dw_plt_load(struct dw_plt *t, const struct dw_elf *elf);

/* The name of the function that the pointer at @got leads to, borrowed. NULL = none. */
const char *dw_plt_slot_name(const struct dw_plt *t, uint64_t got);

/* The stub at @svma in @section. 0 or DWELL_ERR_NOT_FOUND. */
int dw_plt_find(const struct dw_plt *t, const struct dw_elf *elf,
		const struct dw_elf_section *section, uint64_t svma, struct dw_plt_stub *ret);

/* Free everything. */
void dw_plt_release(struct dw_plt *t);
