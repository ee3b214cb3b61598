/*
 * Which method's machine code lay at which address of a process, and since when, as its .NET agent
 * tells (wire/managed-code.h). Hostile input: what makes no sense is dropped. One thread.
 */
#pragma once

#include "base/vec.h"
#include "collect/clr/tables.h"

#include <stdbool.h>
#include <stdint.h>

/* Code of one method, [@start, @end). */
struct dw_code_piece {
	uint64_t start, end;
	uint64_t since_ns; /* CLOCK_MONOTONIC */
	uint32_t row;	   /* of DWELL_CLR_CODES */
};

struct dw_code_map {
	DW_VEC(struct dw_code_piece) pieces; /* the newest, sorted, none overlaps another */
	DW_VEC(struct dw_code_piece) old;    /* those whose memory has come to hold newer ones */
	DW_VEC(struct dw_code_piece) fresh;  /* being added */
	DW_VEC(uint64_t) changes;	     /* when memory came to hold others, rising */
	uint32_t taken;			     /* rows of the table */
	uint64_t broken;
};

/* Add the rows that @t has more than @m. 0 or -ENOMEM. */
int dw_code_map_take(struct dw_code_map *m, const struct dw_clr_tables *t);

/* What lay at @avma at @time_ns, borrowed until the next change. NULL = no code that was told. */
const struct dw_code_piece *dw_code_map_find(const struct dw_code_map *m, uint64_t avma,
					     uint64_t time_ns);

/* Free everything. */
void dw_code_map_release(struct dw_code_map *m);
