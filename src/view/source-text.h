/*
 * Lines of source files, for views that show them. Who opens the view knows where files are.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct dw_source_text {
	/* Line @line (from 1) of the file whose path is string @file, without its end, borrowed
	 * until the next call. NULL = there is no such line, or nobody has the file. */
	const char *(*line)(void *ctx, uint32_t file, uint32_t line, size_t *n);
	void *ctx;
};
