/*
 * Activations that are open when a recording or its process ends, of threads that are in a system
 * call then: they end with it, as those do that end before.
 *
 * What a hostile target tells gives odd times, in which the parts are never more than the whole.
 * One thread.
 */
#pragma once

#include "collect/region/call-lines.h"
#include "collect/region/clock.h"

/* The activation @index of the thread @t as it is now: *@ret. False: it is not told of. */
bool dw_open_get(const struct dw_call_lines *s, const struct dw_tree_thread *t, uint32_t index,
		 struct dw_tree_open *ret);

/* Append them to the profile of @s, at its last reading: ranges and slow calls. 0 or -ENOMEM. */
int dw_open_read(struct dw_call_lines *s, const struct dw_region_clock *clock);
