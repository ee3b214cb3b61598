/*
 * Which JIT code lay at which address of a process, and since when. Hostile input: pieces may
 * overlap as they like. One thread.
 */
#pragma once

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* Code of one method, [@start, @end), not empty. */
struct dw_code_piece {
	uint64_t start, end;
	uint64_t since_ns; /* CLOCK_MONOTONIC */
	uint32_t row;	   /* the owner's number for it; later pieces have larger ones */
};

struct dw_code_map {
	DW_VEC(struct dw_code_piece) pieces; /* the newest, sorted, none overlaps another */
	DW_VEC(struct dw_code_piece) old;    /* those whose memory has come to hold newer ones */
	DW_VEC(struct dw_code_piece) fresh;  /* being added */
	DW_VEC(uint64_t) changes;	     /* when memory came to hold others, rising */
	bool told_late; /* times are when it was told at the latest: what was told first counts
			   before, too */
};

/* Add @piece, which is not found before dw_code_map_merge(). 0 or -ENOMEM. */
int dw_code_map_add(struct dw_code_map *m, const struct dw_code_piece *piece);

/* Take in what was added. 0 or -ENOMEM. */
int dw_code_map_merge(struct dw_code_map *m);

/* What lay at @avma at @time_ns, borrowed until the next change. NULL = no code that was told. */
const struct dw_code_piece *dw_code_map_find(const struct dw_code_map *m, uint64_t avma,
					     uint64_t time_ns);

/* Free everything. */
void dw_code_map_release(struct dw_code_map *m);
