/*
 * Columns of chunks: LEB128 numbers, plain or as differences to the row before, both ways.
 *
 * Columns of samples and calls hold millions of numbers: dw_take() reads the common short forms in
 * place and leaves the rest to base/cursor.h. Differences are taken modulo 2^64, so they hold for
 * any value.
 */
#pragma once

#include "base/buf.h"
#include "base/cursor.h"

#include <stdint.h>

/* Append column @field of rows [from, to) of the array @v. */
#define PUT_COLUMN(b, v, from, to, field)                    \
	do {                                                 \
		for (size_t i_ = (from); i_ < (to); i_++)    \
			dw_buf_put_uleb((b), (v)[i_].field); \
	} while (0)

/* Append column @field of rows [from, to) of @v as differences to the row before, the first to 0.
 */
#define PUT_DELTAS(b, v, from, to, field)                                         \
	do {                                                                      \
		uint64_t last_ = 0;                                               \
		for (size_t i_ = (from); i_ < (to); i_++) {                       \
			dw_buf_put_zigzag((b), (int64_t)((v)[i_].field - last_)); \
			last_ = (v)[i_].field;                                    \
		}                                                                 \
	} while (0)

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

/* Read one zigzag-coded difference and apply it to *@last. */
static inline uint64_t dw_take_delta(struct dw_cursor *c, uint64_t *last)
{
	uint64_t v = dw_take(c);

	return *last += (v >> 1) ^ -(v & 1);
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

/* Read a difference that leads to at most @max. */
static inline uint32_t dw_take_delta_max(struct dw_cursor *c, uint64_t *last, uint64_t max)
{
	return (uint32_t)dw_at_most(c, dw_take_delta(c, last), max);
}

/* Set column @field of the @n rows from @rows on to @expr. */
#define TAKE_COLUMN(rows, n, field, expr)                                     \
	do {                                                                  \
		for (size_t i_ = 0; i_ < (n); i_++)                           \
			(rows)[i_].field = (__typeof__((rows)->field))(expr); \
	} while (0)
