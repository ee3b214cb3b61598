/*
 * Columns of chunks: LEB128 numbers, plain or as differences, both ways from one description, and
 * what the rows of each kind consist of.
 *
 * A kind of rows is described by its columns in the order of docs/session-format.md: which member
 * of the row it is, how it is coded, and what it may be at most. Differences are taken modulo 2^64,
 * so they hold for any value. What is coded otherwise has functions of its own.
 *
 * Columns of samples and calls hold millions of numbers: dw_take() reads the common short forms in
 * place and leaves the rest to base/cursor.h.
 */
#pragma once

#include "base/buf.h"
#include "base/cursor.h"
#include "model/profile.h"
#include "session/chunk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dw_coding {
	DWELL_CODING_PLAIN,
	DWELL_CODING_DELTA,  /* the difference to the row before, of the first to 0 */
	DWELL_CODING_UP,     /* how much it is below its row's id, at least 1 */
	DWELL_CODING_BELOW,  /* how much it is below another member, modulo 2^64 */
	DWELL_CODING_FROM,   /* the difference to another member */
	DWELL_CODING_SIGNED, /* of 4 bytes with a sign: zigzag-coded */
	DWELL_CODING_TIME,   /* 0 = DWELL_TIME_NONE, else one more */
	DWELL_CODING_OWN,    /* by functions */
};

/* What a number may be at most. */
enum dw_limit {
	DWELL_LIMIT_NONE,
	DWELL_LIMIT_NUMBER, /* dw_column.most */
	DWELL_LIMIT_STRING, /* ids of these exist */
	DWELL_LIMIT_MODULE,
	DWELL_LIMIT_PROCESS,
	DWELL_LIMIT_THREAD,
	DWELL_LIMIT_FRAME,
	DWELL_LIMIT_STACK,
	DWELL_LIMIT_FUNCTION,
	DWELL_LIMIT_NODE,
	DWELL_LIMIT_TYPE,
	DWELL_LIMIT_GROUP,
	DWELL_LIMITS
};

struct dw_column {
	uint16_t offset; /* of the member */
	uint8_t bytes;	 /* of it: 4 or 8 */
	uint8_t coding, limit;
	bool needed;   /* it is not 0 */
	uint16_t of;   /* the offset of the other member */
	uint32_t most; /* DWELL_LIMIT_NUMBER */
	/* DWELL_CODING_OWN: append @n members, the first at @at, @stride bytes from one to the
	 * next; and read them. What makes no sense sets c->failed. */
	void (*put)(struct dw_buf *b, const void *at, size_t stride, size_t n);
	void (*take)(struct dw_cursor *c, void *at, size_t stride, size_t n,
		     const uint64_t limits[DWELL_LIMITS]);
};

struct dw_columns {
	const struct dw_column *v;
	size_t n;
	size_t row_bytes;
};

/* Append the @n rows at @rows, the first of which has the id @first. */
void dw_columns_put(struct dw_buf *b, const struct dw_columns *columns, const void *rows, size_t n,
		    uint64_t first);

/* Read @n rows, of which the first gets the id @first, to @rows. What makes no sense sets
 * c->failed. */
void dw_columns_take(struct dw_cursor *c, const struct dw_columns *columns, void *rows, size_t n,
		     uint64_t first, const uint64_t limits[DWELL_LIMITS]);

/* Read one LEB128. */
static inline uint64_t dw_take(struct dw_cursor *c)
{
	const uint8_t *p = c->pos;

	if (c->end - p >= 3 && !c->failed) {
		if (p[0] < 0x80) {
			c->pos = p + 1;
			return p[0];
		}
		if (p[1] < 0x80) {
			c->pos = p + 2;
			return (uint64_t)(p[0] & 0x7f) | (uint64_t)p[1] << 7;
		}
		if (p[2] < 0x80) {
			c->pos = p + 3;
			return (uint64_t)(p[0] & 0x7f) | (uint64_t)(p[1] & 0x7f) << 7 |
			       (uint64_t)p[2] << 14;
		}
	}
	return dw_cursor_uleb(c);
}

/* A difference of either sign as a number that is small if it is: 0, -1, 1, -2 ... as 0, 1, 2, 3
 * (protobuf's code). */
static inline uint64_t dw_zigzag(uint64_t difference)
{
	return difference << 1 ^ -(difference >> 63);
}

/* The difference that dw_zigzag() has made @v of. */
static inline uint64_t dw_unzigzag(uint64_t v)
{
	return v >> 1 ^ -(v & 1);
}

/* Read one zigzag-coded difference and apply it to *@last. */
static inline uint64_t dw_take_delta(struct dw_cursor *c, uint64_t *last)
{
	return *last += dw_unzigzag(dw_take(c));
}

/* Note that a number was more than its column may hold. Reading goes on to the chunk's check. */
static inline uint64_t dw_at_most(struct dw_cursor *c, uint64_t v, uint64_t max)
{
	if (v <= max)
		return v;
	c->failed = true;
	return 0;
}

/* Read one LEB128 of at most @max. */
static inline uint32_t dw_take_max(struct dw_cursor *c, uint64_t max)
{
	return (uint32_t)dw_at_most(c, dw_take(c), max);
}

/* The kinds whose rows are those of one table: the kind, the table in a profile, and whether its
 * row 0 is not used. */
#define DWELL_TABLES(X)                          \
	X(MODULES, modules.rows, 1)              \
	X(FRAMES, frames.rows, 1)                \
	X(STACKS, stacks.rows, 1)                \
	X(FUNCTIONS, functions.rows, 1)          \
	X(CODES, codes.rows, 0)                  \
	X(SOURCES, sources.rows, 0)              \
	X(EXTRAS, extras.rows, 0)                \
	X(EXECS, execs.rows, 0)                  \
	X(CALL_NODES, calls.nodes, 0)            \
	X(CALL_SLICES, calls.slices, 0)          \
	X(CALL_DELTAS, calls.deltas, 0)          \
	X(CALL_EXTREMES, calls.extremes, 0)      \
	X(CALL_SLOW, calls.slow, 0)              \
	X(CALL_DISABLED, calls.disabled, 0)      \
	X(CALL_FILES, calls.files, 0)            \
	X(ALLOC_TYPES, allocations.types, 0)     \
	X(ALLOC_GROUPS, allocations.groups, 0)   \
	X(ALLOC_METHODS, allocations.methods, 0) \
	X(ALLOC_DELTAS, allocations.deltas, 0)   \
	X(GCS, allocations.gcs, 0)

/* The columns of @kind, of locations those of their rows. n = 0: it is not one of plain columns. */
struct dw_columns dw_layout_of(enum dw_chunk_kind kind);

/* Whether rows of @kind stand one behind the other, not their columns. */
static inline bool dw_layout_is_by_row(enum dw_chunk_kind kind)
{
	return kind == DWELL_CHUNK_MODULES || kind == DWELL_CHUNK_PROCESSES ||
	       kind == DWELL_CHUNK_THREADS;
}

/* How large ids in @p may be at most, by enum dw_limit. */
void dw_layout_limits(const struct dw_profile *p, uint64_t ret[DWELL_LIMITS]);
