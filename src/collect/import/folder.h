/*
 * Folders of `perf record --threads`: the file "data" is a perf.data file, and "data.0", "data.1"
 * and so on have the records of one thread of perf each.
 */
#pragma once

#include "collect/import/plain.h"

/* Open the file called @name in the folder @folder: a regular one, no link. A descriptor or -errno.
 */
int dw_perf_folder_open(int folder, const char *name);

/* Make the records of @first, those of the file "data", and of all other files of @folder @f's.
 * As dw_plain_write(). */
int dw_perf_folder_write(struct dw_perf_file *f, const struct dw_plain_input *first, int folder,
			 struct dw_error *err);
