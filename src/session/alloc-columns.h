/*
 * The columns that struct dw_alloc_values has in a chunk: pairs of objects and bytes, in the order
 * of docs/session-format.md.
 */
#pragma once

#include "model/allocations.h"

enum {
	DWELL_STORED_PAIRS = 1 + DWELL_GENERATIONS, /* allocated, then collected by generation */
	DWELL_STORED_BLOCKING = 1,		    /* flags of a collection */
	DWELL_STORED_COMPACTING = 2,
};
