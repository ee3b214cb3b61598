/*
 * Loading a session from its chunks, wherever these come from: one after the other in the order of
 * writing, the index first. What was taken is checked as read.h promises. One thread.
 */
#pragma once

#include "base/error.h"
#include "model/profile.h"
#include "session/chunk.h"
#include "session/encode.h"
#include "session/range.h"
#include "session/values.h"

#include <stdbool.h>
#include <stdint.h>

/* The first four are the caller's. */
struct dw_loading {
	struct dw_profile *p; /* empty at first, to be released also after failure */
	const struct dw_session_range *range; /* that calls are summed up in, NULL = they are not */
	bool keeps_slices;		      /* though they are */
	uint64_t items_max;		      /* an index that tells of more is not believed */
	struct dw_call_sums sums;
	uint8_t *selected; /* owned: sums.selected */
	struct dw_session_index index, seen;
};

/* Note which slices of @calls, which are all of the session, lie in the range. Before all else
 * where that is a part of the time. 0 or -ENOMEM. */
int dw_loading_select(struct dw_loading *l, const struct dw_calls *calls, struct dw_error *err);

/* Take a chunk of a kind that is known. 0, DWELL_ERR_FORMAT or -ENOMEM. */
int dw_loading_take(struct dw_loading *l, const struct dw_raw_chunk *c, struct dw_error *err);

/* There are no more. 0, DWELL_ERR_FORMAT (some are missing, or refer to what is not there) or
 * -ENOMEM. */
int dw_loading_finish(struct dw_loading *l, struct dw_error *err);

/* Free all but the profile. */
void dw_loading_release(struct dw_loading *l);
