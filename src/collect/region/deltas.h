/*
 * What nodes have gained in a reading, as deltas of its slice: no more of them at a time than
 * somebody takes. One thread.
 */
#pragma once

#include "collect/region/calls.h"

#include <stdint.h>

/* Add the delta of node @id of @p, unless it is of nothing. 0 or -ENOMEM. */
int dw_deltas_give(struct dw_profile *p, uint32_t id, const struct dw_call_values *values,
		   const struct dw_region_reading *now);
