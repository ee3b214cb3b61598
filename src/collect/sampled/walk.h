/*
 * The last stack of a thread, kept so that the next one need not be unwound and interned anew.
 *
 * Frames stand outermost first, so that what two stacks share is a prefix. A deep stack also keeps
 * the memory it was unwound from, see deep-stack.h.
 */
#pragma once

#include "base/vec.h"

#include <stddef.h>
#include <stdint.h>

struct dw_walk_frame {
	uint64_t pc; /* as struct dw_unwind_frame has it; DWELL_WALK_CUT for what is missing */
	uint64_t sp;
	uint64_t rbp;
	uint32_t stack; /* stack id in the profile, of this frame and all outer ones */
};

/* The pc of an outermost frame that stands for the rest of a cut stack. */
#define DWELL_WALK_CUT UINT64_MAX

struct dw_walk {
	DW_VEC(struct dw_walk_frame) frames; /* outermost first */
	uint32_t generation;		     /* of the process's space, for which stack ids hold */
	uint8_t *memory;		     /* owned; NULL = not kept */
	uint64_t memory_base;		     /* avma of memory[0] */
	size_t memory_bytes;
	uint64_t memory_from; /* avma; what is below is not what the frames were found in */
	size_t wanted_bytes;  /* of memory, more than could be read; 0 = not known */
	uint64_t memory_ns;   /* time of the sample for which it was read */
	size_t memory_cap;
};

/* The frame whose stack pointer is @sp, borrowed. NULL = none. Frames must go inward from there on.
 */
const struct dw_walk_frame *dw_walk_find(const struct dw_walk *w, uint64_t sp);

/* Free @w. NULL is fine. */
void dw_walk_free(struct dw_walk *w);
