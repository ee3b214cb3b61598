/*
 * What the sampling agent tells of CPython in its ring (wire/samples.h): the interpreter, functions
 * when they are first seen in a stack (code objects), and with each sample the thread's frames.
 *
 * A code object is known by its address and a seal of its contents, since addresses are used again.
 * Texts are as the interpreter has them: 1, 2 or 4 bytes a character.
 */
#pragma once

#include <stdint.h>

enum {
	DWELL_PYTHON_FRAMES_MAX = 2048,	   /* of a sample */
	DWELL_PYTHON_TEXT_MAX = 4096,	   /* bytes of a name or path */
	DWELL_PYTHON_LINES_MAX = 64 << 10, /* bytes of a table of lines */
	DWELL_PYTHON_OUTERMOST = 1,	   /* in struct dw_python_frame.code */
	DWELL_PYTHON_POSITION_NONE = 0x7fffffff,
};

/* DWELL_SAMPLE_PYTHON: this process has an interpreter. */
struct dw_python_runtime {
	uint32_t version; /* 0x30b = 3.11 */
	uint32_t unused;
	uint64_t eval;	    /* avma of _PyEval_EvalFrameDefault, 0 = its frames cannot be read */
	uint64_t runtime;   /* of _PyRuntime */
	uint64_t code_type; /* of PyCode_Type */
};

/* A text of the target's. */
struct dw_python_text {
	uint16_t bytes;
	uint16_t width; /* bytes of a character */
};

/* DWELL_SAMPLE_PYTHON_CODE; its texts and its table of lines follow, in this order. */
struct dw_python_code {
	uint64_t code; /* avma of the object */
	uint32_t seal;
	uint32_t first_line;
	uint32_t code_bytes; /* of its instructions */
	uint32_t lines_bytes;
	struct dw_python_text name;
	struct dw_python_text file;
};

enum dw_python_state {
	DWELL_PYTHON_WHOLE,
	DWELL_PYTHON_TORN, /* the frames do not hang together: none is told */
	DWELL_PYTHON_DEEP, /* outer ones are beyond DWELL_PYTHON_FRAMES_MAX */
};

/* What DWELL_SAMPLE_PYTHON_STACK begins with; the frames follow, innermost first, then what
 * DWELL_SAMPLE_STACK has. */
struct dw_python_stack {
	uint32_t n;
	uint32_t state; /* enum dw_python_state */
};

struct dw_python_frame {
	uint64_t code;	   /* avma of the object, 0 = the beginning of a call from C that has no
			      function yet; with DWELL_PYTHON_OUTERMOST: called from C */
	uint32_t position; /* bytes into its instructions, DWELL_PYTHON_POSITION_NONE = before */
	uint32_t seal;	   /* of the code object */
};

_Static_assert(sizeof(struct dw_python_frame) == 16, "layout");
_Static_assert(sizeof(struct dw_python_code) == 32, "layout");
