/*
 * Cells of what the memory method measures.
 */
#pragma once

#include "view/view.h"

/* The cell of @row in @column, one of the columns from DWELL_COLUMN_ALLOCS_INCLUSIVE on. Empty
 * where the row does not know it. */
void dw_alloc_cell(const struct dw_view *v, const struct dw_row *row, enum dw_column column,
		   struct dw_cell *ret);
