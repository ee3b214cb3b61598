/*
 * The functions with most individual work and the types of objects that matter most, and in how
 * many processes they are, which rows that are not split do not tell by themselves.
 */
#pragma once

#include "analysis/calls.h"
#include "analysis/points.h"
#include "analysis/row-keys.h"
#include "model/totals.h"

/* Find the hot rows of @t, whose rows are not split, into its lists. */
void dw_hot_rows_find(struct dw_totals *t);

/* Count the processes of the hot rows of @t, the totals of @points. 0 or -ENOMEM. */
int dw_hot_rows_spread(const struct dw_points *points, const struct dw_row_keys *row_keys,
		       struct dw_totals *t);

/* Likewise the totals of @nodes. */
int dw_hot_rows_spread_calls(const struct dw_call_nodes *nodes, struct dw_totals *t);
