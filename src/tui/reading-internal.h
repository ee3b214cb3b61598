/* What the files of a reading share: exchanging what is shown. */
#pragma once

#include "tui/reading.h"

/* Begin to show the profile, which is there. 0, or what dw_reading_open() may fail with. */
int dw_reading_begin(struct dw_reading *r, struct dw_error *err);

/* Forget all rows, but not which of them one was at. */
void dw_reading_close_places(struct dw_reading *r);

/* Show @s, a reference that is taken over. */
void dw_reading_use(struct dw_reading *r, struct dw_selection *s);

/* Show *@next, which is taken over, in place of the profile that is shown: @s, a reference that is
 * taken over, and what *@totals has of it, likewise. Rows, functions and views that somebody is at
 * are found again. 0 or -ENOMEM: then some of that is missing. */
int dw_reading_exchange(struct dw_reading *r, struct dw_profile *next, struct dw_selection *s,
			struct dw_totals_store *totals);

/* Have a tab of each view that suits the profile, in their order. 0 or -ENOMEM. */
int dw_reading_renew_tabs(struct dw_reading *r);

/* Begin to follow the recording, which is in @state. 0 or -errno. */
int dw_reading_begin_follow(struct dw_reading *r, enum dw_recording_state state,
			    struct dw_error *err);

/* Forget what was loaded but not shown, and what is being loaded. */
void dw_reading_drop_next(struct dw_reading *r);

/* Whether what is shown will be exchanged soon. */
bool dw_reading_is_live(const struct dw_reading *r);

/* Begin to find source anew: the profile is another one. */
void dw_reading_begin_source(struct dw_reading *r);

/* Note that somebody comes to @p. The oldest places are forgotten when there were very many. 0 or
 * -ENOMEM. */
int dw_reading_push_visit(struct dw_reading *r, struct dw_place *p);

/* Free what @v holds. */
void dw_reading_release_visit(struct dw_visit *v);
