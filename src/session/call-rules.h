/*
 * Which nodes of calls a session may have.
 */
#pragma once

#include "model/calls.h"

#include <stdbool.h>

/* Whether the flags of @node go together, and fit those of its parent in @t. */
bool dw_call_node_fits(const struct dw_call_node *node, const struct dw_calls *t);
