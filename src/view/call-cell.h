/*
 * Cells of what instrumentation measures.
 */
#pragma once

#include "view/view.h"

/* The cell of @row in @column, one of the columns from DWELL_COLUMN_CALLS on. Empty where the row
 * does not know it: means of no calls, ranges that nobody kept, what is a call site's own. */
void dw_call_cell(const struct dw_view *v, const struct dw_row *row, enum dw_column column,
		  struct dw_cell *ret);
