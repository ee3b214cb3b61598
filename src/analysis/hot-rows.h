/*
 * The functions with most individual work and the types of objects that matter most: one row for
 * each, however many processes have it.
 */
#pragma once

#include "model/profile.h"
#include "model/totals.h"

#include <stddef.h>
#include <stdint.h>

struct dw_hot_row {
	uint32_t row;	    /* index of one of its totals in totals->functions, or ->types */
	uint32_t processes; /* that have such a row */
	struct dw_extreme_values extremes;
};

struct dw_hot_rows {
	DW_VEC(struct dw_hot_row) rows; /* the one with most first */
	struct dw_amounts amounts;	/* by row */
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
 * Find the first @max of @t, the totals of @p, but for work only those that have any of what
 * decides. Threads outside their functions are one row for each name that threads go by. 0 or
 * -ENOMEM, to be released in either case.
 */
int dw_hot_rows_find(const struct dw_profile *p, const struct dw_totals *t, enum dw_hot_order order,
		     size_t max, struct dw_hot_rows *ret);

/* What row @i has. */
struct dw_measured dw_hot_rows_measured(const struct dw_hot_rows *h, size_t i);

/* Free everything. */
void dw_hot_rows_release(struct dw_hot_rows *h);
