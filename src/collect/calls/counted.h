/*
 * Calls of what is measured no more, which targets count without a clock (struct dw_tree_counted):
 * the values of a node of their own for each callee in each thread, with calls and nothing else.
 *
 * What leads to a function with probes is counted by these. Where a target cannot know that yet,
 * since its loader has looked nothing up, its calls wait until it does or has ended. One thread.
 */
#pragma once

#include "collect/calls/call-lines.h"

#include <stdint.h>

/* The calls of a callee in a thread. */
struct dw_counted_row {
	uint64_t calls;	 /* that no delta has yet */
	uint32_t node;	 /* node id, 0 = none yet */
	uint32_t number; /* by which its key stands in the region, plus 1; 0 = its address is known
			  */
};

/* Zero-initialised. */
struct dw_counted_reader {
	struct dw_pairs ids; /* (number or address, index of the thread), by id - 1 as rows */
	DW_VEC(struct dw_counted_row) rows;
	DW_VEC(uint32_t) keys; /* by number, as the region has them now */
	uint64_t keys_at;      /* offset of these in the region, 0 = not found yet */
	uint32_t chunks_seen;
	uint64_t calls; /* in deltas so far */
};

/* Give the new line @line, which is now @from, its meaning: of counters, or of pointers'. 0 or
 * -ENOMEM. */
int dw_counted_lines_add(struct dw_call_lines *s, uint32_t line, const struct dw_arena_line *from);

/* Turn what was counted since the reading before into deltas. 0 or -ENOMEM. */
int dw_counted_give(struct dw_counted_reader *r, struct dw_call_lines *s,
		    const struct dw_region_reading *now);

/* Free everything. */
void dw_counted_release(struct dw_counted_reader *r);
