/*
 * Which methods have probes by their names, and of which the slowest calls are kept.
 *
 * Names are those of reports, "Namespace.Type.Method": with type parameters and parameters where
 * reports have them, or without. What compilers have made of lambdas, local functions, iterators
 * and async methods is chosen by its own name, and with the method that it stands in.
 * [any-thread] after the start.
 */
#pragma once

#include "agent/clr/names.h"

#include <stdbool.h>
#include <stdint.h>

/* Learn what the user names from @mode (DWELL_ENV_MODE), which stays. Before all others. */
void dw_method_selection_start(const char *mode);

/* Whether methods are chosen by name at all. */
bool dw_method_selection_needs_names(void);

/* Whether the method that dw_name_method() calls @name has a probe; @is_always: unless the user
 * leaves it out by its name, whatever else is chosen. */
bool dw_method_selection_has(const struct dw_name *name, bool is_always);

/* Whether single calls are kept of those that the user names alone. */
bool dw_method_selection_has_slowest(void);

/* Whether several of its slowest calls are kept. */
bool dw_method_selection_is_slowest(const struct dw_name *name);
