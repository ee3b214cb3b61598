/*
 * The slowest activations that pass a filter.
 */
#pragma once

#include "analysis/call-nodes.h"

/* Append them to @ret->slow, and what they took to @ret->calls. A range takes those that began in
 * it, to the nanosecond, focus.function those of that function. 0 or -ENOMEM. */
int dw_call_slow_list(const struct dw_call_nodes *t, struct dw_totals *ret);
