/*
 * The order of rows in the tables of totals: heaviest first, call trees depth first; and where
 * statements stand in that of lines.
 */
#pragma once

#include "base/map.h"
#include "model/symbol.h"
#include "model/totals.h"
#include "model/worth.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The rows of an array of @t, those with most of their own of the main measure first, then most at
 * or below them (or the other way round), then as they were.
 * @amounts  that member of the first element; NULL when @n is 0.
 * @stride   bytes from one element to the next.
 * *@ret: @n indices, malloc()ed. 0 or -ENOMEM.
 */
int dw_order_rows(const struct dw_totals *t, const uint32_t *amounts, size_t stride, size_t n,
		  bool by_inclusive, size_t **ret);

/*
 * The nodes of @t that are @worth it, parents before their children, heaviest child first and
 * followed by all of its own. *@ret: their indices, malloc()ed, *@ret_n of them. 0 or -ENOMEM.
 */
int dw_order_nodes(const struct dw_totals *t, const struct dw_worth *worth, size_t **ret,
		   size_t *ret_n);

/* Ranks of statements. Zero-initialised is empty. */
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
