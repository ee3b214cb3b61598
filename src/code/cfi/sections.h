/*
 * The unwind sections of a module: what .eh_frame and .debug_frame hold and where they stand.
 *
 * .eh_frame is found by its section or, in images without sections, by PT_GNU_EH_FRAME, and read
 * by address as the program itself would. Immutable after reading: any thread may use it.
 */
#pragma once

#include "base/error.h"
#include "code/elf/elf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DWELL_CFI_EH, DWELL_CFI_DEBUG, DWELL_CFI_SECTIONS };

struct dw_cfi_section {
	const uint8_t *bytes; /* borrowed; NULL = the module has no such section */
	uint64_t n;
	uint64_t svma; /* of bytes[0] (.eh_frame only) */
	uint64_t text; /* bases of text-relative and data-relative pointers */
	uint64_t data;
	uint32_t kind;	     /* DWELL_CFI_* */
	uint32_t open_ended; /* its size is not known: a zero length ends it */
};

/* Find the section of @kind without reading it. *@s gets everything but bytes, and n = 0
 * when there is none. */
void dw_cfi_section_find(const struct dw_elf *elf, uint32_t kind, struct dw_cfi_section *s);

/*
 * Read the contents of @s, which dw_cfi_section_find() found, and set its bytes and n (which
 * changes when the section was compressed). *@owned is the memory, the caller's to free(). 0;
 * DWELL_ERR_*; -errno.
 */
int dw_cfi_section_read(const struct dw_elf *elf, struct dw_cfi_section *s, uint8_t **owned,
			struct dw_error *err);

/* Whether the contents of @s in @elf are the bytes at s->bytes, without keeping a copy of them. */
bool dw_cfi_section_same(const struct dw_elf *elf, const struct dw_cfi_section *s);
