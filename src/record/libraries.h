/*
 * The libraries that a program would load, without running it.
 */
#pragma once

#include "base/error.h"
#include "base/vec.h"

struct dw_libraries {
	DW_VEC(char *) paths; /* owned */
};

/*
 * List what the loader would load for the program @path, which takes an agent (program.h), in its
 * order. The loader itself is asked; no code of the program or of its libraries runs. 0; -errno;
 * DWELL_ERR_FORMAT (the loader refused). Release in any case.
 */
int dw_libraries_list(const char *path, struct dw_libraries *ret, struct dw_error *err);

/* Free everything. */
void dw_libraries_release(struct dw_libraries *l);
