/*
 * What the rows of each kind of chunk consist of: the columns of docs/session-format.md, in its
 * order.
 */
#pragma once

#include "model/profile.h"
#include "session/chunk.h"
#include "session/columns.h"

/* The kinds whose rows are those of one table: the kind, the table in a profile, and whether its
 * row 0 is not used. */
#define DWELL_TABLES(X)                          \
	X(FRAMES, frames.rows, 1)                \
	X(STACKS, stacks.rows, 1)                \
	X(FUNCTIONS, functions.rows, 1)          \
	X(CODES, codes.rows, 0)                  \
	X(SOURCES, sources.rows, 0)              \
	X(WAITS, waits.rows, 0)                  \
	X(CALL_NODES, calls.nodes, 0)            \
	X(CALL_SLICES, calls.slices, 0)          \
	X(CALL_DELTAS, calls.deltas, 0)          \
	X(CALL_EXTREMES, calls.extremes, 0)      \
	X(CALL_SLOW, calls.slow, 0)              \
	X(CALL_MUTES, calls.mutes, 0)            \
	X(ALLOC_TYPES, allocations.types, 0)     \
	X(ALLOC_GROUPS, allocations.groups, 0)   \
	X(ALLOC_METHODS, allocations.methods, 0) \
	X(ALLOC_DELTAS, allocations.deltas, 0)   \
	X(GCS, allocations.gcs, 0)

/* The columns of @kind, of locations those of their rows. n = 0: it is not one of plain columns. */
struct dw_columns dw_layout_of(enum dw_chunk_kind kind);

/* How large ids in @p may be at most, by enum dw_limit. */
void dw_layout_limits(const struct dw_profile *p, uint64_t ret[DWELL_LIMITS]);
