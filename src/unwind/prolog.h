/*
 * Frames of code without unwind tables, by its instructions: what compilers of managed code (the
 * .NET runtime's) begin and end methods with. Pure; hostile bytes give wrong frames, never bad
 * reads. [any-thread]
 */
#pragma once

#include "code/cfi/table-format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a frame is left. */
enum dw_frame_base {
	DWELL_BASE_USUAL,
	DWELL_BASE_STACK, /* by the stack pointer, which must not have moved since the prolog */
};

/*
 * The row for the instruction at @offset of a method that begins with the @n bytes at @prolog,
 * outside of its ends. What the bytes do not show is taken as a method with a frame pointer.
 * DWELL_ROW_SPECIAL: the method goes on where a loop of other code of it left off. Its frame
 * pointer is as usual, but what it returns to is that code, on whose frame it stands, and which
 * must be left by DWELL_BASE_STACK.
 */
struct dw_cfi_row dw_prolog_row(const uint8_t *prolog, size_t n, uint64_t offset,
				enum dw_frame_base base);

/* The row where the @n bytes at @bytes are executed next, if they are the end of a method. False:
 * they are not. */
bool dw_epilog_row(const uint8_t *bytes, size_t n, struct dw_cfi_row *ret);

/* Code that stands somewhere, as far as it is at hand. */
struct dw_code_bytes {
	const uint8_t *at; /* borrowed */
	size_t n;
};

/*
 * The row for the instruction at @offset of code that begins with @begin, where @next is executed
 * next, if that code sets its frame pointer soon, as that of most just-in-time compilers does.
 * DWELL_ROW_SPECIAL with DWELL_ROW_NONE: by the frame pointer. False: it is no such code.
 */
bool dw_framed_row(struct dw_code_bytes begin, uint64_t offset, struct dw_code_bytes next,
		   struct dw_cfi_row *ret);
