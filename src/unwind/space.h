/*
 * The code mappings of one process as the unwinder sees them: address -> module, bias, unwind
 * table.
 *
 * Sorted, non-overlapping. One thread at a time.
 */
#pragma once

#include "base/address.h"
#include "base/vec.h"
#include "code/cfi/table-format.h"
#include "code/cfi/table.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_space_range {
	uint64_t start;	 /* avma */
	uint64_t end;	 /* exclusive */
	uint64_t bias;	 /* svma = avma - bias (wraps) */
	uint32_t module; /* the caller's number for the module, e.g. a model module id; 0 = none */
	const struct dw_cfi_table
		*cfi; /* borrowed, must outlive the space; NULL = none: frame pointers are used */
};

/*
 * A row of an unwind table that was looked up before. Large tables do not fit any cache, while the
 * outer return addresses of a program's stacks are the same ones again and again. Tables never
 * change, so an entry is true as long as its table lives.
 */
struct dw_space_memo {
	const struct dw_cfi_table *cfi; /* NULL = free */
	uint64_t svma;
	struct dw_cfi_row row;
};

/* Where in code a walk stands. */
enum dw_space_place {
	DWELL_PLACE_NEXT, /* it is executed next */
	DWELL_PLACE_CALL, /* in a call */
	DWELL_PLACE_LEFT, /* in a call of code that stands on this frame: by the stack pointer only
			   */
};

/* Rows for code without a table: plain ones, SPECIAL with NONE for what has a frame pointer, or
 * with COMPLEX for what stands on the frame of that which it returns to. */
struct dw_space_rules {
	/* The row for @avma. False: none. */
	bool (*find)(void *ctx, uint64_t avma, enum dw_space_place place, struct dw_cfi_row *ret);
	void *ctx;
};

enum { DWELL_SPACE_MEMOS = 2048 };

struct dw_space {
	DW_VEC(struct dw_space_range) ranges;
	size_t last; /* index of the last hit */
	struct dw_space_memo
		*memos; /* DWELL_SPACE_MEMOS of them, made by the first walk. NULL = none */
	const struct dw_space_rules *rules; /* borrowed; NULL = none */
};

/* Add @range, replacing what it overlaps as mmap does. 0 or -ENOMEM. */
int dw_space_map(struct dw_space *s, const struct dw_space_range *range);

/* Remove [@start, @end), splitting ranges as munmap does. 0 or -ENOMEM. */
int dw_space_unmap(struct dw_space *s, uint64_t start, uint64_t end);

/* Make @to, an empty space, a copy of @from (fork). 0 or -ENOMEM. */
int dw_space_copy(struct dw_space *to, const struct dw_space *from);

/* The range that holds @avma, borrowed until the space changes. NULL = none. */
const struct dw_space_range *dw_space_find(struct dw_space *s, struct dw_avma avma);

/* Forget all mappings (exec), keep the memory. */
void dw_space_clear(struct dw_space *s);

/* Free the memory. */
void dw_space_release(struct dw_space *s);
