/*
 * The functions with most individual work and the types of objects that matter most.
 */
#pragma once

#include "model/totals.h"

#include <stddef.h>
#include <stdint.h>

struct dw_hot_row {
	uint32_t row;	    /* index in totals->functions, or ->types */
	uint32_t processes; /* that have it, 0 = not counted */
};

struct dw_hot_rows {
	DW_VEC(struct dw_hot_row) rows; /* the one with most first */
};

/* What decides. */
enum dw_hot_order {
	DWELL_HOT_WORK,		   /* of functions */
	DWELL_HOT_WAITS,	   /* likewise */
	DWELL_HOT_TYPES_BYTES,	   /* of types */
	DWELL_HOT_TYPES_OBJECTS,   /* likewise */
	DWELL_HOT_TYPES_OLD_BYTES, /* likewise: collected in generation 2 */
};

/*
 * Find the first @max of @t, whose rows are not split, but for work only those that have any of
 * what decides. 0 or -ENOMEM, to be released in either case.
 */
int dw_hot_rows_find(const struct dw_totals *t, enum dw_hot_order order, size_t max,
		     struct dw_hot_rows *ret);

/* Free everything. */
void dw_hot_rows_release(struct dw_hot_rows *h);
