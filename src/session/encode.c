/*
 * Tables to columns; see encode.h.
 *
 * Ids of rows are never stored: a chunk continues where the one before ended.
 */
#include "session/encode.h"

#include "session/columns.h"

#include <errno.h>
#include <string.h>

static void put_bytes(struct dw_buf *b, const void *p, size_t n)
{
	dw_buf_put_uleb(b, n);
	dw_buf_put(b, p, n);
}

static void put_strings(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		dw_buf_put_uleb(b, p->strings.len[i]);
	for (size_t i = from; i < to; i++)
		dw_buf_put(b, p->strings.text[i], p->strings.len[i]);
}

static void put_samples(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	const struct dw_samples *s = &p->samples;
	uint64_t last = 0;

	for (size_t i = from; i < to; i++) {
		dw_buf_put_zigzag(b, (int64_t)(s->time_ns[i] - last));
		last = s->time_ns[i];
	}
	for (size_t i = from; i < to; i++)
		dw_buf_put_uleb(b, s->thread[i]);
	for (size_t i = from; i < to; i++)
		dw_buf_put_uleb(b, s->stack[i]);
}

static void put_locations(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	struct dw_columns columns = dw_layout_of(DWELL_CHUNK_LOCATIONS);
	const uint32_t *first = p->locations.first.v;

	for (size_t i = from; i < to; i++)
		dw_buf_put_uleb(b, first[i + 1] - first[i]);
	dw_columns_put(b, &columns, p->locations.rows.v + first[from], first[to] - first[from], 0);
}

/* A table that is a kind's. */
struct table {
	const char *rows; /* NULL: it is none of DWELL_TABLES */
	size_t n;
	bool has_unused; /* row 0 */
};

static struct table table_of(const struct dw_profile *p, enum dw_chunk_kind kind)
{
	switch (kind) {
#define TABLE(name, path, unused) \
	case DWELL_CHUNK_##name:  \
		return (struct table){(const char *)p->path.v, p->path.n, unused};
		DWELL_TABLES(TABLE)
#undef TABLE
	default:
		return (struct table){0};
	}
}

/* Rows of @kind that are in the session and not in @p any more. */
static size_t forgotten(const struct dw_profile *p, enum dw_chunk_kind kind)
{
	return kind == DWELL_CHUNK_CALL_NODES ? p->calls.nodes_written : 0;
}

/* Rows [@from, @to) of a kind that is one of DWELL_TABLES, and the bytes that follow them. */
static void put_rows(struct dw_buf *b, const struct dw_profile *p, enum dw_chunk_kind kind,
		     size_t from, size_t to)
{
	struct dw_columns columns = dw_layout_of(kind);
	struct table t = table_of(p, kind);
	size_t first = from - forgotten(p, kind);

	if (!dw_layout_is_by_row(kind))
		dw_columns_put(b, &columns, t.rows + first * columns.row_bytes, to - from,
			       from + !t.has_unused);
	for (size_t i = from; i < to && dw_layout_is_by_row(kind); i++)
		dw_columns_put(b, &columns, t.rows + i * columns.row_bytes, 1, 0);
	for (size_t i = from; i < to && kind == DWELL_CHUNK_CODES; i++)
		dw_buf_put(b, p->codes.rows.v[i].bytes, p->codes.rows.v[i].bytes_n);
	for (size_t i = from; i < to && kind == DWELL_CHUNK_SOURCES; i++)
		dw_buf_put(b, p->sources.rows.v[i].text, p->sources.rows.v[i].bytes_n);
}

/* Bytes of variable length in row @i of a kind that has such. */
static size_t row_bytes(const struct dw_profile *p, enum dw_chunk_kind kind, size_t i)
{
	if (kind == DWELL_CHUNK_STRINGS)
		return p->strings.len[i];
	if (kind == DWELL_CHUNK_CODES)
		return p->codes.rows.v[i].bytes_n;
	if (kind == DWELL_CHUNK_SOURCES)
		return p->sources.rows.v[i].bytes_n;
	return 0;
}

static size_t chunk_end(const struct dw_profile *p, enum dw_chunk_kind kind, size_t from, size_t to)
{
	size_t bytes = 0, end = from;

	while (end < to && end - from < DWELL_CHUNK_ITEMS_MAX && bytes < DWELL_CHUNK_SPLIT_BYTES)
		bytes += row_bytes(p, kind, end++);
	return end;
}

/* The kinds that are in no table of rows. */
static const struct {
	void (*put)(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to);
	bool has_unused;
} kinds[DWELL_CHUNK_KINDS] = {
	[DWELL_CHUNK_STRINGS] = {put_strings, true},
	[DWELL_CHUNK_SAMPLES] = {put_samples, false},
	[DWELL_CHUNK_LOCATIONS] = {put_locations, false},
};

int dw_encode_rows(const struct dw_profile *p, enum dw_chunk_kind kind, size_t from, size_t to,
		   dw_chunk_sink_fn *sink, void *ctx)
{
	for (size_t end; from < to; from = end) {
		struct dw_raw_chunk c = {.kind = kind};
		int rc;

		end = chunk_end(p, kind, from, to);
		c.items = end - from;
		if (kinds[kind].put)
			kinds[kind].put(&c.raw, p, from, end);
		else
			put_rows(&c.raw, p, kind, from, end);
		rc = c.raw.failed ? -ENOMEM : sink(ctx, &c);
		dw_buf_release(&c.raw);
		if (rc)
			return rc;
	}
	return 0;
}

