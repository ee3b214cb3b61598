/*
 * The modules of an instrumented session: their files, what they export and import, and what their
 * clone images say.
 *
 * Filled while processes run, for they can be gone before their trees are read. Files are held open
 * until the session is finished. One thread.
 */
#pragma once

#include "base/map.h"
#include "base/strings.h"
#include "base/vec.h"
#include "collect/region/process.h"
#include "model/profile.h"
#include "record/module-image.h"
#include "symbol/module-symbols.h"
#include "symbol/plt.h"
#include "symbol/symbolize.h"
#include "target/file.h"
#include "wire/clone-image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * From a clone image's code back to its module, what the image calls by name, and its statements.
 *
 * The image is a file of ours, checked all the same. The same walk as the agent's
 * (src/agent/clones/lookup.c), which has no files.
 */

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
 * prepares and calls a trampoline. */
bool dw_clone_map_is_probe(const struct dw_clone_map *m, uint32_t i, uint32_t at);

/* Free everything. */
void dw_clone_map_release(struct dw_clone_map *m);

enum { DWELL_CALL_MODULES_MAX = 4096 }; /* of a session */

struct dw_call_module {
	char path[DWELL_REGION_PATH];  /* as processes name it */
	uint64_t headers_hash;	       /* struct dw_region_module; 0 = from mappings only */
	uint32_t id;		       /* in the profile */
	uint64_t start;		       /* svma that module offsets count from */
	struct dw_module_image *image; /* borrowed, NULL = none was wanted */
	/* what follows is loaded when it is needed */
	struct dw_elf *elf;
	bool has_exports, has_imports, has_map;
	struct dw_exports exports;
	struct dw_plt imports;
	struct dw_clone_map map; /* without functions: there is none */
};

struct dw_call_modules {
	struct dw_profile *p; /* borrowed */
	DW_VEC(struct dw_call_module *) rows;
	const struct dw_rights *own;		 /* borrowed, ours; NULL = none are known */
	DW_VEC(struct dw_module_source) sources; /* by module id */
	size_t prepared;			 /* of rows */
	/* Functions that were called by an import: module and svma -> index in the names. */
	struct dw_pairs imported;
	DW_VEC(uint32_t) imported_names; /* ids of strings */
	struct dw_strings strings;
};

/* The module that some process calls @m, borrowed until release. NULL = not known. */
struct dw_call_module *dw_call_modules_find(const struct dw_call_modules *t,
					    const struct dw_region_module *m);

/*
 * Add the module @m of the process @p, which the kernel calls @file, with that file as @fd (taken
 * over; < 0 = it cannot be had). NULL: no memory, or DWELL_CALL_MODULES_MAX.
 */
struct dw_call_module *dw_call_modules_add(struct dw_call_modules *t,
					   const struct dw_region_module *m, const char *file,
					   int fd, const struct dw_region_process *p);

/* Note that the function at @svma of module @id was called by the name @name. Of
 * several the shortest stays, whichever came first. 0 or -ENOMEM. */
int dw_call_modules_note_import(struct dw_call_modules *t, uint32_t id, uint64_t svma,
				const char *name);

/* A dw_import_name_fn on a struct dw_call_modules. */
dw_import_name_fn dw_call_modules_import_name;

/* The svma of the function that @m exports as @name. 0 or DWELL_ERR_NOT_FOUND. */
int dw_call_module_export(struct dw_call_module *m, const char *name, uint64_t *ret);

/* The name of the function whose address the loader puts at @svma of @m, borrowed. NULL = none. */
const char *dw_call_module_import(struct dw_call_module *m, uint64_t svma);

/* The map of the image that @m runs from, borrowed. NULL = it has none, or it cannot be read. */
struct dw_clone_map *dw_call_module_map(struct dw_call_module *m);

/* Load of one more module what the first reading of its calls will ask for. False: all is there. */
bool dw_call_modules_prepare(struct dw_call_modules *t);

/* Close the files and free everything. */
void dw_call_modules_release(struct dw_call_modules *t);
