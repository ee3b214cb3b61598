/*
 * The rows of weights by thread, for formats that have threads apart.
 */
#pragma once

#include "export/paths.h"
#include "export/weights.h"

#include <stdint.h>

#define DWELL_NO_ROW UINT32_MAX

struct dw_export_threads {
	uint32_t n;	 /* thread ids are below this */
	uint32_t *first; /* by thread id: its first row, DWELL_NO_ROW = none */
	uint32_t *next;	 /* by row */
};

/* List the rows of @w, those of a thread in their order. 0 or -ENOMEM, to be released in either
 * case. */
int dw_export_threads_init(struct dw_export_threads *t, const struct dw_paths *p,
			   const struct dw_weights *w);

/* What people call @thread and its process, with their ids. Made in @scratch. */
const char *dw_export_thread_title(const struct dw_paths *p, uint32_t thread,
				   struct dw_buf *scratch);

/* Free everything. */
void dw_export_threads_release(struct dw_export_threads *t);

/* The row behind @row in its thread, DWELL_NO_ROW = none. */
static inline uint32_t dw_export_threads_next(const struct dw_export_threads *t, uint32_t row)
{
	return t->next[row];
}
