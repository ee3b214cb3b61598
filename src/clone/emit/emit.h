/*
 * Writing what was planned: the layout, the bytes of clones, their unwind tables, the image.
 *
 * The layout asks how long each clone will be, emission writes exactly that. Both see the same
 * decisions, so a difference is a defect and reported as one.
 */
#pragma once

#include "base/error.h"
#include "clone/clone.h"
#include "clone/module.h"
#include "clone/plan/plan.h"
#include "clone/trampolines/trampolines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DWELL_AREA_PAGE = 4096 };

/* Area offsets. Bytes between the parts are zero, but int3 between clones. */
struct dw_clone_layout {
	uint32_t code_at;    /* whole pages */
	uint32_t code_bytes; /* whole pages */
	struct dw_trampolines trampolines;
	uint32_t tables_at; /* maps and tables of jumps */
	uint32_t end;	    /* of those; what has no influence on clones follows, 8-aligned */
};

/*
 * Place the clones of all functions without a reason: clone_at, clone_bytes, prefix_bytes, map_at,
 * m->places, table_at of jumps, m->distance. 0; -ENOMEM; DWELL_ERR_LIMIT.
 */
int dw_clone_lay_out(struct dw_clone_module *m, struct dw_clone_layout *ret, struct dw_error *err);

/* Fill in the targets of @p, after the layout. */
void dw_patches_link(const struct dw_clone_module *m, struct dw_patches *p);

/* What clones are written into, shared by the threads that write. */
struct dw_emit_target {
	const struct dw_clone_module *m; /* laid out */
	struct dw_trampolines trampolines;
	uint8_t *area; /* the image; each function's clone is written by one thread */
};

/* What writing adds to the image besides bytes. */
struct dw_emit_result {
	DW_VEC(uint32_t)
	relocations[DWELL_RELOCATIONS]; /* area offsets, by enum dw_clone_relocation */
	/* where trampolines are called: area offsets, by enum dw_trampoline, rising */
	DW_VEC(uint32_t)
	trampoline_calls[DWELL_TRAMPOLINES_N];
};

enum { DWELL_PREFIX_BYTES = 15 };

/* Probes of statements (plan/inner-probes-x86-64.c). */
enum {
	DWELL_LINE_PROBE_BYTES = 15,
	DWELL_LINE_DOWN_BYTES = 5, /* of the move of rsp below the red zone */
	DWELL_LINE_UP_BYTES = 8,   /* and of that back */
};

/* Bytes of the statement's probe in front of an instruction with @marks. */
static inline uint32_t dw_line_probe_bytes(uint8_t marks)
{
	if (marks & DWELL_MARK_LINE_BELOW)
		return DWELL_LINE_DOWN_BYTES + DWELL_LINE_PROBE_BYTES + DWELL_LINE_UP_BYTES;
	return marks & DWELL_MARK_LINE ? DWELL_LINE_PROBE_BYTES : 0;
}

/*
 * Bytes of the clone of instruction @i, of @f at svma @at, without the prefix and the trampoline of
 * a landing pad, with the probe of a statement and what follows the last one. It stands at @pos of
 * the clone, which counts from 8 aligned bytes.
 */
uint32_t dw_emit_length(const struct dw_clone_module *m, const struct dw_clone_function *f,
			uint32_t i, uint64_t at, uint32_t pos);

/* Write the clone of @f. 0, -ENOMEM, DWELL_ERR_LIMIT (a distance that does not fit). */
int dw_emit_function(const struct dw_emit_target *t, const struct dw_clone_function *f,
		     struct dw_emit_result *ret);

/* Write the tables of all jumps. Errors as dw_emit_function(). */
int dw_emit_tables(const struct dw_emit_target *t, struct dw_emit_result *ret);

/* Free the memory. */
void dw_emit_result_release(struct dw_emit_result *r);

/* Area offset of what a kept return of call @i comes back to, after the layout: the trampoline
 * RETURN, or what follows the call. */
uint32_t dw_emit_return_place(const struct dw_clone_module *m, uint32_t i);

struct dw_clone_unwind {
	DW_VEC(uint8_t) bytes;	    /* page by page, for area offset @at */
	DW_VEC(uint32_t) to_module; /* area offsets of DWELL_RELOC_TO_MODULE fields */
	uint32_t eh_frame_hdr_at;   /* area offsets */
	uint32_t eh_frame_at;
};

/*
 * Write the tables of all clones (after the layout) and of @trampolines, for area offset @at
 * (8-aligned). 0; -ENOMEM; DWELL_ERR_LIMIT. dw_clone_unwind_release() in any case.
 */
int dw_clone_unwind_write(const struct dw_clone_module *m,
			  const struct dw_clone_trampoline_range *trampolines, size_t trampolines_n,
			  uint32_t at, struct dw_clone_unwind *ret);

/* Free the memory. */
void dw_clone_unwind_release(struct dw_clone_unwind *u);

/* What the bytes of an image are made from. */
struct dw_image_parts {
	const struct dw_clone_module *m; /* laid out */
	const struct dw_clone_layout *layout;
	const struct dw_patches *patches; /* linked */
	const struct dw_clone_options *options;
	const uint8_t *maker; /* build-id of this dwell, as in the header */
};

/*
 * Write the image. *@ret, @ret_n bytes, is the caller's to free(). 0; -ENOMEM; DWELL_ERR_LIMIT.
 * Takes up to two threads.
 */
int dw_clone_image_write(const struct dw_image_parts *parts, uint8_t **ret, size_t *ret_n,
			 struct dw_error *err);
