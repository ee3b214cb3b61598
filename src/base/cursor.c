/* A bounds-checked reader; see cursor.h. */
#include "base/cursor.h"

#include <string.h>

void dw_cursor_init(struct dw_cursor *c, const void *p, size_t n)
{
	c->start = c->pos = p;
	c->end = n ? c->start + n : c->start;
	c->failed = false;
}

void dw_cursor_seek(struct dw_cursor *c, size_t offset)
{
	if (offset > (size_t)(c->end - c->start))
		c->failed = true;
	else
		c->pos = c->start + offset;
}

void dw_cursor_skip(struct dw_cursor *c, size_t n)
{
	dw_cursor_bytes(c, n);
}

const uint8_t *dw_cursor_bytes(struct dw_cursor *c, size_t n)
{
	const uint8_t *p = c->pos;

	if (c->failed || n > (size_t)(c->end - c->pos)) {
		c->failed = true;
		return NULL;
	}
	c->pos += n;
	return p;
}

/* Copy the next @n bytes to @v, which holds zero. */
static void read_into(struct dw_cursor *c, void *v, size_t n)
{
	const uint8_t *p = dw_cursor_bytes(c, n);

	if (p)
		memcpy(v, p, n);
}

uint8_t dw_cursor_u8(struct dw_cursor *c)
{
	uint8_t v = 0;

	read_into(c, &v, sizeof v);
	return v;
}

uint16_t dw_cursor_u16(struct dw_cursor *c)
{
	uint16_t v = 0;

	read_into(c, &v, sizeof v);
	return v;
}

uint32_t dw_cursor_u32(struct dw_cursor *c)
{
	uint32_t v = 0;

	read_into(c, &v, sizeof v);
	return v;
}

uint64_t dw_cursor_u64(struct dw_cursor *c)
{
	uint64_t v = 0;

	read_into(c, &v, sizeof v);
	return v;
}

/* Bits of a LEB128 of either sign; *@shift becomes the number of bits read, *@last the final byte.
 */
static uint64_t read_leb(struct dw_cursor *c, unsigned *shift, uint8_t *last)
{
	uint64_t v = 0;

	*shift = 0;
	do {
		*last = dw_cursor_u8(c);
		if (c->failed || *shift > 63) {
			c->failed = true;
			return 0;
		}
		v |= (uint64_t)(*last & 0x7f) << *shift;
		*shift += 7;
	} while (*last & 0x80);
	return v;
}

uint64_t dw_cursor_uleb(struct dw_cursor *c)
{
	unsigned shift;
	uint8_t last;
	uint64_t v = read_leb(c, &shift, &last);

	if (shift > 63 && last > 1) {
		c->failed = true;
		return 0;
	}
	return v;
}

int64_t dw_cursor_sleb(struct dw_cursor *c)
{
	unsigned shift;
	uint8_t last;
	uint64_t v = read_leb(c, &shift, &last);

	if (c->failed)
		return 0;
	if (shift < 64 && last & 0x40)
		v |= ~(uint64_t)0 << shift;
	return (int64_t)v;
}

int64_t dw_cursor_zigzag(struct dw_cursor *c)
{
	uint64_t v = dw_cursor_uleb(c);

	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

const char *dw_cursor_cstr(struct dw_cursor *c)
{
	size_t left = dw_cursor_left(c);
	const uint8_t *nul = left ? memchr(c->pos, 0, left) : NULL;

	if (!nul) {
		c->failed = true;
		return NULL;
	}
	return (const char *)dw_cursor_bytes(c, (size_t)(nul - c->pos) + 1);
}
