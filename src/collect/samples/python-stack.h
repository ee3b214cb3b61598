/*
 * Frames of Python and native ones in one stack: each native frame that evaluates frames of Python
 * gives way to these, so that what Python calls in C is below its caller, and what C calls back is
 * above it.
 */
#pragma once

#include "collect/python/python.h"
#include "collect/samples/deep-stack.h"
#include "collect/samples/record.h"

#include <stddef.h>
#include <stdint.h>

/* Whose stack it is. */
struct dw_python_merge {
	struct dw_profile *profile;
	const struct dw_python_process *process;
	struct dw_python_counts *counts; /* of what becomes of it */
};

/*
 * The stack id of @w, whose rows have frames and no stacks, with the frames of Python of @sample.
 * Where these do not go with the native ones they are left out, and counted. 0 or -ENOMEM.
 */
int dw_python_stack_merge(const struct dw_python_merge *m, const struct dw_walk *w,
			  const struct dw_python_sample *sample, uint32_t *ret);
