/*
 * The rows of a place as a table: of all rows only those in sight are asked for, and no row is
 * wider than the screen.
 */
#pragma once

#include "tui/place.h"
#include "tui/screen.h"

#include <stddef.h>

/* Lines of the screen. */
struct dw_area {
	size_t y, height;
	size_t header; /* its line, SIZE_MAX = there is no room for one */
};

/* Draw @p, which is open, so that its cursor is in sight. */
void dw_grid_draw(struct dw_screen *s, struct dw_place *p, const struct dw_area *area);

/* Write the columns that tables show of @p, which is open, to @ret, which has room for
 * DWELL_COLUMNS_N: those that were chosen, else those that the view has by default. */
void dw_grid_columns(const struct dw_place *p, enum dw_column *ret);

/* Move p->top so that the cursor is among @height rows. */
void dw_place_follow_cursor(struct dw_place *p, size_t height);
