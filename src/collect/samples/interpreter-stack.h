/*
 * Frames of an interpreter and native ones in one stack: each native frame that evaluates frames of
 * the interpreter gives way to these, so that what these call in C is below its caller, and what C
 * calls back is above it.
 */
#pragma once

#include "collect/interpreter/interpreter.h"
#include "collect/samples/deep-stack.h"
#include "collect/samples/record.h"

#include <stddef.h>
#include <stdint.h>

/* Whose stack it is. */
struct dw_interpreter_merge {
	struct dw_profile *profile;
	const struct dw_interpreter_process *process;
	struct dw_interpreter_counts *counts; /* of what becomes of it */
};

/* Whether @sample has frames that are on other native stacks than the innermost one. */
bool dw_interpreter_stack_has_callers(const struct dw_interpreter_sample *sample);

/*
 * The stack id of @w, whose rows have frames and no stacks, with the interpreter's frames of
 * @sample. Where these do not go with the native ones they are left out, and counted. 0 or -ENOMEM.
 */
int dw_interpreter_stack_merge(const struct dw_interpreter_merge *m, const struct dw_walk *w,
			       const struct dw_interpreter_sample *sample, uint32_t *ret);
