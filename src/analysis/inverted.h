/*
 * The call tree turned round: functions by what is their own, below each its callers, and theirs.
 *
 * It is made of the nodes of a call tree, so it has its numbers: what a row has is what its
 * outermost function did itself on paths through the callers down to the row. That of callers with
 * next to nothing is left out, as there may be as many of them as nodes times the depth of the
 * tree.
 */
#pragma once

#include "model/totals.h"

/* Make the nodes of *@ret, which is empty, from those of @t, which is a call tree. Callers with
 * less than @min_share of all are left out and counted in branches_left_out. 0 or -ENOMEM, to be
 * released in either case. */
int dw_totals_invert(const struct dw_totals *t, double min_share, struct dw_totals *ret);