/* Those rows of @table, of processes or threads, that are new or have changed, each with its id. */
#define ENCODE_TASKS(table, kind, done, sink, ctx)                                    \
	({                                                                            \
		__auto_type t_ = (table);                                             \
		struct dw_columns columns_ = dw_layout_of(kind);                      \
		struct dw_raw_chunk c_ = {(kind), 0, DW_BUF_INIT};                    \
		int rc_;                                                              \
		for (size_t i_ = 1; i_ < t_->n; i_++)                                 \
			if (i_ >= (done)->rows[kind] || t_->v[i_].dirty) {            \
				dw_buf_put_uleb(&c_.raw, i_);                         \
				dw_columns_put(&c_.raw, &columns_, &t_->v[i_], 1, 0); \
				c_.items++;                                           \
			}                                                             \
		rc_ = c_.raw.failed ? -ENOMEM : c_.items ? (sink)((ctx), &c_) : 0;    \
		dw_buf_release(&c_.raw);                                              \
		rc_;                                                                  \
	})

/* Rows of @kind in @p, the unused row 0 of tables that have one included. */
static size_t rows_of(const struct dw_profile *p, enum dw_chunk_kind kind)
{
	switch (kind) {
	case DWELL_CHUNK_STRINGS:
		return p->strings.n;
	case DWELL_CHUNK_PROCESSES:
		return p->processes.rows.n;
	case DWELL_CHUNK_THREADS:
		return p->threads.rows.n;
	case DWELL_CHUNK_SAMPLES:
		return p->samples.n;
	case DWELL_CHUNK_LOCATIONS:
		return p->locations.first.n ? p->locations.first.n - 1 : 0;
	default:
		return table_of(p, kind).n + forgotten(p, kind);
	}
}

static bool is_symbols(enum dw_chunk_kind kind)
{
	return kind == DWELL_CHUNK_FUNCTIONS || kind == DWELL_CHUNK_LOCATIONS ||
	       kind == DWELL_CHUNK_CODES || kind == DWELL_CHUNK_SOURCES;
}

int dw_encode_kind(const struct dw_profile *p, const struct dw_encoded *done,
		   enum dw_chunk_kind kind, bool symbols, dw_chunk_sink_fn *sink, void *ctx)
{
	bool has_unused = kinds[kind].has_unused || table_of(p, kind).has_unused;
	size_t from = done->rows[kind];

	if (kind == DWELL_CHUNK_PROCESSES)
		return ENCODE_TASKS(&p->processes.rows, kind, done, sink, ctx);
	if (kind == DWELL_CHUNK_THREADS)
		return ENCODE_TASKS(&p->threads.rows, kind, done, sink, ctx);
	if (is_symbols(kind) && !symbols)
		return 0;
	return dw_encode_rows(p, kind, has_unused && !from ? 1 : from, rows_of(p, kind), sink, ctx);
}

int dw_encode_profile(const struct dw_profile *p, const struct dw_encoded *done, bool symbols,
		      dw_chunk_sink_fn *sink, void *ctx)
{
	int rc = 0;

	for (enum dw_chunk_kind kind = DWELL_CHUNK_STRINGS; kind < DWELL_CHUNK_KINDS && !rc; kind++)
		rc = dw_encode_kind(p, done, kind, symbols, sink, ctx);
	return rc;
}

static bool is_cleared(enum dw_chunk_kind kind)
{
	return kind == DWELL_CHUNK_SAMPLES || kind == DWELL_CHUNK_CALL_DELTAS ||
	       kind == DWELL_CHUNK_CALL_EXTREMES || kind == DWELL_CHUNK_CALL_SLOW ||
	       kind == DWELL_CHUNK_ALLOC_DELTAS || kind == DWELL_CHUNK_EXTRAS ||
	       kind == DWELL_CHUNK_CALL_FILES;
}

void dw_encoded_advance(struct dw_encoded *done, const struct dw_profile *p)
{
	for (enum dw_chunk_kind kind = 0; kind < DWELL_CHUNK_KINDS; kind++)
		if (!is_cleared(kind))
			done->rows[kind] = rows_of(p, kind);
}

int dw_encode_facts(const struct dw_facts *facts, struct dw_raw_chunk *ret)
{
	*ret = (struct dw_raw_chunk){.kind = DWELL_CHUNK_FACTS, .items = facts->rows.n};
	dw_vec_each(f, &facts->rows) {
		put_bytes(&ret->raw, f->key, strlen(f->key));
		dw_buf_put_uleb(&ret->raw, f->text != NULL);
		if (f->text)
			put_bytes(&ret->raw, f->text, strlen(f->text));
		else
			dw_buf_put_zigzag(&ret->raw, f->integer);
	}
	return ret->raw.failed ? -ENOMEM : 0;
}

int dw_encode_index(const struct dw_session_index *index, struct dw_raw_chunk *ret)
{
	*ret = (struct dw_raw_chunk){.kind = DWELL_CHUNK_INDEX,
				     .items = DWELL_CHUNK_KINDS - DWELL_CHUNK_STRINGS};
	dw_buf_put_uleb(&ret->raw, index->finished);
	dw_buf_put_uleb(&ret->raw, (uint64_t)index->last_id);
	for (enum dw_chunk_kind kind = DWELL_CHUNK_STRINGS; kind < DWELL_CHUNK_KINDS; kind++) {
		dw_buf_put_uleb(&ret->raw, index->kinds[kind].chunks);
		dw_buf_put_uleb(&ret->raw, index->kinds[kind].items);
	}
	return ret->raw.failed ? -ENOMEM : 0;
}
