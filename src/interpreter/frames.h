/*
 * The frames of a thread of an interpreter, read from its memory: of the calling thread that a
 * signal interrupts, or of one that waits. What all languages share; what is one language's own
 * stands in a folder of its name and is reached by struct dw_interpreter_reader.
 *
 * The interpreter may be interrupted between two writes of its own, so nothing it points to is
 * believed. Reading is bounded by DWELL_INTERPRETER_FRAMES_MAX and by pages. [async-signal-safe]
 */
#pragma once

#include "interpreter/memory.h"
#include "wire/interpreter.h"

/* The texts of the record of a function, in their order. */
enum dw_interpreter_part_id {
	DWELL_INTERPRETER_OWNER,
	DWELL_INTERPRETER_NAME,
	DWELL_INTERPRETER_FILE,
	DWELL_INTERPRETER_LINES,
	DWELL_INTERPRETER_PARTS,
};

struct dw_interpreter_part {
	uint64_t at;
	uint32_t bytes;
	uint32_t width; /* bytes of a character */
};

struct dw_interpreter_frames;

/* How to read one language's memory. */
struct dw_interpreter_reader {
	/* Read the frames of the thread whose frames begin at @place: f->rows, n and state. */
	void (*read)(struct dw_interpreter_frames *f, uint64_t place);
	/* Describe the function at @object, which can be read: the record that begins with *@ret,
	 * whose code and seal are set, goes on with the bytes that lie at @parts, zeroed before. */
	void (*describe)(struct dw_interpreter_frames *f, uint64_t object,
			 struct dw_interpreter_code *ret,
			 struct dw_interpreter_part parts[DWELL_INTERPRETER_PARTS]);
};

struct dw_interpreter_frames {
	const struct dw_interpreter_reader *reader;
	const void *layout;	   /* the language's, of the version */
	uint64_t data;		   /* as in struct dw_interpreter_runtime */
	uint64_t type;		   /* likewise */
	const uint64_t *registers; /* of the interrupted thread (wire/samples.h), NULL = it waits */
	struct dw_interpreter_memory memory;
	struct dw_interpreter_frame
		*rows; /* borrowed: DWELL_INTERPRETER_FRAMES_MAX of them, innermost first */
	uint32_t n;
	uint32_t state; /* enum dw_interpreter_state */
	/* Told of each frame that has a function, which is at @object; @seal: all of its seal. */
	void (*met)(struct dw_interpreter_frames *f, const struct dw_interpreter_frame *frame,
		    uint64_t object, uint64_t seal);
};

/* Mix @word into a seal that is @hash so far. */
static inline uint64_t dw_interpreter_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

/* Describe the function at @object that @frame is of, with the bytes that its record has: what
 * follows the head lies at @parts. */
uint32_t dw_interpreter_describe(struct dw_interpreter_frames *f,
				 const struct dw_interpreter_frame *frame, uint64_t object,
				 struct dw_interpreter_code *ret,
				 struct dw_interpreter_part parts[DWELL_INTERPRETER_PARTS]);
