/*
 * What .eh_frame and .debug_frame of a module hold, parsed from hostile bytes: where they stand,
 * and their entries, CIEs and FDEs.
 *
 * .eh_frame is found by its section or, in images without sections, by PT_GNU_EH_FRAME, and read
 * by address as the program itself would. Entries borrow the section's bytes. Immutable after
 * reading, and pure functions of their arguments: any thread may call.
 */
#pragma once

#include "base/cursor.h"
#include "base/error.h"
#include "code/cfi/program.h"
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

/* One entry as it stands, before its meaning is known. */
struct dw_cfi_entry {
	size_t offset;	    /* of its length field */
	bool is_cie;	    /* else an FDE */
	size_t cie_offset;  /* of an FDE's CIE */
	size_t body_offset; /* behind the CIE id or pointer */
	size_t end_offset;
};

#define DWELL_CFI_LSDA_UNKNOWN UINT64_MAX /* in a form that does not exist here */

/* An FDE with its code range and program. */
struct dw_cfi_fde {
	uint64_t start; /* svma */
	uint64_t end;	/* exclusive, > start */
	uint64_t lsda;	/* svma, 0 = none, or below */
	const uint8_t *program;
	size_t program_n;
};

/*
 * Read the pointer at @c by the DW_EH_PE_* @encoding; @s gives the bases and, where c->start is
 * s->bytes, the position. Returns 0; DWELL_ERR_FORMAT; DWELL_ERR_UNSUPPORTED (indirect, or an
 * encoding that does not exist).
 */
int dw_cfi_read_pointer(struct dw_cursor *c, const struct dw_cfi_section *s, uint8_t encoding,
			uint64_t *ret);

/* Parse the entry at *@offset of @s and move *@offset behind it. 1; 0 at the end of the section or
 * where its entries stop making sense. */
int dw_cfi_next_entry(const struct dw_cfi_section *s, size_t *offset, struct dw_cfi_entry *ret);

/* Parse the CIE at @offset and run its initial instructions. 0; DWELL_ERR_FORMAT;
 * DWELL_ERR_UNSUPPORTED. */
int dw_cfi_read_cie(const struct dw_cfi_section *s, size_t offset, struct dw_cfi_cie *ret);

/* Parse the FDE @e, which refers to @cie. 0; DWELL_ERR_FORMAT (an empty range too);
 * DWELL_ERR_UNSUPPORTED. */
int dw_cfi_read_fde(const struct dw_cfi_section *s, const struct dw_cfi_entry *e,
		    const struct dw_cfi_cie *cie, struct dw_cfi_fde *ret);

/* An FDE with its CIE, which is kept for the next one: those in a row mostly share it.
 * Zero-initialise. */
struct dw_cfi_reading {
	const struct dw_cfi_section *s; /* borrowed; NULL = there is no CIE yet */
	size_t cie_offset;
	struct dw_cfi_cie cie;
	struct dw_cfi_fde fde;
};

/* Read the FDE at @offset of @s, and its CIE unless it is there already. 0; DWELL_ERR_UNSUPPORTED;
 * DWELL_ERR_FORMAT, also where a CIE stands, or nothing. */
int dw_cfi_read(struct dw_cfi_reading *r, const struct dw_cfi_section *s, size_t offset);
