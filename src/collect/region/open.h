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

/* Append them to the profile of @s, at its last reading: ranges and slow calls. 0 or -ENOMEM. */
int dw_open_read(struct dw_call_lines *s, const struct dw_region_clock *clock);
