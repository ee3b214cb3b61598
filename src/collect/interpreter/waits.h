/*
 * Frames of a thread of an interpreter that waits, read from outside: as long as it waits they stay
 * as they are, and so do the functions that they are of. Who reads makes sure of that afterwards.
 * One thread.
 */
#pragma once

#include "collect/interpreter/interpreter.h"

#include <stdint.h>
#include <sys/types.h>

struct dw_interpreter_waits {
	struct dw_interpreter_copies *copies; /* owned, NULL until needed */
	struct dw_interpreter_frame
		*frames; /* owned, likewise: of the last thread, innermost first */
	uint8_t *record; /* owned, likewise */
	uint32_t n;
	uint32_t state; /* enum dw_interpreter_state */
	bool is_told;	/* the thread runs the interpreter, and was looked at */
};

/* A thread that waits. */
struct dw_waiting_thread {
	pid_t pid, tid;
	uint64_t pointer; /* that its own variables lie around, 0 = not known */
};

/* Read the frames of @th, whose process has the interpreter @p; functions that were not told before
 * come into @all. 0 or -ENOMEM. */
int dw_interpreter_waits_read(struct dw_interpreter_waits *r, struct dw_interpreters *all,
			      struct dw_interpreter_process *p, const struct dw_waiting_thread *th);

/* Free everything. */
void dw_interpreter_waits_release(struct dw_interpreter_waits *r);
