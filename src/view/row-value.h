/* The values of a row, whatever measured them. */
#pragma once

#include "view/view.h"

/* How much of @measure @row has. False where nobody knows. */
bool dw_row_value(const struct dw_row *row, enum dw_measure measure, bool exclusive, uint64_t *ret);

/* How much of @measure passed the filter of @t: what shares of it are shares of. */
uint64_t dw_totals_value(const struct dw_totals *t, enum dw_measure measure);

/* The cell of @row in @column, a column of values. */
void dw_value_cell(const struct dw_view *v, const struct dw_row *row, enum dw_column column,
		   struct dw_cell *ret);
