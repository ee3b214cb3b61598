/*
 * Text of source files that a session holds, because it was asked to.
 */
#pragma once

#include "base/vec.h"

#include <stdint.h>

struct dw_source {
	uint32_t file; /* string: its path as the debug information names it */
	uint32_t bytes_n;
	char *text; /* owned; any bytes */
};

struct dw_sources {
	DW_VEC(struct dw_source) rows;
};

/* The text of @file, borrowed. NULL = the session has it not. */
const struct dw_source *dw_sources_get(const struct dw_sources *t, uint32_t file);

/* Free everything. */
void dw_sources_release(struct dw_sources *t);
