/*
 * What is known of functions and modules beside sums: the shortest and the longest activations, and
 * which functions were switched off while the program ran.
 *
 * Extremes are known of whole sessions only, by the rule that they were measured by: not in a range
 * of time, not under a filter by module, and their application times not by the classic rule.
 */
#pragma once

#include "analysis/call-nodes.h"

/* Give the functions and modules in @ret what is known of them. 0 or -ENOMEM. */
int dw_call_extras_add(const struct dw_call_nodes *t, struct dw_totals *ret);
