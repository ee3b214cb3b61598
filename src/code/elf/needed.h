/*
 * What an ELF file is linked to, and how much code it has itself. The file is foreign.
 */
#pragma once

#include "base/vec.h"
#include "code/elf/elf.h"

enum {
	DWELL_ELF_NEEDED_MAX = 1024,  /* libraries of a file; later ones are not read */
	DWELL_ELF_NEEDED_BYTES = 256, /* of a name, its NUL included; longer ones are not read */
};

struct dw_elf_needed {
	DW_VEC(char *) names; /* as the file calls them (DT_NEEDED), in its order; owned */
};

/*
 * Read the names of the libraries that @elf is linked to itself. 0, also when there are none;
 * DWELL_ERR_NOT_FOUND (its dynamic section, or a name, lies outside the file); -ENOMEM; -errno.
 * dw_elf_needed_release() in any case.
 */
int dw_elf_needed_read(const struct dw_elf *elf, struct dw_elf_needed *ret);

/* Free everything. */
void dw_elf_needed_release(struct dw_elf_needed *n);

/* Bytes of @elf's segments that can be executed. */
uint64_t dw_elf_code_bytes(const struct dw_elf *elf);
