/*
 * Sums of waits by kind, of samples and of calls: how long, in how many threads, and where most of
 * it was. One thread.
 */
#pragma once

#include "analysis/wait-kinds.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/totals.h"

#include <stdbool.h>
#include <stdint.h>

/* What waits of one kind a function has. */
struct dw_function_waits {
	enum dw_wait_kind kind;
	uint32_t function;
	uint64_t ns;
};

struct dw_wait_totals {
	struct dw_wait_total *of; /* by kind, borrowed */
	struct dw_wait_namer namer;
	bool with_functions; /* else sums alone are made */
	DW_VEC(struct dw_function_waits) shares;
	struct dw_map share_of;	 /* kind << 32 | function -> index in shares + 1 */
	struct dw_map threads;	 /* kind << 32 | thread that has some */
	struct dw_map functions; /* stack or node -> its function + 1 */
};

/* Begin to add up waits of @p into @ret, DWELL_WAIT_KINDS of them, which are zero. 0 or -ENOMEM, to
 * be released in either case. */
int dw_wait_totals_init(struct dw_wait_totals *t, const struct dw_profile *p, bool with_functions,
			struct dw_wait_total *ret);

/* Add @ns of @kind, of @thread in @stack, or in the call node @node (the other one is 0). 0 or
 * -ENOMEM. */
int dw_wait_totals_add(struct dw_wait_totals *t, enum dw_wait_kind kind, uint64_t ns,
		       uint32_t thread, uint32_t stack, uint32_t node);

/* Say where most of each kind was. */
void dw_wait_totals_end(struct dw_wait_totals *t);

/* Free everything. */
void dw_wait_totals_release(struct dw_wait_totals *t);
