/*
 * What nodes have risen by in a reading, in the place of what they counted before it.
 *
 * A change (call-lines.h) has room for what most nodes have: calls and time, of which the system
 * had no part. Others are kept apart. One thread.
 */
#pragma once

#include "collect/region/call-lines.h"
#include "collect/region/call-values.h"

/* Of one reading. Zero-initialised. */
struct dw_call_rises {
	DW_VEC(struct dw_call_rise) v; /* those that are kept apart */
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

/* What the node of @c has risen by, late work included that moves to it: once that was set. */
struct dw_call_rise dw_call_rises_get(const struct dw_call_rises *r,
				      const struct dw_call_change *c);

/* Let that be @rise, before anything moves. 0 or -ENOMEM. */
int dw_call_rises_set(struct dw_call_rises *r, struct dw_call_change *c,
		      const struct dw_call_rise *rise);

/* What of @rise is the program's, ticks. */
double dw_call_program_time(const struct dw_call_rise *rise);
