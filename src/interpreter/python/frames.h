/*
 * The frames of a thread of CPython 3.9 to 3.13. A code object is one by its type, and a chain of
 * frames counts only with the end that it must have. [async-signal-safe]
 */
#pragma once

#include "interpreter/frames.h"

/* Its layout is struct dw_python_layout, its place the state of the thread. */
extern const struct dw_interpreter_reader dw_python_reader;
