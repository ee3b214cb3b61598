/*
 * Paths of threads that have cells, drawn by time: some thousand times a second of a thread's own
 * time its shadow stack, which holds the whole path, is noted (struct dw_tree_drawn). They tell how
 * what cells have, which is exact, is divided among paths.
 *
 * The moments lie on the clock of the current stack, without what probes cost and without what the
 * system did, so that no path is drawn more often for its calls; the stack is noted before the
 * event that comes after the moment changes it, and an interval with several moments counts as
 * often. What the system did is noted with its path exactly, at every event.
 *
 * For the thread itself, in its slow path. Costs no system call but where memory grows. Paths
 * without room are counted (dw_tree_thread.drawn_lost), and their time noted where room ended.
 */
#pragma once

#include "agent/calls/os-events.h"
#include "agent/calls/stacks.h"
#include "agent/calls/tree.h"

/* The path to an activation, that was noted when it began at @began. */
struct dw_noted {
	uint64_t began;
	uint32_t path; /* line; with the highest bit: there was no room for more of it */
};

/* What a thread keeps for it; zero-initialised. */
struct dw_drawer {
	uint64_t random;
	uint64_t n; /* moments so far */
	struct dw_noted
		*noted; /* by entry of a shadow stack: what is still open has its path here */
	uint32_t room;
};

/* Begin: the first moment comes soon. */
void dw_drawn_begin(struct dw_drawer *d, struct dw_stacks *s);

/* Note the stack as it is, if a moment has come by s->now. Whether one has. */
bool dw_drawn_sample(struct dw_drawer *d, struct dw_stacks *s, struct dw_tree *tree);

/* The system did @interval on the path that is current. Moments are put off by it. */
void dw_drawn_add_os(struct dw_drawer *d, struct dw_stacks *s, struct dw_tree *tree,
		     const struct dw_interval *interval);
