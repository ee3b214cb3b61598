/*
 * Packing of chunks; see chunk.h.
 *
 * The checksum covers the row's own columns too, so that no flipped byte of a chunk goes unseen;
 * CRC-32 because every language has it. zstd (RFC 8878) is told to leave its own checksum out.
 */
#include "session/chunk.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { SKIPPABLE_HEAD = 8 }; /* bytes before a skippable frame's own */

static void put_u64(uint8_t *p, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

uint32_t dw_chunk_checksum(const struct dw_packed_chunk *c)
{
	uint8_t columns[24];
	uLong crc = crc32_z(0, (const Bytef *)c->kind, strlen(c->kind));

	put_u64(columns, (uint64_t)c->id);
	put_u64(columns + 8, c->items);
	put_u64(columns + 16, c->raw_bytes);
	crc = crc32_z(crc, columns, sizeof columns);
	return (uint32_t)crc32_z(crc, c->data, c->bytes);
}

/* Lengthen @ret, a packed chunk, to @bytes by a skippable frame: RFC 8878, 3.1.2. 0 or -ENOMEM. */
static int pad(struct dw_buf *ret, size_t bytes)
{
	size_t n = bytes > ret->len + SKIPPABLE_HEAD ? bytes - ret->len - SKIPPABLE_HEAD : 0;
	uint8_t *at;

	if (dw_buf_reserve(ret, SKIPPABLE_HEAD + n))
		return -ENOMEM;
	at = (uint8_t *)ret->data + ret->len;
	memset(at, 0, SKIPPABLE_HEAD + n);
	put_u64(at, ZSTD_MAGIC_SKIPPABLE_START | (uint64_t)n << 32);
	ret->len += SKIPPABLE_HEAD + n;
	return 0;
}

int dw_chunk_pack(struct ZSTD_CCtx_s *packer, const struct dw_buf *raw, int level,
		  struct dw_buf *ret)
{
	size_t room = ZSTD_compressBound(raw->len), n;

	dw_buf_clear(ret);
	if (raw->len > DWELL_CHUNK_RAW_BYTES_MAX)
		return DWELL_ERR_LIMIT;
	if (dw_buf_reserve(ret, room))
		return -ENOMEM;
	n = packer ? ZSTD_compressCCtx(packer, ret->data, room, dw_buf_str(raw), raw->len, level)
		   : ZSTD_compress(ret->data, room, dw_buf_str(raw), raw->len, level);
	if (ZSTD_isError(n))
		return -ENOMEM;
	ret->len = n;
	/* What repeats itself may shrink to a thousandth, which a reader takes for an attack. */
	return n < raw->len / DWELL_RAW_BYTES_RATIO ? pad(ret, raw->len / DWELL_RAW_BYTES_RATIO)
						    : 0;
}

int dw_chunk_unpack(const struct dw_packed_chunk *c, struct dw_buf *ret)
{
	size_t n;

	dw_buf_clear(ret);
	if (c->raw_bytes > DWELL_CHUNK_RAW_BYTES_MAX || !c->bytes ||
	    ZSTD_getFrameContentSize(c->data, c->bytes) != c->raw_bytes)
		return DWELL_ERR_FORMAT;
	if (dw_buf_reserve(ret, c->raw_bytes))
		return -ENOMEM;
	n = ZSTD_decompress(ret->data, c->raw_bytes, c->data, c->bytes);
	if (n != c->raw_bytes)
		return DWELL_ERR_FORMAT;
	ret->len = n;
	ret->data[n] = 0;
	return 0;
}
