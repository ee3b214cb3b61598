/*
 * Frames and stacks: interned, unresolved, shared by all processes and threads. Samples: which
 * stack a thread had, when. Extras: what was measured beside samples, such as waits, and where.
 *
 * A frame is an address in a module, already adjusted: return addresses are stored minus one, so
 * that they lie in the call. A stack is a parent stack (the caller's side) and one frame more; id 0
 * is the empty stack. Parents have smaller ids than children. Nothing is resolved here: names
 * belong to model/symbol.h.
 */
#pragma once

#include "base/address.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/wait.h"

#include <stddef.h>
#include <stdint.h>

enum dw_frame_kind {
	DWELL_FRAME_CODE = 0, /* an address in a module */
	DWELL_FRAME_CUT, /* outermost: the rest of the stack could not be read; module and svma are
			    0 */
	/* Outermost, of allocations: below it is no stack, but a frame with its caller, if it has
	 * one, of stacks that there was no room for. svma: enum dw_stack_part. */
	DWELL_FRAME_PART,
	DWELL_FRAME_KINDS
};

/* Of what the innermost frame of a part is the first one on its stack, seen from the outside.
 * Values of parts that are no leaves are counted elsewhere, too. */
enum dw_stack_part {
	DWELL_PART_FUNCTION = 1,
	DWELL_PART_MODULE = 2,
	DWELL_PART_CALL = 4,
	DWELL_PART_LINE = 8,
	DWELL_PART_LEAF = 16, /* the stack ends there */
	DWELL_PART_MAX = 31
};

struct dw_frame {
	uint32_t module; /* module id; 0 = address in no known module (svma = avma then) */
	uint32_t kind;	 /* enum dw_frame_kind */
	uint64_t svma;
};

/* The instruction at a frame: a return address lies behind its call, in the frame inside of it. */
struct dw_frame_instruction {
	uint64_t svma;	/* its first byte */
	uint32_t frame; /* the frame that stands for all of this instruction */
};

struct dw_frames {
	DW_VEC(struct dw_frame) rows;
	struct dw_idset set;
	/* By id, once somebody has looked at the code; empty = nobody did. */
	DW_VEC(struct dw_frame_instruction) instructions;
};

struct dw_stack {
	uint32_t parent; /* stack id, 0 = this is the outermost frame */
	uint32_t frame;	 /* frame id */
};

struct dw_stacks {
	DW_VEC(struct dw_stack) rows;
	struct dw_map children; /* parent << 32 | frame -> stack id */
};

/* The id of @frame, added when new. 0 or -ENOMEM. */
int dw_frames_add(struct dw_frames *t, struct dw_frame frame, uint32_t *ret);

/* The id of @frame, 0 = it was not added. */
uint32_t dw_frames_find(const struct dw_frames *t, struct dw_frame frame);

/* The frame of @id, borrowed until the next add. NULL for 0 and unknown ids. */
static inline const struct dw_frame *dw_frames_get(const struct dw_frames *t, uint32_t id)
{
	return id && id < t->rows.n ? &t->rows.v[id] : NULL;
}

/* The instruction at @id, which is not 0: as far as is known, else the frame's own address. */
struct dw_frame_instruction dw_frames_instruction(const struct dw_frames *t, uint32_t id);

/* Number of frames. Ids run from 1 to this. */
static inline uint32_t dw_frames_count(const struct dw_frames *t)
{
	return t->rows.n ? (uint32_t)t->rows.n - 1 : 0;
}

/* The id of the stack @parent + @frame, added when new. 0 or -ENOMEM. */
int dw_stacks_add(struct dw_stacks *t, uint32_t parent, uint32_t frame, uint32_t *ret);

/* The stack node of @id, borrowed until the next add. NULL for 0 and unknown ids. */
static inline const struct dw_stack *dw_stacks_get(const struct dw_stacks *t, uint32_t id)
{
	return id && id < t->rows.n ? &t->rows.v[id] : NULL;
}

/* What the stack of @id is a part of: enum dw_stack_part, 0 = it is none. */
unsigned dw_stacks_part(const struct dw_stacks *t, const struct dw_frames *frames, uint32_t id);

/* Number of stacks. Ids run from 1 to this. */
static inline uint32_t dw_stacks_count(const struct dw_stacks *t)
{
	return t->rows.n ? (uint32_t)t->rows.n - 1 : 0;
}

/* Free everything. */
void dw_frames_release(struct dw_frames *t);

/* Free everything. */
void dw_stacks_release(struct dw_stacks *t);

/* Three parallel columns, in time order as collected. */
struct dw_samples {
	uint64_t *time_ns; /* since the start of the recording */
	uint32_t *thread;  /* thread id */
	uint32_t *stack;   /* stack id, 0 = nothing could be unwound */
	size_t n;
	size_t cap;
};

/* Append one sample. 0 or -ENOMEM. */
int dw_samples_add(struct dw_samples *s, uint64_t time_ns, uint32_t thread, uint32_t stack);

/* Forget the samples, keep the memory. */
void dw_samples_clear(struct dw_samples *s);

/* Free everything. */
void dw_samples_release(struct dw_samples *s);

/* So much of a measure, of one thread and stack: of BLOCKED a wait, a piece of a long one, or
 * several short ones that follow one another, whose time is less than the span. */
struct dw_extra {
	uint64_t begin_ns; /* since the start of the recording */
	uint64_t span_ns;  /* from there to its end, 0 = it happened then */
	uint64_t n;	   /* of the measure, evenly in the span */
	uint32_t thread;   /* thread id */
	uint32_t stack;	   /* stack id, 0 = nobody could look */
	uint32_t measure;  /* enum dw_measure */
	uint32_t kind;	   /* of waits, and of OTHERS_WAITED: enum dw_wait_kind */
};

/* In the order of their ends. */
struct dw_extras {
	DW_VEC(struct dw_extra) rows;
};

/* Whether @x, a wait or an OTHERS_WAITED, is of one wait, so long that what threads did in its time
 * tells more than where they were seen once. */
bool dw_extra_is_one_long_wait(const struct dw_extra *x);

/* What of @x lies in [@from_ns, @to_ns), @to_ns 0 = no end: of a part of the span as much as its
 * share. */
uint64_t dw_extra_within(const struct dw_extra *x, uint64_t from_ns, uint64_t to_ns);
