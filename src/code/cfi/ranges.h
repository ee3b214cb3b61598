/*
 * Function ranges from unwind information: where functions of a stripped file begin and end.
 */
#pragma once

#include "base/error.h"
#include "code/elf/elf.h"

#include <stddef.h>
#include <stdint.h>

struct dw_cfi_range {
	uint64_t start; /* svma */
	uint64_t end;	/* exclusive */
};

/*
 * All ranges that FDEs of @elf describe, sorted by start, overlaps as they are.
 * *@ret is the caller's to free(). 0 (also with none: *@ret_n = 0); DWELL_ERR_FORMAT; -errno.
 */
int dw_cfi_ranges(const struct dw_elf *elf, struct dw_cfi_range **ret, size_t *ret_n,
		  struct dw_error *err);

/* The innermost range of the sorted @ranges that holds @svma, NULL = none. */
const struct dw_cfi_range *dw_cfi_range_find(const struct dw_cfi_range *ranges, size_t n,
					     uint64_t svma);
