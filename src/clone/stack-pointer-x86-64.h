/*
 * Functions that may go on on another stack.
 */
#pragma once

#include "clone/module.h"

/* Whether @f loads the stack pointer with what may be another stack's: a register that it has not
 * copied the stack pointer to, or a word of memory that is not of its frame. */
bool dw_switches_stacks(const struct dw_clone_module *m, const struct dw_clone_function *f);
