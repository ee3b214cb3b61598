/*
 * Several sessions as one: the rows of each behind those of the ones before, on one timeline one
 * after the other. What is equal in several is one row, threads and processes stay apart.
 *
 * Sessions come one by one, and what slices have chunk by chunk, so that memory holds one of them
 * and the names and stacks of all. The result is written and finished as a recording is. One
 * thread.
 */
#pragma once

#include "base/error.h"

struct dw_merge;

/* Begin to write @path.partial as dw_session_create() does, which @path may be as it says. */
int dw_merge_begin(const char *path, struct dw_merge **ret, struct dw_error *err);

/* Add the finished session at @path. 0, errors of dw_session_load(), or DWELL_ERR_UNSUPPORTED: it
 * does not go with the others, or is not finished. After a failure @m is only good to be freed. */
int dw_merge_add(struct dw_merge *m, const char *path, struct dw_error *err);

/* Write the session in the place of what had its name. 0 or a negative code. */
int dw_merge_end(struct dw_merge *m, struct dw_error *err);

/* Free @m. What was not ended is removed. NULL is fine. */
void dw_merge_free(struct dw_merge *m);
