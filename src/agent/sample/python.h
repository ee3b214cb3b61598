/*
 * Frames of CPython (python/frames.h), read in the thread that runs them while the sampler's signal
 * interrupts it: from any other place they would belong to another moment than the stack.
 * [async-signal-safe]
 */
#pragma once

#include "agent/sample/sampling.h"
#include "python/frames.h"
#include "wire/python.h"

#include <stdbool.h>
#include <stdint.h>

/* The layout of the interpreter in this process, checked against what it says of itself; NULL =
 * there is none, or one that is not known. In the constructor. */
const struct dw_python_layout *dw_python_find_layout(void);

/* Find the interpreter of this process, and tell of it, if there is one. In the constructor. */
void dw_python_start(void);

/* A fork's child has a ring of its own: nothing is told yet. */
void dw_python_forked(void);

/* A look at the frames of the calling thread. */
struct dw_python_walk {
	struct dw_python_frames frames; /* rows: a buffer of the agent's, NULL = none is free */
	uint32_t buffer;
	bool ring_is_full; /* no function can be told now */
};

/* Look at the frames of the calling thread, and tell of functions that were not told yet. False:
 * this thread runs no interpreter. After true: dw_python_end(). */
bool dw_python_look(struct dw_python_walk *w);

/* Write struct dw_python_stack and the frames at the beginning of @place's content: bytes. */
uint32_t dw_python_write(const struct dw_python_walk *w, const struct dw_ring_place *place);

/* Give back what @w has. */
void dw_python_end(const struct dw_python_walk *w);

/* Bytes of what dw_python_write() writes. */
static inline uint32_t dw_python_bytes(const struct dw_python_walk *w)
{
	return (uint32_t)(sizeof(struct dw_python_stack) +
			  w->frames.n * sizeof(struct dw_python_frame));
}
