/* What the files of a reading share: exchanging what is shown. */
#pragma once

#include "tui/reading.h"

/* Begin to show the profile, which is there. 0, or what dw_reading_open() may fail with. */
int dw_reading_begin(struct dw_reading *r, struct dw_error *err);

/* Forget all rows, but not which of them one was at. */
void dw_reading_close_places(struct dw_reading *r);

/* Show @s, a reference that is taken over. */
void dw_reading_use(struct dw_reading *r, struct dw_selection *s);

/* Begin to find source anew: the profile is another one. */
void dw_reading_begin_source(struct dw_reading *r);

/* Note that somebody comes to @p. The oldest places are forgotten when there were very many. 0 or
 * -ENOMEM. */
int dw_reading_push_visit(struct dw_reading *r, struct dw_place *p);

/* Free what @v holds. */
void dw_reading_release_visit(struct dw_visit *v);
