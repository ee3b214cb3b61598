/*
 * Frames of Python of a thread that waits, read from outside: as long as it waits they stay as they
 * are, and so do the functions that they are of. Who reads makes sure of that afterwards. One
 * thread.
 */
#pragma once

#include "collect/interpreter/interpreter.h"

#include <stdint.h>
#include <sys/types.h>

struct dw_python_waits {
	struct dw_interpreter_copies *copies; /* owned, NULL until needed */
	struct dw_interpreter_frame
		*frames; /* owned, likewise: of the last thread, innermost first */
	uint8_t *record; /* owned, likewise */
	uint32_t n;
	uint32_t state; /* enum dw_interpreter_state */
	bool is_told;	/* the thread runs the interpreter, and was looked at */
};

/* Read the frames of the thread @tid of @pid, which has the interpreter @p; functions that were not
 * told before come into @all. 0 or -ENOMEM. */
int dw_python_waits_read(struct dw_python_waits *r, struct dw_interpreters *all,
			 struct dw_interpreter_process *p, pid_t pid, pid_t tid);

/* Free everything. */
void dw_python_waits_release(struct dw_python_waits *r);
