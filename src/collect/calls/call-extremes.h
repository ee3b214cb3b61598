/*
 * Single activations: from a region's lines to the shortest, longest and slowest calls of a
 * profile.
 *
 * Rows of struct dw_call_extremes and dw_call_slow are appended whenever their lines have changed,
 * the same id each time: they replace what was written before. One thread.
 */
#pragma once

#include "base/vec.h"
#include "collect/calls/call-lines.h"
#include "collect/calls/clock.h"

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialised. */
struct dw_extremes_reader {
	DW_VEC(uint32_t) lines; /* to look at */
};

/*
 * Append what has changed in @s, which was just read, to its profile. What the target was writing
 * meanwhile waits for the next reading, unless this @is_last. 0 or -ENOMEM.
 */
int dw_extremes_read(struct dw_extremes_reader *r, struct dw_call_lines *s,
		     const struct dw_region_clock *clock, bool is_last);

/* Free everything. */
void dw_extremes_release(struct dw_extremes_reader *r);

/*
 * Activations that are open when a recording or its process ends, of threads that are in a system
 * call then: they end with it, as those do that end before.
 */

/* The activation @index of the thread @t as it is now: *@ret. False: it is not told of. */
bool dw_open_get(const struct dw_call_lines *s, const struct dw_tree_thread *t, uint32_t index,
		 struct dw_tree_open *ret);

/* Append them to the profile of @s, at its last reading: extremes and slow calls. 0 or -ENOMEM. */
int dw_open_read(struct dw_call_lines *s, const struct dw_region_clock *clock);
