/*
 * From a clone image's code back to its module, what the image calls by name, and its statements.
 *
 * The image is a file of ours, checked all the same. The same walk as the agent's
 * (src/agent/clones/ lookup.c), which has no files. One thread.
 */
#pragma once

#include "base/vec.h"
#include "wire/clone-image.h"

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

/* Where an instruction is, for walks that need not begin with the function. */
struct dw_origin_mark {
	uint32_t instruction; /* in the list of instructions */
	uint32_t clone;	      /* area offset */
	uint32_t module;      /* module offset */
};

/* The marks of a function: @n from @first on, 0 = it has not been walked. */
struct dw_origin_marks {
	uint32_t first;
	uint32_t n;
};

struct dw_clone_map {
	const struct dw_clone_function_entry *functions; /* borrowed */
	uint32_t functions_n;
	uint32_t bytes;	       /* of the image's area */
	uint8_t *instructions; /* owned */
	size_t instructions_n;
	struct dw_clone_import *imports; /* owned */
	uint32_t imports_n;
	struct dw_clone_statement *statements; /* owned */
	uint32_t statements_n;
	DW_VEC(struct dw_origin_mark) marks;
	struct dw_origin_marks *marks_of; /* by function; owned */
};

/* An instruction of the module. */
struct dw_clone_origin {
	uint32_t at; /* module offset */
	uint32_t bytes;
	uint32_t clone_bytes;
	uint32_t behind; /* bytes of its clone that follow the one that was asked for */
};

/*
 * Load what the image file @path, whose header and functions are at hand (borrowed), says beside
 * them. 0; DWELL_ERR_FORMAT; -ENOMEM; -errno. dw_clone_map_release() in any case.
 */
int dw_clone_map_load(struct dw_clone_map *m, const char *path,
		      const struct dw_clone_header *header,
		      const struct dw_clone_function_entry *functions);

/* The instruction that the code at area offset @at was made from. 0 or DWELL_ERR_NOT_FOUND. */
int dw_clone_map_find(struct dw_clone_map *m, uint32_t at, struct dw_clone_origin *ret);

/* The index of the function whose clone holds the area offset @at, m->functions_n = none. */
uint32_t dw_clone_map_function(const struct dw_clone_map *m, uint32_t at);

/* Whether @at, in the clone of the function of index @i, is in the probe at its entry, which
 * prepares and calls a gate. */
bool dw_clone_map_is_probe(const struct dw_clone_map *m, uint32_t i, uint32_t at);

/* Free everything. */
void dw_clone_map_release(struct dw_clone_map *m);
