/*
 * Rows of values, as chunks of calls and allocations hold them.
 *
 * First the keys of what each row adds to: a slice and an id. Then the values, of which most rows
 * have few: a column of masks tells which, and a column of each value holds those alone. Each of
 * these columns tells its length first, so that a reader takes them side by side and makes a row
 * at a time.
 */
#pragma once

#include "session/columns.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DWELL_MEASURED_MAX = 12 }; /* columns beside the masks */

/* Values while they are written. */
struct dw_measured_out {
	struct dw_buf masks, columns[DWELL_MEASURED_MAX];
};

/* Append the masks and the first @n columns of @v to @b, and free them. */
void dw_measured_put(struct dw_buf *b, struct dw_measured_out *v, unsigned n);

/* Values while they are read. */
struct dw_measured_in {
	struct dw_cursor masks, columns[DWELL_MEASURED_MAX];
	unsigned n;
};

/* Find the masks and @n columns at @c, which goes on behind them. */
void dw_measured_open(struct dw_cursor *c, unsigned n, struct dw_measured_in *ret);

/* Note in @c whether any column was malformed or is not at its end. */
void dw_measured_close(struct dw_cursor *c, const struct dw_measured_in *v);

/* Keys while they are read. */
struct dw_keys_in {
	struct dw_cursor slice_column, id_column;
	uint64_t slices, ids; /* that exist */
	uint64_t slice, id;   /* of the row that was read last */
	uint64_t before;      /* the slice of the row before, which may be another chunk's */
};

/* Find the keys of @n rows at @c, which goes on behind them. There are @slices slices (from 0) and
 * @ids ids (from 1), and the rows of chunks before went up to the slice @before. */
struct dw_keys_in dw_keys_open(struct dw_cursor *c, size_t n, uint64_t slices, uint64_t ids,
			       uint64_t before);

/* Read the next keys. Whether both exist and the slice is not one before the last. */
static inline bool dw_keys_next(struct dw_keys_in *k)
{
	dw_take_delta(&k->slice_column, &k->slice);
	dw_take_delta(&k->id_column, &k->id);
	if (k->slice < k->before)
		return false;
	k->before = k->slice;
	return k->slice < k->slices && k->id && k->id <= k->ids && !k->slice_column.failed &&
	       !k->id_column.failed;
}
