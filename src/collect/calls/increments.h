/*
 * Increments of nodes in a reading, in the place of what they counted before it.
 *
 * A change (call-lines.h) has room for what most nodes have: calls and time, of which the system
 * had no part. Others are kept apart. One thread.
 */
#pragma once

#include "collect/calls/call-lines.h"
#include "collect/calls/call-values.h"
#include "collect/calls/calls.h"

#include <stdint.h>

/* Of one reading. Zero-initialised. */
struct dw_call_increments {
	DW_VEC(struct dw_call_increment) v; /* those that are kept apart */
};

/* Whether @c is a node's, or a cell's, which has what a node has. */
static inline bool dw_call_is_node(const struct dw_call_lines *s, const struct dw_call_change *c)
{
	enum dw_line_kind kind = s->lines.v[c->line].kind;

	return dw_line_is_node(kind) || dw_line_is_cell(kind);
}

/* for (each change that is one of these). */
#define dw_call_each_node(c, s)       \
	dw_vec_each(c, &(s)->changes) \
		if (dw_call_is_node(s, c))

/* What the node of @c has grown by, with the skid that moves to it: once that was set. */
struct dw_call_increment dw_call_increments_get(const struct dw_call_increments *r,
						const struct dw_call_change *c);

/* Let that be @increment, before anything moves. 0 or -ENOMEM. */
int dw_call_increments_set(struct dw_call_increments *r, struct dw_call_change *c,
			   const struct dw_call_increment *increment);

/* What of @increment is the program's, ticks. */
double dw_call_program_time(const struct dw_call_increment *increment);

/*
 * What nodes have gained in a reading, as deltas of its slice: no more of them at a time than
 * somebody takes.
 */

/* Add the delta of node @id of @p, unless it is of nothing. 0 or -ENOMEM. */
int dw_deltas_give(struct dw_profile *p, uint32_t id, const struct dw_call_values *values,
		   const struct dw_region_reading *now);

/*
 * Nodes and what the system did in them, as of one moment.
 *
 * They stand on lines far apart, and a reading takes its time, more where the collector waits for a
 * processor: what was charged to both meanwhile would be in one of them only. Where that is more
 * than the other has grown the difference would be lost for good, as values that were given are not
 * taken back: time that the program waited would be its own.
 */

/*
 * Read both lines of all nodes and cells once more that the last reading found changed and whose
 * program's time may so be wrong by more than a fraction of a millisecond. What nodes have grown
 * whose record was made after its line was read is left to the next reading, unless this one
 * @is_last. 0 or -ENOMEM.
 */
int dw_call_pairs_read(struct dw_call_lines *s, bool is_last);
