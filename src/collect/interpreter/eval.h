/*
 * Where the code of an interpreter's evaluation of frames lies (_PyEval_EvalFrameDefault,
 * execute_ex, rb_vm_exec), in a file that may have no symbols but the exported ones: each native
 * frame that is in it has frames of the interpreter.
 */
#pragma once

#include "code/elf/elf.h"

#include <stdbool.h>
#include <stdint.h>

enum { DWELL_INTERPRETER_EVAL_PARTS = 4 };

/* Its parts, by svma: the function, and what compilers have moved away from it as unlikely. */
struct dw_interpreter_eval {
	struct {
		uint64_t start, end;
	} parts[DWELL_INTERPRETER_EVAL_PARTS];
	uint32_t n; /* 0 = not found */
};

/* Find the function at @svma of @elf. 0 (also if there is none: @ret->n) or -ENOMEM. */
int dw_interpreter_eval_find(const struct dw_elf *elf, uint64_t svma,
			     struct dw_interpreter_eval *ret);

/* Whether @svma is in it. */
static inline bool dw_interpreter_eval_has(const struct dw_interpreter_eval *e, uint64_t svma)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (svma - e->parts[i].start < e->parts[i].end - e->parts[i].start)
			return true;
	return false;
}
