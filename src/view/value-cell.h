/* Cells of what was measured. */
#pragma once

#include "view/view.h"

/* The cell of @row in @column, a column of values. Empty where nobody knows it. */
void dw_value_cell(const struct dw_view *v, const struct dw_row *row, enum dw_column column,
		   struct dw_cell *ret);
