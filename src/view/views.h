/* All views by name, for their registry and for those who want a certain one. */
#pragma once

#include "view/view.h"

extern const struct dw_view_ops dw_view_summary;
extern const struct dw_view_ops dw_view_functions;
extern const struct dw_view_ops dw_view_calltree;
extern const struct dw_view_ops dw_view_callers;
extern const struct dw_view_ops dw_view_modules;
extern const struct dw_view_ops dw_view_lines;
extern const struct dw_view_ops dw_view_source_listing; /* lines of one function */
extern const struct dw_view_ops dw_view_instructions;
extern const struct dw_view_ops dw_view_listing; /* instructions of one function */
extern const struct dw_view_ops dw_view_processes;
extern const struct dw_view_ops dw_view_threads;
extern const struct dw_view_ops dw_view_slowest;
extern const struct dw_view_ops dw_view_allocations;
extern const struct dw_view_ops dw_view_lifetime;
extern const struct dw_view_ops dw_view_gc;
