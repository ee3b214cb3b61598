/*
 * A private copy of a region's arena, and what has changed in it since the reading before.
 *
 * Lines are those of wire/call-tree.h, by their index. The target writes while we read: what is
 * half old and half new is whole the next time. One thread.
 */
#pragma once

#include "base/error.h"
#include "base/vec.h"
#include "collect/region/read.h"

#include <stddef.h>
#include <stdint.h>

enum { DWELL_ARENA_LINES_MAX = 1 << 24 }; /* 1 GB */

struct dw_arena_line {
	uint64_t words[DWELL_LINE_BYTES / sizeof(uint64_t)];
};

/* A line that the last reading found changed, or that was touched since. */
struct dw_arena_change {
	uint32_t line;
	/* the reader's own, from 0 */
	double cost;	/* ticks of probes that calls from here took */
	uint32_t place; /* in a list */
	struct dw_arena_line old;
};

/* Where a chunk's lines are in the file. */
struct dw_arena_chunk {
	uint32_t line, n; /* the first, and how many */
	uint64_t at;	  /* bytes */
};

struct dw_arena {
	DW_VEC(struct dw_arena_chunk) chunks; /* as of the last reading */
	DW_VEC(struct dw_arena_line) lines;
	DW_VEC(uint32_t) change_of; /* by line: index in changes, if that is of the line */
	DW_VEC(struct dw_arena_change) changes;
};

/*
 * Bring the copy up to date with the arena of the region @fd, whose head was just read, and list
 * the changed lines by rising index. 0; DWELL_ERR_FORMAT (chunks that make no sense, or a file that
 * has become shorter); DWELL_ERR_LIMIT (beyond DWELL_ARENA_LINES_MAX); -ENOMEM; -errno.
 */
int dw_arena_read(struct dw_arena *a, int fd, const struct dw_region_head *head);

/* The index of @line's entry in a->changes, which is added when it is not there. -ENOMEM. */
int64_t dw_arena_touch(struct dw_arena *a, uint32_t line);

/* Read @n lines from @line on once more, to @ret: newer than the whole copy, which stays as it is.
 * Where that cannot be, as dw_arena_get(). */
void dw_arena_get_newer(const struct dw_arena *a, int fd, uint32_t line, uint32_t n, void *ret);

/* Copy @n lines from @line on (all of them in the copy) to @ret: as they are. */
void dw_arena_get(const struct dw_arena *a, uint32_t line, uint32_t n, void *ret);

/* Likewise as they were at the reading before. */
void dw_arena_get_old(const struct dw_arena *a, uint32_t line, uint32_t n, void *ret);

/* Free everything. */
void dw_arena_release(struct dw_arena *a);
