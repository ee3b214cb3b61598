/*
 * Frames as viewers of paths count them: a slot for each function of each place that is used, the
 * outermost one of a place first.
 */
#pragma once

#include "export/paths.h"
#include "export/weights.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_slots {
	uint32_t *first; /* by place */
	uint32_t places; /* of the paths */
	uint32_t n;	 /* slots are below this */
	uint8_t *used;	 /* by path: 1 = it or one below it has weights */
};

/* Number what @w uses of @p. 0 or -ENOMEM (also for 2^32 slots), to be released in either case. */
int dw_slots_init(struct dw_slots *s, const struct dw_paths *p, const struct dw_weights *w);

/* Free everything. */
void dw_slots_release(struct dw_slots *s);

/* Call @fn for each slot in their order: function @i of @place, innermost 0. */
void dw_slots_each(const struct dw_slots *s, void (*fn)(void *ctx, uint32_t place, uint32_t i),
		   void *ctx);
