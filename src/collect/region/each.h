/*
 * Single activations: from a region's lines to the shortest, longest and slowest calls of a
 * profile.
 *
 * Rows of struct dw_call_extremes and dw_call_slow are appended whenever their lines have changed,
 * the same id each time: they replace what was written before. One thread.
 */
#pragma once

#include "base/vec.h"
#include "collect/region/call-lines.h"
#include "collect/region/clock.h"

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialised. */
struct dw_each_reader {
	DW_VEC(uint32_t) lines; /* to look at */
};

/*
 * Append what has changed in @s, which was just read, to its profile. What the target was writing
 * meanwhile waits for the next reading, unless this @is_last. 0 or -ENOMEM.
 */
int dw_each_read(struct dw_each_reader *r, struct dw_call_lines *s,
		 const struct dw_region_clock *clock, bool is_last);

/* Append the slow call @w, whose node's line has one in the profile: *@id is that of its row, 0 =
 * it has none yet, which is set. 0 or -ENOMEM. */
int dw_each_add_slow(struct dw_call_lines *s, const struct dw_tree_slow *w,
		     const struct dw_region_clock *clock, uint32_t *id);

/* Free everything. */
void dw_each_release(struct dw_each_reader *r);
