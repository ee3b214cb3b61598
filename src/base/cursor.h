/*
 * A bounds-checked reader over untrusted bytes.
 *
 * All reads are little-endian. A read past the end returns 0, moves nothing and sets @failed; once
 * failed, every further read fails too, so a parser may check once per record. Borrowed bytes live
 * as long as the memory below.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_cursor {
	const uint8_t *start; /* borrowed */
	const uint8_t *pos;
	const uint8_t *end;
	bool failed; /* some read went past the end or met a malformed number */
};

/* Start reading @n bytes at @p (borrowed, may be NULL when @n is 0). */
void dw_cursor_init(struct dw_cursor *c, const void *p, size_t n);

/* Bytes not yet read. 0 once failed. */
static inline size_t dw_cursor_left(const struct dw_cursor *c)
{
	return c->failed ? 0 : (size_t)(c->end - c->pos);
}

/* Offset of the next byte from the start. */
static inline size_t dw_cursor_offset(const struct dw_cursor *c)
{
	return (size_t)(c->pos - c->start);
}

/* Go to @offset from the start. Fails if that is past the end. */
void dw_cursor_seek(struct dw_cursor *c, size_t offset);

/* Pass over @n bytes. */
void dw_cursor_skip(struct dw_cursor *c, size_t n);

/* Read one unsigned byte. */
uint8_t dw_cursor_u8(struct dw_cursor *c);

/* Read two bytes, unsigned. */
uint16_t dw_cursor_u16(struct dw_cursor *c);

/* Read four bytes, unsigned. */
uint32_t dw_cursor_u32(struct dw_cursor *c);

/* Read eight bytes, unsigned. */
uint64_t dw_cursor_u64(struct dw_cursor *c);

/* Read an unsigned LEB128. More than 64 bits is a failure. */
uint64_t dw_cursor_uleb(struct dw_cursor *c);

/* Read a signed LEB128. More than 64 bits is a failure. */
int64_t dw_cursor_sleb(struct dw_cursor *c);

/* Read what dw_buf_put_zigzag() wrote. */
int64_t dw_cursor_zigzag(struct dw_cursor *c);

/* Borrow the next @n bytes and pass over them. NULL on failure. */
const uint8_t *dw_cursor_bytes(struct dw_cursor *c, size_t n);

/* Borrow a NUL-terminated string and pass over it. NULL if no NUL is left. */
const char *dw_cursor_cstr(struct dw_cursor *c);
