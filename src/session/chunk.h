/*
 * Chunks: rows of one kind as columns of bytes, packed with zstd under a checksum.
 *
 * A raw chunk is what encode.h makes and decode.h reads. A packed chunk is a row of the table
 * chunk. Nothing here knows SQLite. [any-thread]
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"
#include "session/format.h"

#include <stdint.h>

struct ZSTD_CCtx_s; /* of zstd.h */

struct dw_raw_chunk {
	enum dw_chunk_kind kind;
	uint64_t items;
	struct dw_buf raw; /* owned */
};

struct dw_raw_chunks {
	DW_VEC(struct dw_raw_chunk) rows;
};

struct dw_packed_chunk {
	int64_t id;
	const char *kind; /* borrowed */
	uint64_t items;
	uint64_t raw_bytes;
	const void *data; /* borrowed */
	size_t bytes;
};

/* The name of @kind as stored. Static. */
const char *dw_chunk_kind_name(enum dw_chunk_kind kind);

/* The kind called @name, DWELL_CHUNK_KINDS when it is not known. */
enum dw_chunk_kind dw_chunk_kind_find(const char *name);

/* The checksum of a packed chunk: CRC-32 (that of zlib) over its columns and its bytes. */
uint32_t dw_chunk_checksum(const struct dw_packed_chunk *c);

/* Compress @raw at zstd's @level into @ret (cleared first), by @packer, of ZSTD_createCCtx(): its
 * memory serves chunk after chunk. NULL: of its own, this once. 0, -ENOMEM or DWELL_ERR_LIMIT. */
int dw_chunk_pack(struct ZSTD_CCtx_s *packer, const struct dw_buf *raw, int level,
		  struct dw_buf *ret);

/*
 * Unpack @c, whose checksum the caller has compared, into @ret (cleared first). 0; -ENOMEM;
 * DWELL_ERR_FORMAT when the bytes are no zstd frame of exactly c->raw_bytes.
 */
int dw_chunk_unpack(const struct dw_packed_chunk *c, struct dw_buf *ret);

/* Bytes that all of @chunks hold. */
uint64_t dw_raw_chunks_bytes(const struct dw_raw_chunks *chunks);

/* Free everything. NULL is fine. */
void dw_raw_chunks_release(struct dw_raw_chunks *chunks);
