/*
 * The part of a shadow stack that lies in one range of addresses, and what may happen there. For
 * stacks.c alone, which says how records are to be read (stacks.h).
 */
#pragma once

#include "agent/core/stacks.h"

enum {
	FRAME_BYTES_MAX = 1 << 28, /* farther down is another stack */
	HOLE_BYTES = 1024,	   /* calls of one activation lie no farther from each other */
};

struct segment {
	struct dw_shadow *base, *top;
};

/* Whether the entry is a guard or a link. */
static inline bool is_mark(const struct dw_shadow *e)
{
	return e->record == DWELL_RECORD_GUARD || e->record & DWELL_RECORD_LINK;
}

/* The activation at or below the guard that may be on top. */
static inline struct dw_shadow *below_guard(struct dw_shadow *e)
{
	return e->record == DWELL_RECORD_GUARD ? e - 1 : e;
}

/* The segment below @g of @k, @g's link still there. False: there is none. */
static inline bool next_segment(const struct dw_stack *k, struct segment *g)
{
	const struct dw_shadow *link = g->base - 1;

	if (g->base == k->entries)
		return false;
	g->top = g->base - 2;
	g->base = k->entries + ((link->record & ~DWELL_RECORD_LINK) >> 1);
	return true;
}

/*
 * Whether @record lies in the frame of an activation of the segment, far above what that has
 * called, while what is on top has gone elsewhere: a coroutine's whose stack is an array of its
 * caller's.
 */
static inline bool is_in_frame(const struct segment *g, uint64_t record)
{
	const struct dw_shadow *e = below_guard(g->top);
	uint64_t callee = e->record;

	if (e == g->top)
		return false;
	for (; e > g->base && (is_mark(e) || e->record <= record); e--)
		callee = is_mark(e) ? callee : e->record;
	return record - callee > HOLE_BYTES;
}

/* Whether @record lies within the segment, and not on a stack of its own in one of its frames. */
static inline bool holds(const struct segment *g, uint64_t record)
{
	return below_guard(g->top)->record <= record && record < g->base->record &&
	       !is_in_frame(g, record);
}

/* How far @record is below the segment's top, huge when it is not. */
static inline uint64_t depth_below(const struct segment *g, uint64_t record)
{
	return below_guard(g->top)->record - record;
}

/* Whether what is open on top has gone on on another stack, when @event comes below it. */
static inline bool has_left(const struct segment *g, enum dw_stack_event event)
{
	const struct dw_shadow *e = below_guard(g->top);

	return e != g->top && (e->record & DWELL_RECORD_CALL_OUT ||
			       (event != DWELL_AT_ENTER && event != DWELL_AT_OUT));
}

/* Whether an event at @record can be one of the segment, above its top or near below: statements
 * stand in the frame of the top itself, however large that is. */
static inline bool suits(const struct segment *g, enum dw_stack_event event, uint64_t record)
{
	uint64_t window = event == DWELL_AT_LINE ? FRAME_BYTES_MAX : DWELL_STACK_WINDOW;

	return holds(g, record) || (depth_below(g, record) < window && !has_left(g, event));
}
