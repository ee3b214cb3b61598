/*
 * The row that somebody was at, when the rows are made anew under another filter: it may be
 * elsewhere then, or gone.
 */
#pragma once

#include "tui/place.h"

/* Note which row of @p the cursor is on, of a tree with all above it. Without memory for it nothing
 * is noted. */
void dw_place_remember(struct dw_place *p);

/* The same, unless @p is closed, or the cursor is on the first row, where nobody may have put it:
 * then what was noted before stays. */
void dw_place_remember_moved(struct dw_place *p);

/* Put the cursor of @p, which has just been opened, on the row that was noted, or on the last one
 * above it that is still there, or else on the first row, and forget it. False: nothing was noted.
 */
bool dw_place_recall(struct dw_place *p);
