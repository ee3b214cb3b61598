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

#include <stdint.h>

enum {
	DWELL_SESSION_APPLICATION_ID = 0x6477656c, /* "dwel" */
	DWELL_SESSION_VERSION = 4,		   /* user_version; raised when a meaning changes */
	DWELL_SESSION_VERSION_SAMPLES = 1,	   /* of sessions without calls and allocations */
	DWELL_SESSION_VERSION_CALLS = 2, /* of those without allocations and values of calls */
	DWELL_SESSION_VERSION_ALLOCATIONS = 3, /* of those without values of calls */
	DWELL_SESSION_HEADER_BYTES = 100,      /* of every SQLite database */
};

/* Limits of what a reader accepts. */
enum {
	DWELL_CHUNK_ITEMS_MAX = 1 << 20,       /* items that the writer puts into one chunk */
	DWELL_CHUNK_SPLIT_BYTES = 8 << 20,     /* the writer begins a new chunk beyond this */
	DWELL_CHUNK_RAW_BYTES_MAX = 256 << 20, /* of one chunk, unpacked */
	DWELL_RAW_BYTES_FREE = 32 << 20,       /* all chunks together, unpacked: this much ... */
	DWELL_RAW_BYTES_RATIO = 256,	       /* ... and this many times the file */
};

/* A node of the call tree gets a row in SQL from this share of all samples on: 1 / 2000 = 0.05 %.
 */
enum { DWELL_NODE_SHARE = 2000 };

/* Row ids in the table chunk. The rest follows in the order of writing. */
enum {
	DWELL_CHUNK_ID_INDEX = 1, /* what the file holds, written again by each commit */
	DWELL_CHUNK_ID_FACTS = 2, /* likewise */
	DWELL_CHUNK_ID_FIRST = 3, /* of those that are only ever added */
};

/* What a chunk holds, stored by its name. In the order in which a reader needs them. */
enum dw_chunk_kind {
	DWELL_CHUNK_INDEX,
	DWELL_CHUNK_FACTS,
	DWELL_CHUNK_STRINGS,
	DWELL_CHUNK_MODULES,
	DWELL_CHUNK_PROCESSES,
	DWELL_CHUNK_THREADS,
	DWELL_CHUNK_FRAMES,
	DWELL_CHUNK_STACKS,
	DWELL_CHUNK_SAMPLES,
	DWELL_CHUNK_FUNCTIONS,
	DWELL_CHUNK_LOCATIONS,
	DWELL_CHUNK_CODES,
	DWELL_CHUNK_CALL_NODES,
	DWELL_CHUNK_CALL_SLICES,
	DWELL_CHUNK_CALL_DELTAS,
	DWELL_CHUNK_CALL_EXTREMES,
	DWELL_CHUNK_CALL_SLOW,
	DWELL_CHUNK_ALLOC_TYPES,
	DWELL_CHUNK_ALLOC_GROUPS,
	DWELL_CHUNK_ALLOC_METHODS,
	DWELL_CHUNK_ALLOC_DELTAS,
	DWELL_CHUNK_GCS,
	DWELL_CHUNK_CALL_DISABLED,
	DWELL_CHUNK_SOURCES,
	DWELL_CHUNK_EXTRAS,
	DWELL_CHUNK_EXECS,
	DWELL_CHUNK_CALL_FILES,
	DWELL_CHUNK_KINDS,
};

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
