/*
 * Moving the cursor through a place, from key to key.
 */
#pragma once

#include "tui/place.h"

#include <stddef.h>

enum dw_move { DWELL_MOVE_ROW, DWELL_MOVE_PAGE, DWELL_MOVE_ALL };

/* Move by one row, one page of @page rows, or to one end: down, or up if @back. */
void dw_place_move(struct dw_place *p, enum dw_move by, bool back, size_t page);
