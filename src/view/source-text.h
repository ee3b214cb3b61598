/*
 * Lines of source files, for views that show them: of files that the session holds, that lie where
 * the debug information says, or below folders that the user names. They are opened with the user's
 * own rights, and only when a line of them is asked for. One thread.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_source_file {
	char *text; /* NULL = it was not found */
	size_t bytes;
	DW_VEC(uint32_t) starts; /* of lines, and the end */
};

struct dw_source_text {
	const struct dw_profile *profile; /* borrowed */
	const char *const *dirs;	  /* likewise */
	size_t dirs_n;
	DW_VEC(struct dw_source_file) files; /* 0 unused */
	struct dw_map by_name;		     /* string id -> index */
	size_t bytes;			     /* of all texts */
	bool only_packed;		     /* open no file: who asks is not the user */
	uint32_t missing;		     /* string id of a file that was not found, 0 = none */
	size_t missing_n;
};

/* Make ready to serve @p. Nothing is opened. */
void dw_source_text_init(struct dw_source_text *s, const struct dw_profile *p,
			 const char *const *dirs, size_t dirs_n);

/* Line @line (from 1) of the file whose path is string @file, without its end, borrowed until the
 * next call. NULL = there is no such line, or nobody has the file. */
const char *dw_source_text_line(struct dw_source_text *s, uint32_t file, uint32_t line, size_t *n);

/* Free everything. */
void dw_source_text_release(struct dw_source_text *s);
