/*
 * Threads without events for a while: whether they still run, and for how long they have. What a
 * hostile target's line says gives odd times. One thread.
 */
#pragma once

#include "collect/region/call-lines.h"

/*
 * Find out whether @thread, whose line is @t and whose last event is a while back, has ended since,
 * and how long it is known to have run: by what it says of its clock at that event, or, if it had
 * none since the reading before, as long as the clock says.
 */
void dw_quiet_look(struct dw_call_thread *thread, const struct dw_tree_thread *t,
		   const struct dw_region_reading *now);
