/*
 * The frames of a thread of Ruby 3.0 to 3.4: an array in the memory of the fiber that it runs. So
 * the frames of whoever resumes a fiber are not among them. [async-signal-safe]
 */
#pragma once

#include "interpreter/frames.h"

/* Its layout is struct dw_ruby_layout, its place the execution context; type: where the table of
 * names is kept, 0 = not known: methods in C have no frames then. */
extern const struct dw_interpreter_reader dw_ruby_reader;
