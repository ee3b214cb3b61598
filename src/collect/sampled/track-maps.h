/*
 * Mappings of a tracked process. A part of track.h for its own folder.
 */
#pragma once

#include "collect/sampled/track.h"

/* Take in one new executable mapping of @p. 0 or -ENOMEM. */
int dw_track_map(struct dw_track *t, struct dw_tracked_process *p,
		 const struct dw_perf_mapping *mapping);
