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

/* Forget the rows of @p, as dw_place_close() does, but note all that somebody sees or has done:
 * when it is opened again the cursor is on its row, be that the first one, and rows that were
 * unfolded are. A place that is closed already keeps what it had noted. */
void dw_place_keep(struct dw_place *p);

/* Unfold what was unfolded in the tree of @p, whose roots are all that is in sight. 0 or -ENOMEM.
 */
int dw_place_unfold_again(struct dw_place *p);

/* Go to the line of @p, whose lines were made anew, that is about what the one at the cursor was.
 */
void dw_place_recall_line(struct dw_place *p);

/* Put the cursor of @p, which has just been opened, on the row that was noted, or on the last one
 * above it that is still there, or else on the first row, and forget it. False: nothing was noted.
 */
bool dw_place_recall(struct dw_place *p);
