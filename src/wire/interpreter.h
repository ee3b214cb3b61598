/*
 * What the sampling agent tells of an interpreter in its ring (wire/samples.h): which one it is,
 * functions when they are first seen in a stack, and with each sample the thread's frames.
 *
 * A function is known by a number, most often its address, and a seal of its contents, since
 * addresses are used again. Texts are as the interpreter has them: 1, 2 or 4 bytes a character.
 */
#pragma once

#include <stdint.h>

enum dw_interpreter_language {
	DWELL_PYTHON = 1, /* CPython */
	DWELL_PHP,
	DWELL_RUBY,
	DWELL_LANGUAGES_END,
};

enum {
	DWELL_INTERPRETER_FRAMES_MAX = 2048,	/* of a sample */
	DWELL_INTERPRETER_TEXT_MAX = 4096,	/* bytes of a name or path */
	DWELL_INTERPRETER_LINES_MAX = 64 << 10, /* bytes of a table of lines, or its lines */
	/* In struct dw_interpreter_frame.code: */
	DWELL_INTERPRETER_OUTERMOST = 1, /* called from C */
	DWELL_INTERPRETER_SWITCH = 2,	 /* no function: callers are on another native stack */
	DWELL_INTERPRETER_FLAGS = 7,
	DWELL_INTERPRETER_POSITION_NONE = 0x7fffffff,
};

/* DWELL_SAMPLE_INTERPRETER: this process has one. */
struct dw_interpreter_runtime {
	uint32_t language; /* enum dw_interpreter_language */
	uint32_t version;  /* 0x30b = 3.11 */
	uint64_t eval;	   /* avma of the function that runs frames, 0 = they cannot be read */
	uint64_t data;	   /* what leads to frames: the avma of _PyRuntime or executor_globals; of
			      Ruby, how far behind a thread's pointer the address of its
			      execution context stands */
	uint64_t type;	   /* of Python: avma of PyCode_Type; see the readers of others */
	uint64_t modules;  /* of PHP: of module_registry, which tells the version once it is filled:
			      until then that is 0, and told again */
};

/* A text of the target's. */
struct dw_interpreter_text {
	uint16_t bytes;
	uint16_t width; /* bytes of a character */
};

/* DWELL_SAMPLE_INTERPRETER_CODE; its texts and its table of lines follow, in this order. */
struct dw_interpreter_code {
	uint64_t code;
	uint32_t seal;
	uint32_t first_line;
	uint32_t code_bytes; /* positions that there are */
	uint32_t lines_bytes;
	struct dw_interpreter_text owner; /* its class, where the name has none */
	struct dw_interpreter_text name;  /* empty: top-level code of its file */
	struct dw_interpreter_text file;  /* empty: it is written in C */
	uint32_t unused;
};

enum dw_interpreter_state {
	DWELL_INTERPRETER_WHOLE,
	DWELL_INTERPRETER_TORN, /* the frames do not hang together: none is told */
	DWELL_INTERPRETER_DEEP, /* outer ones are beyond DWELL_INTERPRETER_FRAMES_MAX */
};

/* What DWELL_SAMPLE_INTERPRETER_STACK begins with; the frames follow, innermost first, then what
 * DWELL_SAMPLE_STACK has. */
struct dw_interpreter_stack {
	uint32_t n;
	uint32_t state; /* enum dw_interpreter_state */
};

struct dw_interpreter_frame {
	uint64_t code;	   /* number of the function, a multiple of 8, with flags; 0 = the
			      beginning of a call from C that has no function yet */
	uint32_t position; /* of Python: bytes into the instructions, else lines behind the first;
			      DWELL_INTERPRETER_POSITION_NONE = before, or not known */
	uint32_t seal;	   /* of the function */
};

_Static_assert(sizeof(struct dw_interpreter_frame) == 16, "layout");
_Static_assert(sizeof(struct dw_interpreter_code) == 40, "layout");
