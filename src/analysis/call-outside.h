/*
 * Time in modules that had no probes: what a user would look into next.
 */
#pragma once

#include "analysis/call-nodes.h"

/*
 * Find the file without any instrumented function in which the program itself (application time)
 * was longest, into @ret's outside_module and outside_ns; left at 0 if there is none. 0 or -ENOMEM.
 */
int dw_call_outside_find(const struct dw_call_nodes *t, struct dw_totals *ret);
