/*
 * Values of calls and of objects, as chunks hold them.
 *
 * Most rows have few: a column of masks tells which, and a column of each value holds those alone.
 * Each of these columns tells its length first, so that a reader takes them side by side and makes
 * a row at a time. Values are what a target counted and may be anything: sums of them wrap, nothing
 * is indexed by them.
 */
#pragma once

#include "model/allocations.h"
#include "model/calls.h"
#include "session/columns.h"

#include <stddef.h>
#include <stdint.h>

enum { DWELL_VALUES_MAX = 12 }; /* columns beside the masks */

/* Append @n values, the first at @at, @stride bytes from one to the next. */
void dw_put_call_values(struct dw_buf *b, const void *at, size_t stride, size_t n);

/* Likewise those of objects. */
void dw_put_alloc_values(struct dw_buf *b, const void *at, size_t stride, size_t n);

/* Read what these have put. */
void dw_take_call_values(struct dw_cursor *c, void *at, size_t stride, size_t n,
			 const uint64_t limits[DWELL_LIMITS]);

/* Likewise those of objects. */
void dw_take_alloc_values(struct dw_cursor *c, void *at, size_t stride, size_t n,
			  const uint64_t limits[DWELL_LIMITS]);

/* Values while they are read one by one. */
struct dw_values_in {
	struct dw_cursor masks, columns[DWELL_VALUES_MAX];
	unsigned n;
};

/* Find the columns of values of calls at @c, which goes on behind them. */
void dw_call_values_open(struct dw_cursor *c, struct dw_values_in *ret);

/* Likewise those of objects. */
void dw_alloc_values_open(struct dw_cursor *c, struct dw_values_in *ret);

/* Read the next row, to @ret. */
void dw_call_values_next(struct dw_values_in *v, struct dw_call_values *ret);

/* Likewise of objects. */
void dw_alloc_values_next(struct dw_values_in *v, struct dw_alloc_values *ret);

/* Note in @c whether any column was malformed or is not at its end. */
void dw_values_close(struct dw_cursor *c, const struct dw_values_in *v);
