/*
 * Inclusive values of cells whose activations wait: they add to their cells as they end, or as
 * their thread looks at its stack. What they will add of a system call that goes on is charged
 * ahead of that, as it is to the node that is current (call-ahead.h). One thread.
 */
#pragma once

#include "collect/region/call-ahead.h"
#include "wire/call-tree.h"

/* Zero-initialised. */
struct dw_cell_waits {
	struct dw_call_aheads of[DWELL_INNER_KINDS]; /* by lines of cells */
};

/* Find out what waits by now, from what is charged @ahead to current nodes. Touches the cells of
 * all that is or was ahead. 0 or -ENOMEM, as the next. */
int dw_cell_waits_look(struct dw_cell_waits *w, struct dw_call_lines *s,
		       const struct dw_call_aheads *ahead, const struct dw_region_head *head);

/* A reading is done: forget what is even. */
int dw_cell_waits_keep(struct dw_cell_waits *w);

/* Free everything. */
void dw_cell_waits_release(struct dw_cell_waits *w);
