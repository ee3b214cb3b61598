/*
 * Lanes: which threads' rows are added up together, as a filter wants rows split.
 *
 * Whatever adds up by lane needs no more work for many processes than for one, unless they are told
 * apart. Types of objects are each process's own; in a lane those of one name and module are one.
 */
#pragma once

#include "analysis/totals.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_lanes {
	const struct dw_profile *profile;
	enum dw_by by;
	uint32_t n;	    /* lanes are below this */
	uint32_t threads_n; /* thread ids are below this */
	uint32_t *process; /* by thread id, 0 included: its process, 0 = not known; UINT32_MAX = the
			    * filter leaves the thread out */
	uint32_t *of;	   /* likewise: its lane */
	uint32_t *type;	   /* by type id: the first type of the same name and module */
};

/* Find the lanes of @p (borrowed) under @filter. 0 or -ENOMEM, to be released in either case. */
int dw_lanes_init(struct dw_lanes *l, const struct dw_profile *p, const struct dw_filter *filter);

/* Say in @ret what the lanes are, and how many processes have anything: @has, by thread id. 0 or
 * -ENOMEM. */
int dw_lanes_put(const struct dw_lanes *l, const bool *has, struct dw_totals *ret);

/* Free everything. */
void dw_lanes_release(struct dw_lanes *l);
