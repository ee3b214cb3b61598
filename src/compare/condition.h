/*
 * Conditions that a comparison is held against, for somebody who wants to hear of regressions.
 *
 *   calls > 0 %                                       of any row of the view that is shown
 *   functions:parse*:application_inclusive > 5 %      of the functions whose name fits
 *
 * A count whose runs agree decides by itself; a function that is new has grown without limit, also
 * one that is taken for another by its code alone. All else is tested over the runs: a condition is
 * met where the difference is significant and larger than what is allowed, and nothing is decided
 * where there are too few runs to tell. One thread.
 */
#pragma once

#include "base/error.h"
#include "compare/comparison.h"

#include <stdbool.h>
#include <stddef.h>

struct dw_condition {
	const struct dw_view_ops *view; /* NULL = the one that is shown */
	char *glob;			/* of names; NULL = all */
	char *name;			/* of the column, as it was written */
	enum dw_column column;		/* when it was resolved */
	double allowed;
	bool is_pct;  /* of the base; */
	bool is_time; /* has a unit of time, and is in ns; else in the column's unit, seconds */
};

enum dw_condition_result { DWELL_IS_NOT_MET = 0, DWELL_IS_UNDECIDED, DWELL_IS_MET };

/* Why a condition is met or cannot be decided: the row that is the farthest off. */
struct dw_condition_finding {
	enum dw_condition_result result;
	size_t row;
	double base, now;
	size_t meeting;	    /* rows that meet it */
	size_t runs_wanted; /* undecided: so many runs a side would do */
};

/* Read @text. 0, or a negative code with what is wrong: DWELL_ERR_USAGE. Release in any case. */
int dw_condition_parse(struct dw_condition *condition, const char *text, struct dw_error *err);

/* Find the column that the condition means in sessions like @p under @view, and its unit. 0, or
 * DWELL_ERR_USAGE with a line: there is none, or it has no such unit. Once. */
int dw_condition_resolve(struct dw_condition *condition, const struct dw_view_ops *view,
			 const struct dw_profile *p, struct dw_error *err);

/* Hold @c, which is finished and has the condition's column, against @condition. 0, -ENOMEM, or
 * DWELL_ERR_NOT_FOUND: no row fits. */
int dw_condition_check(const struct dw_condition *condition, const struct dw_comparison *c,
		       struct dw_condition_finding *ret, struct dw_error *err);

/* Free everything. */
void dw_condition_release(struct dw_condition *condition);
