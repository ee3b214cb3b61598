/*
 * Frames of interpreters (interpreter/frames.h), read in the thread that runs them while the
 * sampler's signal interrupts it: from any other place they would belong to another moment than the
 * stack. [async-signal-safe]
 */
#pragma once

#include "agent/sample/sampling.h"
#include "interpreter/frames.h"
#include "wire/interpreter.h"

#include <stdbool.h>
#include <stdint.h>

/* The interpreter that this process has. */
struct dw_interpreter_found {
	struct dw_interpreter_runtime told;
	const void *layout;   /* NULL = none whose frames can be read */
	void *(*state)(void); /* of Python: PyGILState_GetThisThreadState() */
	bool is_complete;     /* nothing is left to be found out in handlers */
};

/* How one language's interpreter is found in a process, one file each. */
struct dw_interpreter_kind {
	const struct dw_interpreter_reader *reader;
	/* Whether this process has one; fills in what can be said of it in the constructor. */
	bool (*find)(struct dw_interpreter_found *ret);
	/* Complete it, in a handler, where that is left to do. False: nothing can be said yet. */
	bool (*identify)(struct dw_interpreter_found *found, struct dw_interpreter_memory *m);
	/* Where the frames of the calling thread begin, 0 = it has none. */
	uint64_t (*place)(const struct dw_interpreter_found *found);
};

extern const struct dw_interpreter_kind dw_python_kind, dw_php_kind, dw_ruby_kind;

/* Copy the page at @at, of this process or another one. False: it cannot be read. */
bool dw_interpreter_copy_page(int32_t pid, uint64_t at, uint8_t ret[DWELL_INTERPRETER_PAGE]);

/* Find the interpreter of this process, and tell of it, if there is one. In the constructor. */
void dw_interpreter_start(void);

/* A fork's child has a ring of its own: nothing is told yet. */
void dw_interpreter_forked(void);

/* A look at the frames of the calling thread. */
struct dw_interpreter_walk {
	struct dw_interpreter_frames frames; /* rows: a buffer of ours, NULL = none is free */
	uint32_t buffer;
	bool ring_is_full; /* no function can be told now */
};

/* Look at the frames of the calling thread, interrupted with @registers, and tell of functions that
 * were not told yet. False: this thread runs no interpreter. After true: dw_interpreter_end(). */
bool dw_interpreter_look(struct dw_interpreter_walk *w, const uint64_t *registers);

/* Write struct dw_interpreter_stack and the frames at the beginning of @place's content: bytes. */
uint32_t dw_interpreter_write(const struct dw_interpreter_walk *w,
			      const struct dw_ring_place *place);

/* Give back what @w has. */
void dw_interpreter_end(const struct dw_interpreter_walk *w);

/* Bytes of what dw_interpreter_write() writes. */
static inline uint32_t dw_interpreter_bytes(const struct dw_interpreter_walk *w)
{
	return (uint32_t)(sizeof(struct dw_interpreter_stack) +
			  w->frames.n * sizeof(struct dw_interpreter_frame));
}
