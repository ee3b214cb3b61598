/*
 * The list of a module's FDEs: which code each describes and where its entry stands, and with that
 * where functions of a stripped file begin and end: compilers write one FDE per function, and one
 * per split-off cold part.
 */
#pragma once

#include "base/error.h"
#include "base/vec.h"
#include "code/cfi/entry.h"
#include "code/elf/elf.h"

#include <stddef.h>
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

struct dw_cfi_range {
	uint64_t start; /* svma */
	uint64_t end;	/* exclusive */
};

/*
 * All ranges that FDEs of @elf describe, sorted by start, overlaps as they are.
 * *@ret is the caller's to free(). 0 (also with none: *@ret_n = 0); DWELL_ERR_FORMAT; -errno.
 */
int dw_cfi_ranges(const struct dw_elf *elf, struct dw_cfi_range **ret, size_t *ret_n,
		  struct dw_error *err);

/* The innermost range of the sorted @ranges that holds @svma, NULL = none. */
const struct dw_cfi_range *dw_cfi_range_find(const struct dw_cfi_range *ranges, size_t n,
					     uint64_t svma);
