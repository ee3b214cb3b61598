/*
 * The road that samples take: perf, or from inside the target where the kernel refuses perf.
 */
#pragma once

#include "base/error.h"
#include "collect/backend.h"

#include <stdbool.h>

enum dw_road {
	DWELL_ROAD_AUTO, /* perf where it is allowed */
	DWELL_ROAD_PERF,
	DWELL_ROAD_INSIDE,
	DWELL_ROAD_OUTSIDE, /* of processes that run already, waits alone */
};

struct dw_road_choice {
	const struct dw_backend_ops *backend;
	struct dw_error refusal; /* why it is not perf, and what would open that; code 0 = it is */
};

/*
 * Choose the road for the command @name (NULL = programs that run) as @wish says. @waits_do: of
 * programs that run, waits alone are worth recording. 0; DWELL_ERR_REFUSED: it is to be sampled
 * from inside, but can take no agent. dw_road_release() in any case.
 */
int dw_road_choose(enum dw_road wish, const char *name, bool waits_do, struct dw_road_choice *ret,
		   struct dw_error *err);

/* Free the words. */
void dw_road_release(struct dw_road_choice *c);
