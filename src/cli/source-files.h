/*
 * Source text for reports: files as the debug information names them, or below folders that the
 * user names. They are opened with the user's own rights, and only when a line of them is asked
 * for. One thread.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "model/profile.h"
#include "view/source-text.h"

#include <stddef.h>
#include <stdint.h>

struct dw_source_file {
	char *text; /* NULL = it was not found */
	size_t bytes;
	DW_VEC(uint32_t) starts; /* of lines, and the end */
};

struct dw_source_files {
	const struct dw_profile *profile; /* borrowed */
	const char *const *dirs;	  /* likewise */
	size_t dirs_n;
	DW_VEC(struct dw_source_file) files; /* 0 unused */
	struct dw_map by_name;		     /* string id -> index */
	size_t bytes;			     /* of all texts */
	uint32_t missing;		     /* string id of a file that was not found, 0 = none */
	size_t missing_n;
	struct dw_source_text text; /* what views ask */
};

/* Make ready to serve @p. Nothing is opened. @s does not move until it is released. */
void dw_source_files_init(struct dw_source_files *s, const struct dw_profile *p,
			  const char *const *dirs, size_t dirs_n);

/* Free everything. */
void dw_source_files_release(struct dw_source_files *s);
