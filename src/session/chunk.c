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

static const char *const kind_names[DWELL_CHUNK_KINDS] = {
	[DWELL_CHUNK_INDEX] = "index",
	[DWELL_CHUNK_FACTS] = "facts",
	[DWELL_CHUNK_STRINGS] = "strings",
	[DWELL_CHUNK_MODULES] = "modules",
	[DWELL_CHUNK_PROCESSES] = "processes",
	[DWELL_CHUNK_THREADS] = "threads",
	[DWELL_CHUNK_FRAMES] = "frames",
	[DWELL_CHUNK_STACKS] = "stacks",
	[DWELL_CHUNK_SAMPLES] = "samples",
	[DWELL_CHUNK_FUNCTIONS] = "functions",
	[DWELL_CHUNK_LOCATIONS] = "locations",
	[DWELL_CHUNK_CODES] = "codes",
	[DWELL_CHUNK_CALL_NODES] = "call_nodes",
	[DWELL_CHUNK_CALL_SLICES] = "call_slices",
	[DWELL_CHUNK_CALL_DELTAS] = "call_deltas",
	[DWELL_CHUNK_CALL_EXTREMES] = "call_extremes",
	[DWELL_CHUNK_CALL_SLOW] = "call_slow",
	[DWELL_CHUNK_ALLOC_TYPES] = "alloc_types",
	[DWELL_CHUNK_ALLOC_GROUPS] = "alloc_groups",
	[DWELL_CHUNK_ALLOC_METHODS] = "alloc_methods",
	[DWELL_CHUNK_ALLOC_DELTAS] = "alloc_deltas",
	[DWELL_CHUNK_GCS] = "gcs",
	[DWELL_CHUNK_CALL_DISABLED] = "call_mutes",
	[DWELL_CHUNK_SOURCES] = "sources",
	[DWELL_CHUNK_EXTRAS] = "waits",
	[DWELL_CHUNK_EXECS] = "execs",
	[DWELL_CHUNK_CALL_FILES] = "call_files",
};

const char *dw_chunk_kind_name(enum dw_chunk_kind kind)
{
	return kind_names[kind];
}

enum dw_chunk_kind dw_chunk_kind_find(const char *name)
{
	enum dw_chunk_kind kind = 0;

	while (kind < DWELL_CHUNK_KINDS && strcmp(kind_names[kind], name))
		kind++;
	return kind;
}

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

uint64_t dw_raw_chunks_bytes(const struct dw_raw_chunks *chunks)
{
	uint64_t bytes = 0;

	dw_vec_each(c, &chunks->rows)
		bytes += c->raw.len;
	return bytes;
}

void dw_raw_chunks_release(struct dw_raw_chunks *chunks)
{
	if (!chunks)
		return;
	dw_vec_each(c, &chunks->rows)
		dw_buf_release(&c->raw);
	dw_vec_release(&chunks->rows);
}
