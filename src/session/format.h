/*
 * The numbers of the session format: what writer and reader must agree on. The format's document is
 * docs/session-format.md.
 */
#pragma once

enum {
	DWELL_SESSION_APPLICATION_ID = 0x6477656c, /* "dwel" */
	DWELL_SESSION_VERSION = 3,		   /* user_version; raised when a meaning changes */
	DWELL_SESSION_VERSION_SAMPLES = 1,	   /* of sessions without calls and allocations */
	DWELL_SESSION_VERSION_CALLS = 2,	   /* of sessions without allocations */
	DWELL_SESSION_HEADER_BYTES = 100,	   /* of every SQLite database */
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
	DWELL_CHUNK_CALL_MUTES,
	DWELL_CHUNK_SOURCES,
	DWELL_CHUNK_WAITS,
	DWELL_CHUNK_KINDS,
};
