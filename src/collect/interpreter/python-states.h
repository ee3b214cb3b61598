/*
 * Where CPython has the states of its threads, read from outside.
 *
 * The interpreter keeps them in a list, the newest one first. Each has the number that the kernel
 * has for the thread or, before 3.11, the C library's, which leads to it; of a thread that is only
 * being made, none, or its maker's. Where all have been looked at, a thread that is not there runs
 * no Python until a newer state is. One thread.
 */
#pragma once

#include "collect/interpreter/interpreter.h"
#include "interpreter/frames.h"

#include <stdint.h>
#include <sys/types.h>

/* Where the state of @tid is in the process that @f reads, which has the interpreter @p; *@ret = 0:
 * it has none. 0 or -ENOMEM. */
int dw_python_state(struct dw_interpreter_frames *f, struct dw_interpreter_process *p, pid_t tid,
		    uint64_t *ret);
