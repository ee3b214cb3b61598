/*
 * Where fields stand in the objects of each version of CPython. Source: offsetof() of each
 * version's own headers (Include/cpython, Include/internal), where minor releases of a version have
 * the same, and debug builds, too; builds without the global lock have not.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct dw_python_layout {
	uint16_t version;
	bool has_cframe;  /* the thread state leads to frames by a cframe */
	bool has_base;	  /* a frame without a function ends what was called from C */
	bool is_eval_own; /* each frame has an evaluation of its own */
	uint16_t runtime_interpreter, interpreter_threads; /* main, newest */
	uint16_t state_id;				   /* a number that no other state has */
	uint8_t state_frame, state_thread, state_native;   /* state_native: 0 = it has none */
	uint8_t cframe_frame, cframe_previous;
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

/* In the state of a thread, of all versions: the next older one. */
enum { DWELL_PYTHON_STATE_NEXT = 8 };

/* The layout of @version, as 0x30b is 3.11; NULL = none is known. [async-signal-safe] [any-thread]
 */
const struct dw_python_layout *dw_python_layout(uint32_t version);
