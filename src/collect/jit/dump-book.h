/*
 * What a jitdump adds to the book of a process. A part of jit.h for its own folder.
 */
#pragma once

#include "collect/jit/jit.h"

/* Take in what has been written to the dump of @p, if it has one. 0 or -ENOMEM. */
int dw_jit_read_dump(struct dw_jit_process *p);

/* Read the lines of @piece, which has a function and whose code lies as @code says. 0 or -ENOMEM.
 */
int dw_jit_read_lines(struct dw_jit_process *p, const struct dw_jit_piece *piece,
		      const struct dw_code_piece *code);
