/*
 * Frames of CPython 3.9 to 3.13, read in the thread that runs them while the sampler's signal
 * interrupts it: from any other place they would belong to another moment than the stack.
 *
 * The interpreter may be interrupted between two writes of its own, so nothing it points to is
 * believed: each page is copied by the kernel before it is read, a code object is one by
 * its type, and a chain of frames counts only with the end that it must have. Reading is bounded by
 * DWELL_PYTHON_FRAMES_MAX and by pages. [async-signal-safe]
 */
#pragma once

#include "agent/sample/sampling.h"
#include "wire/python.h"

#include <stdbool.h>
#include <stdint.h>

enum { DWELL_PYTHON_PAGES = 64, DWELL_PYTHON_PAGE = 4096 };

/* Where fields stand in the objects of one version. */
struct dw_python_layout {
	uint16_t version;
	bool has_cframe;  /* the thread state leads to frames by a cframe */
	bool has_base;	  /* a frame without a function ends what was called from C */
	bool is_eval_own; /* each frame has an evaluation of its own */
	uint8_t state_frame, cframe_frame, cframe_previous;
	uint8_t frame_bytes, frame_code, frame_previous, frame_position;
	uint8_t position_kind; /* enum dw_python_position */
	uint8_t frame_mark;    /* is_entry or owner */
	uint8_t code_first_line, code_file, code_name, code_shown, code_lines, code_bytecode;
	uint8_t text_ascii, text_other; /* where the characters of a text begin */
	uint8_t sealed[2][2];		/* parts of code objects that never change: from, to */
	bool seals_name;
};

enum dw_python_position {
	DWELL_PYTHON_BYTES,   /* int */
	DWELL_PYTHON_UNITS,   /* int, of 2 bytes */
	DWELL_PYTHON_POINTER, /* into the code object */
};

/* The layout of the interpreter in this process, checked against what it says of itself; NULL =
 * there is none, or one that is not known. In the constructor. */
const struct dw_python_layout *dw_python_find_layout(void);

/*
 * Copies of pages, made by the kernel when they are first looked at: what an interpreter that was
 * interrupted points to may be anywhere, and another thread may unmap it at any time.
 */
struct dw_python_copies {
	uint64_t known[DWELL_PYTHON_PAGES]; /* by slot: the number of the page copied, 0 = none */
	uint8_t bytes[DWELL_PYTHON_PAGES][DWELL_PYTHON_PAGE];
};

struct dw_python_pages {
	struct dw_python_copies *copies; /* borrowed */
	uint32_t copied;
};

/* Whether the @bytes at @at, a multiple of 4, can be read. */
bool dw_python_can_read(struct dw_python_pages *pages, uint64_t at, uint32_t bytes);

/* The word at @at, a multiple of 8. 0 where nothing can be read. */
uint64_t dw_python_word(struct dw_python_pages *pages, uint64_t at);

/* The 32 bits at @at, a multiple of 4, likewise. */
static inline uint32_t dw_python_half(struct dw_python_pages *pages, uint64_t at)
{
	return (uint32_t)(dw_python_word(pages, at & -(uint64_t)8) >> (at % 8 * 8));
}

/* Find the interpreter of this process, and tell of it, if there is one. In the constructor. */
void dw_python_start(void);

/* A fork's child has a ring of its own: nothing is told yet. */
void dw_python_forked(void);

/* A look at the frames of the calling thread. */
struct dw_python_walk {
	struct dw_python_frame *frames; /* a buffer of the agent's, NULL = none is free */
	uint32_t buffer;
	uint32_t n;
	uint32_t state; /* enum dw_python_state */
	struct dw_python_pages pages;
	bool ring_is_full; /* no function can be told now */
};

/* Look at the frames of the calling thread, and tell of functions that were not told yet. False:
 * this thread runs no interpreter. After true: dw_python_end(). */
bool dw_python_look(struct dw_python_walk *w);

/* Write struct dw_python_stack and the frames at the beginning of @place's content: bytes. */
uint32_t dw_python_write(const struct dw_python_walk *w, const struct dw_ring_place *place);

/* Give back what @w has. */
void dw_python_end(const struct dw_python_walk *w);

/* Tell of the code object at @code, which can be read, with @seal. False: there was no room. */
bool dw_python_tell_code(const struct dw_python_layout *l, struct dw_python_pages *pages,
			 uint64_t code, uint32_t seal);

/* Bytes of what dw_python_write() writes. */
static inline uint32_t dw_python_bytes(const struct dw_python_walk *w)
{
	return (uint32_t)(sizeof(struct dw_python_stack) + w->n * sizeof(struct dw_python_frame));
}
