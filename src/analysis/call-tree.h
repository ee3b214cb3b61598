/*
 * The call tree of calls by functions: paths of one process that have the same functions become one
 * node, whatever call sites and threads they came by.
 */
#pragma once

#include "analysis/call-nodes.h"

#include <stdint.h>

/*
 * Append the trees of all processes to @ret->nodes and their totals to @ret->calls, @ret->samples
 * known, as far as the filter's focus goes. Uses up the lists of children of @t. 0 or -ENOMEM.
 */
int dw_call_tree_build(struct dw_call_nodes *t, struct dw_totals *ret);
