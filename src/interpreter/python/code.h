/*
 * What a code object of CPython is: its name, its file, and its table of lines, by where they lie.
 * [async-signal-safe]
 */
#pragma once

#include "interpreter/frames.h"

/* Describe the code object at @code, as struct dw_interpreter_reader wants it. */
void dw_python_describe(struct dw_interpreter_frames *f, uint64_t code,
			struct dw_interpreter_code *ret,
			struct dw_interpreter_part parts[DWELL_INTERPRETER_PARTS]);
