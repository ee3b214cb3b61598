/*
 * The shortest and the longest activations of functions and modules.
 *
 * They are known of whole sessions only, by the rule that they were measured by: not in a range of
 * time, not under a filter by module, and their application times not by the classic rule.
 */
#pragma once

#include "analysis/call-nodes.h"

/* Give the functions and modules in @ret their ranges. 0 or -ENOMEM. */
int dw_call_ranges_add(const struct dw_call_nodes *t, struct dw_totals *ret);
