/*
 * Times charged ahead of a thread's next event: what was given to a node beyond what its line says.
 *
 * One list for each region. What a thread is at since its last event is elapsed time; the program's
 * as far as it is known to have run, the rest blocked where it is in a system call or its clock
 * says so. What turns out otherwise is taken off what follows. A hostile target's line gives odd
 * times. One thread.
 */
#pragma once

#include "base/map.h"
#include "collect/calls/call-lines.h"
#include "collect/calls/increments.h"
#include "collect/calls/call-values.h"

#include <stdint.h>

/* What is charged ahead, ticks; calls are the system calls that go on. */
struct dw_call_stretch {
	int64_t elapsed, application, blocked, os_cpu;
	int64_t io_calls, blocking_calls;
};

/* Of one node. */
struct dw_call_ahead {
	uint32_t line;
	int64_t delimited; /* ticks, as application, by the classic rule */
	struct dw_call_stretch given;
	struct dw_call_stretch now;   /* of this reading: since the last event */
	uint64_t until, until_before; /* TSC of its last charge, and as of the reading before */
};

/* Zero-initialised. */
struct dw_call_aheads {
	DW_VEC(struct dw_call_ahead) v;
	struct dw_map of; /* line -> index + 1 */
};

/* Find out what all threads of @s are at, as of the reading @now, by lines newer
 * than those of nodes: an interval that has just ended is charged at the next reading, and not
 * twice. Touches the lines of all that is or was ahead. 0 or -ENOMEM. */
int dw_call_aheads_look(struct dw_call_aheads *a, struct dw_call_lines *s,
			const struct dw_region_reading *now);

/* What is ahead of the node at @line, borrowed. NULL = nothing. */
static inline struct dw_call_ahead *dw_call_ahead_of(const struct dw_call_aheads *a, uint32_t line)
{
	uint32_t i = dw_map_get(&a->of, line);

	return i ? &a->v.v[i - 1] : NULL;
}

/* The same, made where there is none. NULL = no memory. */
struct dw_call_ahead *dw_call_ahead_add(struct dw_call_aheads *a, uint32_t line);

/* Let @increment, of a node that has @a, be what is to be given now. */
void dw_call_ahead_settle(struct dw_call_ahead *a, struct dw_call_increment *increment);

/*
 * A thread that lost its processor in a trampoline counts what passed meanwhile for the
 * trampoline's new node, when we have charged it to the old one: let it stay there, and take it off
 * what the others have grown by. 0 or -ENOMEM.
 */
int dw_call_aheads_move(struct dw_call_aheads *list, struct dw_call_lines *s,
			struct dw_call_increments *increments);

/* A reading is done: forget what is even. 0 or -ENOMEM. */
int dw_call_aheads_keep(struct dw_call_aheads *a);

/* Free everything. */
void dw_call_aheads_release(struct dw_call_aheads *a);
