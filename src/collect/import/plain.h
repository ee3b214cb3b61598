/*
 * Making records plain: what comes as a stream, or compressed, becomes a file without a name whose
 * records lie one behind the other.
 */
#pragma once

#include "collect/import/perf-file.h"

#include <stdbool.h>
#include <stdint.h>

/* Where records come from. */
struct dw_plain_input {
	int fd;		 /* borrowed */
	uint64_t offset; /* of the next byte; of streams, of those that were read */
	uint64_t end;
	bool is_stream; /* read(), not pread() */
};

/*
 * Write the records of the @n inputs @in to a file that becomes @f's, and let those that describe
 * the recording do so. An input that ends within a record ends before it. Marks of rounds, which
 * hold for one input, are left out of several. 0, DWELL_ERR_FORMAT or -errno.
 */
int dw_plain_write(struct dw_perf_file *f, struct dw_plain_input *in, size_t n,
		   struct dw_error *err);

/*
 * Folders of `perf record --threads`: the file "data" is a perf.data file, and "data.0", "data.1"
 * and so on have the records of one thread of perf each.
 */

/* Open the file called @name in the folder @folder: a regular one, no link. A descriptor or -errno.
 */
int dw_perf_folder_open(int folder, const char *name);

/* Make the records of @first, those of the file "data", and of all other files of @folder @f's.
 * As dw_plain_write(). */
int dw_perf_folder_write(struct dw_perf_file *f, const struct dw_plain_input *first, int folder,
			 struct dw_error *err);
