/*
 * Reading a region's arena: its lines in their order, a step at a time, as they are just now.
 *
 * Lines are those of wire/call-tree.h, by their index. The target writes while we read: what is
 * half old and half new is whole the next time. One thread.
 */
#pragma once

#include "base/error.h"
#include "base/vec.h"
#include "collect/region/read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DWELL_ARENA_LINES_MAX = 1 << 24 }; /* 1 GB, where nobody says another number */

struct dw_arena_line {
	uint64_t words[DWELL_LINE_BYTES / sizeof(uint64_t)];
};

/* Where a chunk's lines are in the file. */
struct dw_arena_chunk {
	uint32_t line, n; /* the first, and how many */
	uint64_t at;	  /* bytes */
};

/* Zero-initialised. */
struct dw_arena {
	DW_VEC(struct dw_arena_chunk) chunks; /* as of the last reading */
	uint64_t lines_max;		      /* 0 = DWELL_ARENA_LINES_MAX */
};

/* Is given @n @lines, the first of index @at: borrowed until it returns. 0, or what ends the
 * reading. */
typedef int dw_arena_step_fn(void *ctx, uint32_t at, uint32_t n, const struct dw_arena_line *lines);

/*
 * Read the arena of the region @fd, whose head was just read, and give all of it to @step. 0;
 * DWELL_ERR_FORMAT (chunks that make no sense, or a file that has become shorter); DWELL_ERR_LIMIT
 * (beyond lines_max); -ENOMEM; -errno; what @step gave.
 */
int dw_arena_read(struct dw_arena *a, int fd, const struct dw_region_head *head,
		  dw_arena_step_fn *step, void *ctx);

/* The lines that it has. */
static inline uint64_t dw_arena_lines(const struct dw_arena *a)
{
	const struct dw_arena_chunk *last = a->chunks.n ? &a->chunks.v[a->chunks.n - 1] : NULL;

	return last ? (uint64_t)last->line + last->n : 0;
}

/* Read @n lines from @line on once more, to @ret. False, and zeros: they cannot be read. */
bool dw_arena_get(const struct dw_arena *a, int fd, uint32_t line, uint32_t n, void *ret);

/* Free everything. */
void dw_arena_release(struct dw_arena *a);
