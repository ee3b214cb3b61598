/* Weights of one method each; see weights.h. */
#pragma once

#include "export/weights.h"

enum { DWELL_WEIGHT_KINDS_MAX = 4 };

/* Append the row of @path in @thread with its @values, of each kind one. 0 or -ENOMEM. */
int dw_weights_add(struct dw_weights *w, uint32_t thread, uint32_t path,
		   const uint64_t values[DWELL_WEIGHT_KINDS_MAX]);

/* Of calls: make their paths, too. 0, -ENOMEM or DWELL_ERR_LIMIT. */
int dw_weights_of_calls(struct dw_weights *w, struct dw_paths *paths,
			const struct dw_filter *filter);
