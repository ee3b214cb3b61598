/*
 * Where statements stand in the table of lines: rows of instructions refer to it.
 */
#pragma once

#include "base/map.h"
#include "model/symbol.h"
#include "model/totals.h"

/* Zero-initialised is empty. */
struct dw_line_ranks {
	struct dw_idset lines; /* index in totals.lines + 1 */
	struct dw_map ranks;   /* that index -> rank */
};

/* Note that the line with the index @row of @totals has @rank. Without memory it is not found. */
void dw_line_ranks_add(struct dw_line_ranks *r, const struct dw_totals *totals, size_t row,
		       uint32_t rank);

/* The rank of @at in @function of @process, 0 = none. @totals: the same as ever. */
uint32_t dw_line_ranks_find(const struct dw_line_ranks *r, const struct dw_totals *totals,
			    uint32_t process, uint32_t function, const struct dw_location *at);

/* Free everything. */
void dw_line_ranks_release(struct dw_line_ranks *r);
