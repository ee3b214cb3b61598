/*
 * From the tables of a profile to raw chunks: columns of LEB128 numbers, deltas where neighbours
 * are alike. The layout of each kind is in docs/session-format.md; decode.h is the other side.
 */
#pragma once

#include "model/profile.h"
#include "session/chunk.h"

#include <stdbool.h>
#include <stdint.h>

/* How many rows of each append-only table are in the session already. */
struct dw_encoded {
	size_t rows[DWELL_CHUNK_KINDS];
};

/* What a session holds: written with every commit, so that a lost chunk is seen. */
struct dw_session_index {
	bool finished;
	int64_t last_id; /* of the table chunk */
	struct {
		uint64_t chunks;
		uint64_t items;
	} kinds[DWELL_CHUNK_KINDS];
};

/* Takes a chunk over (c->raw is left empty, or freed by the caller). 0 or a negative code, which
 * ends the encoding. */
typedef int dw_chunk_sink_fn(void *ctx, struct dw_raw_chunk *c);

/*
 * Hand what is new in @p since @done, and rows with a dirty flag, to @sink, kind by kind in the
 * order of enum dw_chunk_kind; chunks without items are left out. Samples and deltas, and of calls
 * all but nodes and slices: all of them.
 * @symbols  functions, locations and code too.
 * Neither @p nor @done is changed. 0 or -ENOMEM, or what @sink returned.
 */
int dw_encode_profile(const struct dw_profile *p, const struct dw_encoded *done, bool symbols,
		      dw_chunk_sink_fn *sink, void *ctx);

/* The same of @kind alone. */
int dw_encode_kind(const struct dw_profile *p, const struct dw_encoded *done,
		   enum dw_chunk_kind kind, bool symbols, dw_chunk_sink_fn *sink, void *ctx);

/* Hand rows @from to @to, not included, of @kind to @sink, a kind whose rows are a plain range. */
int dw_encode_rows(const struct dw_profile *p, enum dw_chunk_kind kind, size_t from, size_t to,
		   dw_chunk_sink_fn *sink, void *ctx);

/* Note in @done all that a successful dw_encode_profile() has encoded. */
void dw_encoded_advance(struct dw_encoded *done, const struct dw_profile *p);

/* Make the chunk of all facts. 0 or -ENOMEM. */
int dw_encode_facts(const struct dw_facts *facts, struct dw_raw_chunk *ret);

/* Make the chunk of the index. 0 or -ENOMEM. */
int dw_encode_index(const struct dw_session_index *index, struct dw_raw_chunk *ret);
