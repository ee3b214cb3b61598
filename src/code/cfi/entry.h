/*
 * CIEs and FDEs: the entries of .eh_frame and .debug_frame, parsed from hostile bytes.
 *
 * Everything borrows the section's bytes. Pure functions of their arguments: any thread may call.
 */
#pragma once

#include "base/cursor.h"
#include "code/cfi/program.h"
#include "code/cfi/sections.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
