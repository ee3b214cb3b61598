/*
 * What the module's own file tells without any helper: function ranges and machine code.
 */
#pragma once

#include "base/vec.h"
#include "code/cfi/ranges.h"
#include "code/elf/elf.h"
#include "model/symbol.h"
#include "target/source.h"

#include <stddef.h>
#include <stdint.h>

enum { DWELL_CODE_MAX_BYTES = 1 << 20 }; /* of one function; the rest is left out */

/* A module's file as far as our own readers go. All NULL when it cannot be read. */
struct dw_module_code {
	struct dw_elf *elf;
	const struct dw_cfi_table *cfi; /* borrowed; when NULL, @ranges are listed instead */
	struct dw_cfi_range *ranges;
	size_t ranges_n;
};

/* A stretch of code that belongs to a function. */
struct dw_code_range {
	uint32_t function;
	uint64_t svma;
	uint64_t bytes;
};

/* Open the module behind @source. Cannot fail: what is not there stays empty. */
void dw_module_code_open(struct dw_module_code *m, const struct dw_module_source *source);

/* What the unwind information at @svma describes. 0 or DWELL_ERR_NOT_FOUND. */
int dw_module_code_unwind_range(const struct dw_module_code *m, uint64_t svma,
				struct dw_cfi_range *ret);

/* The stretch of function @id = @f around the frame at @svma: its own range, else that of the
 * unwind table. 0 bytes when neither holds it. */
struct dw_code_range dw_module_code_range(const struct dw_module_code *m, uint32_t id,
					  const struct dw_function *f, uint64_t svma);

/* Copy the code of @ranges, @n of them, each once, to @codes. Sorts @ranges. 0 or -ENOMEM. */
int dw_module_code_copy(const struct dw_module_code *m, struct dw_code_range *ranges, size_t n,
			struct dw_codes *codes);

/* Free everything. */
void dw_module_code_release(struct dw_module_code *m);
