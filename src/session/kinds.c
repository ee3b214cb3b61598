/* Kinds of chunks by their names, and lists of raw chunks; see chunk.h. Nothing here packs. */
#include "session/chunk.h"

#include <stdlib.h>
#include <string.h>

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
