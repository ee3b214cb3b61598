/*
 * Tables of jumps in a module's data: what their entries say.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "clone/module.h"

#include <stdbool.h>
#include <stdint.h>

/* Finds the pointer that a word of data holds. Zero-initialised is empty. */
struct dw_jump_words {
	struct dw_map by_at; /* svma -> index in m->pointers + 1 */
};

/* What is to be read. */
struct dw_jump_table_ask {
	uint64_t start;	     /* svma of entry 0 */
	uint64_t base;	     /* what 4-byte entries count from */
	uint8_t entry_bytes; /* 4 or 8 */
	bool is_tight;	     /* entries 0 to @max are all of the table */
	uint64_t max;	     /* largest index, UINT64_MAX = not known */
};

struct dw_jump_table_read {
	uint64_t start; /* svma of the first entry read; below the start asked for when indexes may
			   be negative */
	DW_VEC(uint64_t) to; /* svma */
};

/*
 * Read the table of a jump of @f. 0; DWELL_ERR_NOT_FOUND (no such table: writable, not code, not
 * into @f); DWELL_ERR_LIMIT; -ENOMEM. @ret may be used again and again; dw_vec_release() its list.
 */
int dw_jump_table_read(const struct dw_clone_module *m, const struct dw_clone_function *f,
		       const struct dw_jump_table_ask *ask, struct dw_jump_words *words,
		       struct dw_jump_table_read *ret);
