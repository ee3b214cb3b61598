/*
 * The frames of a thread of CPython 3.9 to 3.13, from its memory: of the calling thread that a
 * signal interrupts, or of one that waits.
 *
 * The interpreter may be interrupted between two writes of its own, so nothing it points to is
 * believed: a code object is one by its type, and a chain of frames counts only with the end that
 * it must have. Reading is bounded by DWELL_PYTHON_FRAMES_MAX and by pages. [async-signal-safe]
 */
#pragma once

#include "python/layout.h"
#include "python/memory.h"
#include "wire/python.h"

struct dw_python_frames {
	const struct dw_python_layout *layout;
	uint64_t code_type; /* where PyCode_Type is */
	struct dw_python_memory memory;
	struct dw_python_frame
		*rows; /* borrowed: DWELL_PYTHON_FRAMES_MAX of them, innermost first */
	uint32_t n;
	uint32_t state; /* enum dw_python_state */
	/* Told of each frame that has a function; @seal: of its code object. */
	void (*met)(struct dw_python_frames *f, const struct dw_python_frame *frame, uint64_t seal);
};

/* Read the frames of the thread whose state is at @state. */
void dw_python_frames_read(struct dw_python_frames *f, uint64_t state);
