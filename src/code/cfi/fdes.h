/*
 * The list of a module's FDEs: which code each describes and where its entry stands.
 */
#pragma once

#include "base/vec.h"
#include "code/cfi/sections.h"
#include "code/elf/elf.h"

#include <stdint.h>

struct dw_cfi_fde_ref {
	uint64_t start;	 /* svma */
	uint64_t end;	 /* exclusive */
	uint32_t offset; /* of the entry in its section */
	uint32_t kind;	 /* DWELL_CFI_*, the section */
};

struct dw_cfi_fdes {
	DW_VEC(struct dw_cfi_fde_ref) list;
};

/* A range of svma that holds code. */
struct dw_cfi_span {
	uint64_t start;
	uint64_t end;
};

struct dw_cfi_spans {
	DW_VEC(struct dw_cfi_span) list; /* none: everything counts as code */
};

/* The executable segments of @elf, as far as the file holds them. 0 or -ENOMEM. */
int dw_cfi_spans_read(const struct dw_elf *elf, struct dw_cfi_spans *ret);

/*
 * List the FDEs of @sections (DWELL_CFI_SECTIONS of them) that lie in @spans, sorted by start. What
 * both sections describe is listed from .eh_frame only. Entries that make no sense are left out.
 * 0 or -ENOMEM. @ret is empty on entry; dw_cfi_fdes_release() it in any case.
 */
int dw_cfi_fdes_read(const struct dw_cfi_section *sections, const struct dw_cfi_spans *spans,
		     struct dw_cfi_fdes *ret);

/* The FDE of the code that begins at @start, the first of several, NULL = none. */
const struct dw_cfi_fde_ref *dw_cfi_fdes_find(const struct dw_cfi_fdes *f, uint64_t start);

/* Free the memory. */
void dw_cfi_fdes_release(struct dw_cfi_fdes *f);

/* Free the memory. */
void dw_cfi_spans_release(struct dw_cfi_spans *s);
