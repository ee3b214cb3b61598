/*
 * Which functions were switched off while the program ran.
 */
#pragma once

#include "analysis/call-nodes.h"

/* Tell the functions in @ret what became of them. 0 or -ENOMEM. */
int dw_call_mutes_add(const struct dw_call_nodes *t, struct dw_totals *ret);
