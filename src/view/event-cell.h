/* Cells of single events: a call among the slowest, a garbage collection. */
#pragma once

#include "view/view.h"

/* The cell of @row in @column, one from DWELL_COLUMN_CALLEES to DWELL_COLUMN_SWITCHED or from
 * DWELL_COLUMN_GC_NUMBER on. Empty where the row is none. */
void dw_event_cell(const struct dw_view *v, const struct dw_row *row, enum dw_column column,
		   struct dw_cell *ret);
