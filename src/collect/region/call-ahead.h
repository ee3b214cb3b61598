/*
 * Times charged ahead of a thread's next event: what was given to a node beyond what its line says.
 *
 * Pure functions. [any-thread]
 */
#pragma once

#include "collect/region/call-values.h"

#include <stdint.h>

/* Of one node, ticks. */
struct dw_call_ahead {
	uint32_t line;
	int64_t elapsed, application, whole;
	int64_t new_elapsed, new_application; /* of this reading: since the last event */
	uint64_t until, until_before; /* TSC of its last charge, and as of the reading before */
};

/* One stream of an ahead: what to give for a rise of @rise with @more ahead of it. */
int64_t dw_call_ahead_settle(int64_t *ahead, int64_t rise, int64_t more);

/* Give @to what of @from was charged to it ahead, as @a knows. */
void dw_call_ahead_move(struct dw_call_ahead *a, struct dw_call_rise *from,
			struct dw_call_rise *to);
