/*
 * The records of a file in the order of time.
 *
 * Perf writes the rings of all processors one after the other, and now and then a mark: what is
 * older than the newest record before the mark before will not come any more. So records wait, by
 * place and time only, until a mark lets them go. One thread.
 */
#pragma once

#include "base/vec.h"
#include "collect/import/perf-file.h"

#include <stddef.h>
#include <stdint.h>

struct dw_import_waiting {
	uint64_t time_ns;
	uint64_t offset;
	uint32_t bytes;
};

struct dw_import_order {
	const struct dw_perf_file *file; /* borrowed */
	uint64_t offset;		 /* of the next record to be read */
	uint8_t *block;			 /* owned; NULL until needed */
	uint64_t block_offset;
	size_t block_bytes;
	bool is_long;				  /* the record before was */
	DW_VEC(struct dw_import_waiting) waiting; /* a heap: the oldest first */
	uint64_t limit_ns;			  /* what is not newer may go */
	uint64_t newest_ns;			  /* of all that were read */
	uint64_t round_ns;			  /* at the mark before the last */
	bool at_end;
	bool is_cut;	 /* the file ends within a record, or with what is none */
	uint8_t *record; /* owned: the one that was given last */
};

/* The next record, header included, borrowed until the next call, in *@ret; *@n its bytes, 0 at the
 * end. 0, -ENOMEM or another -errno. */
int dw_import_next(struct dw_import_order *o, const void **ret, size_t *n);

/* Free everything. */
void dw_import_order_release(struct dw_import_order *o);
