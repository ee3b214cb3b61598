/*
 * What instruction sequences of Ruby, and methods in C, are called, and which line an instruction
 * comes from. [async-signal-safe]
 */
#pragma once

#include "interpreter/frames.h"

/* Whether the object at @at is an instruction sequence, and where its body is. */
bool dw_ruby_is_code(struct dw_interpreter_frames *f, uint64_t at, uint64_t *ret_body);

/* Whether it is the entry of a method. */
bool dw_ruby_is_method(struct dw_interpreter_frames *f, uint64_t at);

/* How many lines behind the first one of the instruction sequence with @body the frame with @pc is.
 */
uint32_t dw_ruby_position(struct dw_interpreter_frames *f, uint64_t body, uint64_t pc);

/* Describe the instruction sequence or entry of a method at @object, as struct
 * dw_interpreter_reader wants it. */
void dw_ruby_describe(struct dw_interpreter_frames *f, uint64_t object,
		      struct dw_interpreter_code *ret,
		      struct dw_interpreter_part parts[DWELL_INTERPRETER_PARTS]);

/* In the entry of a method, of all versions: the number of its name. */
enum { DWELL_RUBY_METHOD_NAME = 24, DWELL_RUBY_METHOD_BYTES = 40 };

/* In the body of an instruction sequence, likewise. */
enum {
	DWELL_RUBY_CODE_BYTES = 4, /* words */
	DWELL_RUBY_CODE_FIRST = 8, /* where they are */
	DWELL_RUBY_CODE_PATH = 64,
	DWELL_RUBY_CODE_LABEL = 80,
	DWELL_RUBY_CODE_LINE = 88,
};
