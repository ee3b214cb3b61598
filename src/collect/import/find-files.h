/*
 * Files of modules that a recording of another time, maybe of another machine, names: found by path
 * or by build-id.
 */
#pragma once

#include "base/map.h"
#include "base/strings.h"
#include "collect/import/decode.h"
#include "collect/import/perf-file.h"
#include "collect/samples/modules.h"

/* What is known of the files that are mapped. */
struct dw_import_files {
	const struct dw_perf_file *file;	 /* borrowed */
	const struct dw_import_mapping *mapping; /* the one at hand, borrowed */
	struct dw_strings paths;
	struct dw_map by_path; /* id of the path -> index + 1 in build_ids */
	const char *cache_dir; /* of unwind tables, borrowed, NULL = none */
	const char *home;      /* where perf keeps copies, borrowed, NULL = none */
};

/* Note the build-ids of @f->file. 0 or -ENOMEM. */
int dw_import_files_init(struct dw_import_files *f);

/* A dw_module_find_fn on a struct dw_import_files: the file of the very build-id that was recorded,
 * or where none was the file that has that name now. */
dw_module_find_fn dw_import_files_find;

/* Free everything. */
void dw_import_files_release(struct dw_import_files *f);
