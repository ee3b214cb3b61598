/*
 * Threads that two events sample: they were attached to while they were being made, so nobody knows
 * whether they had inherited. Of each thread and CPU the samples of one event count.
 */
#pragma once

#include "base/map.h"
#include "collect/perf/events.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_doubles {
	struct dw_map watch_of; /* identity of an event -> index of its watch + 1 */
	struct dw_map chosen;	/* (thread, CPU) -> index of a watch + 1 */
	size_t learned;		/* watches so far */
};

/* Take in the watches of @e that were opened since the last time. From now on doubles are told. 0,
 * -ENOMEM or -errno. */
int dw_doubles_learn(struct dw_doubles *d, const struct dw_perf_events *e);

/* Whether a sample of @thread (id in the profile) from the event @identity counts. 1, 0 or -ENOMEM.
 */
int dw_doubles_counts(struct dw_doubles *d, const struct dw_perf_events *e, uint32_t thread,
		      uint64_t identity);

/* Free the memory. */
void dw_doubles_release(struct dw_doubles *d);
