/*
 * Unwind tables for clones: .eh_frame, .eh_frame_hdr and LSDAs rewritten for the clones' addresses.
 *
 * Clones have their own, so that exceptions, cancellation and unwinders work on them without any
 * translation. Everything is relative to its own place; what refers to the module (personality
 * slots, type tables) is a distance with a DWELL_RELOC_TO_MODULE. Input is hostile.
 */
#pragma once

#include "clone/module.h"

/* Set DWELL_LEFT_UNWIND on functions whose CIE, FDE or LSDA cannot be rewritten, and m->pads. 0 or
 * -ENOMEM. */
int dw_clone_unwind_check(struct dw_clone_module *m);

struct dw_clone_unwind {
	DW_VEC(uint8_t) bytes;	    /* page by page, for area offset @at */
	DW_VEC(uint32_t) to_module; /* area offsets of DWELL_RELOC_TO_MODULE fields */
	uint32_t eh_frame_hdr_at;   /* area offsets */
	uint32_t eh_frame_at;
};

/* FDEs of code that is in the area but no clone: the gates. */
struct dw_clone_gate_range {
	uint32_t at; /* area offset */
	uint32_t bytes;
	const uint8_t *program; /* call frame instructions after "CFA = rsp + 8, return address at
				   CFA - 8" */
	uint32_t program_n;
};

/*
 * Write the tables of all clones (after the layout) and of @gates, for area offset @at (8-aligned).
 * 0; -ENOMEM; DWELL_ERR_LIMIT. dw_clone_unwind_release() in any case.
 */
int dw_clone_unwind_write(const struct dw_clone_module *m, const struct dw_clone_gate_range *gates,
			  size_t gates_n, uint32_t at, struct dw_clone_unwind *ret);

/* Free the memory. */
void dw_clone_unwind_release(struct dw_clone_unwind *u);
