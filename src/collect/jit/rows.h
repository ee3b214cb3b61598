/*
 * Rows for the unwinder in made code, by its first and next instructions. One thread.
 */
#pragma once

#include "code/cfi/table-format.h"
#include "unwind/space.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { DWELL_JIT_BEGIN_BYTES = 32 };

/* The first bytes of a piece of code, read once. */
struct dw_jit_begin {
	uint8_t bytes[DWELL_JIT_BEGIN_BYTES];
	uint8_t n; /* 0 = not read yet */
};

/* Where a walk stands. */
struct dw_jit_where {
	pid_t pid;
	uint64_t start, end; /* of the piece, avma */
	uint64_t avma;
	enum dw_space_place place;
	bool is_dotnet; /* its code begins and ends as .NET's does */
};

/* The row at @where. @begin is that of its piece, read where it is needed. False: none is known. */
bool dw_jit_rows_find(const struct dw_jit_where *where, struct dw_jit_begin *begin,
		      struct dw_cfi_row *ret);
