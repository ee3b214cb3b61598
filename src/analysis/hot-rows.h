/*
 * The functions with most individual work and the types of objects that matter most: one row for
 * each, however many processes have it.
 */
#pragma once

#include "model/profile.h"
#include "model/totals.h"

#include <stddef.h>
#include <stdint.h>

struct dw_hot_function {
	uint32_t row;	    /* index of one of its totals in totals->functions */
	uint32_t processes; /* that have such a row */
	struct dw_call_ranges extremes;
};

struct dw_hot_functions {
	DW_VEC(struct dw_hot_function) rows; /* the one with most first */
	struct dw_amounts amounts;	     /* by row */
};

/* What row @i has. */
struct dw_measured dw_hot_functions_measured(const struct dw_hot_functions *h, size_t i);

/* What decides. */
enum dw_hot_functions_order { DWELL_HOT_WORK, DWELL_HOT_WAITS };

/*
 * Find the first @max of @t, the totals of @p; of waits those that have any. Threads outside their
 * functions are one row for each name that threads go by. 0 or -ENOMEM, to be released in either
 * case.
 */
int dw_hot_functions_find(const struct dw_profile *p, const struct dw_totals *t,
			  enum dw_hot_functions_order order, size_t max,
			  struct dw_hot_functions *ret);

/* Free everything. */
void dw_hot_functions_release(struct dw_hot_functions *h);

/* What decides. */
enum dw_hot_types_order {
	DWELL_TYPES_BY_BYTES,
	DWELL_TYPES_BY_OBJECTS,
	DWELL_TYPES_BY_OLD_BYTES, /* collected in generation 2 */
};

struct dw_hot_type {
	uint32_t type;	    /* id of one of the types of this name */
	uint32_t processes; /* that have it */
	uint32_t amounts;   /* row of dw_hot_types.amounts */
};

struct dw_hot_types {
	DW_VEC(struct dw_hot_type) rows; /* the one with most first */
	struct dw_amounts amounts;
};

/* Find the first @max of @t, the totals of @p; those with nothing of what decides are left out. 0
 * or -ENOMEM, to be released in either case. */
int dw_hot_types_find(const struct dw_profile *p, const struct dw_totals *t,
		      enum dw_hot_types_order order, size_t max, struct dw_hot_types *ret);

/* Free everything. */
void dw_hot_types_release(struct dw_hot_types *h);
