/*
 * Tables to columns; see encode.h.
 *
 * One column after the other, because zstd packs like next to like: measured on a compiler's stacks
 * it halves what rows take. Ids of rows are never stored: a chunk continues where the one before
 * ended. Deltas are taken modulo 2^64, so they hold for any value.
 */
#include "session/encode.h"

#include "session/columns.h"
#include "session/encode-allocs.h"
#include "session/encode-calls.h"

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

static void put_modules(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const struct dw_module *m = &p->modules.rows.v[i];

		dw_buf_put_uleb(b, m->kind);
		dw_buf_put_uleb(b, m->path);
		dw_buf_put_uleb(b, m->name);
		put_bytes(b, m->build_id, m->build_id_bytes);
		dw_buf_put_uleb(b, m->deleted);
		dw_buf_put_uleb(b, m->device);
		dw_buf_put_uleb(b, m->inode);
	}
}

static void put_process(struct dw_buf *b, size_t id, const struct dw_process *row)
{
	dw_buf_put_uleb(b, id);
	dw_buf_put_zigzag(b, row->pid);
	dw_buf_put_uleb(b, row->parent);
	dw_buf_put_uleb(b, row->name);
	dw_buf_put_uleb(b, row->begin_ns + 1); /* DWELL_TIME_NONE becomes 0 */
	dw_buf_put_uleb(b, row->end_ns + 1);
	dw_buf_put_uleb(b, row->user_cpu_ns + 1);
	dw_buf_put_uleb(b, row->kernel_cpu_ns + 1);
}

static void put_thread(struct dw_buf *b, size_t id, const struct dw_thread *row)
{
	dw_buf_put_uleb(b, id);
	dw_buf_put_uleb(b, row->process);
	dw_buf_put_zigzag(b, row->tid);
	dw_buf_put_uleb(b, row->name);
	dw_buf_put_uleb(b, row->start);
	dw_buf_put_uleb(b, row->begin_ns + 1);
	dw_buf_put_uleb(b, row->end_ns + 1);
}

static void put_frames(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	const struct dw_frame *rows = p->frames.rows.v;

	PUT_DELTAS(b, rows, from, to, module);
	PUT_COLUMN(b, rows, from, to, kind);
	PUT_DELTAS(b, rows, from, to, svma);
}

static void put_stacks(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		dw_buf_put_uleb(b, i - p->stacks.rows.v[i].parent);
	PUT_COLUMN(b, p->stacks.rows.v, from, to, frame);
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

static void put_waits(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	const struct dw_wait *rows = p->waits.rows.v;

	PUT_DELTAS(b, rows, from, to, begin_ns);
	PUT_COLUMN(b, rows, from, to, span_ns);
	for (size_t i = from; i < to; i++)
		dw_buf_put_uleb(b, rows[i].span_ns - rows[i].blocked_ns);
	PUT_COLUMN(b, rows, from, to, thread);
	PUT_COLUMN(b, rows, from, to, stack);
}

static void put_functions(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	const struct dw_function *rows = p->functions.rows.v;

	PUT_DELTAS(b, rows, from, to, module);
	PUT_DELTAS(b, rows, from, to, name);
	PUT_DELTAS(b, rows, from, to, linkage_name);
	PUT_DELTAS(b, rows, from, to, file);
	PUT_COLUMN(b, rows, from, to, line);
	PUT_COLUMN(b, rows, from, to, flags);
	PUT_DELTAS(b, rows, from, to, svma);
	PUT_COLUMN(b, rows, from, to, bytes);
}

static void put_locations(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	const struct dw_location *rows = p->locations.rows.v;
	const uint32_t *first = p->locations.first.v;
	size_t begin = first[from], end = first[to];

	for (size_t i = from; i < to; i++)
		dw_buf_put_uleb(b, first[i + 1] - first[i]);
	PUT_DELTAS(b, rows, begin, end, function);
	PUT_DELTAS(b, rows, begin, end, file);
	PUT_DELTAS(b, rows, begin, end, line);
	PUT_COLUMN(b, rows, begin, end, column);
	for (size_t i = begin; i < end; i++)
		dw_buf_put_zigzag(b, (int64_t)rows[i].line_end - rows[i].line);
	PUT_COLUMN(b, rows, begin, end, column_end);
}

static void put_codes(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	const struct dw_code *rows = p->codes.rows.v;

	PUT_DELTAS(b, rows, from, to, function);
	PUT_COLUMN(b, rows, from, to, bytes_n);
	PUT_DELTAS(b, rows, from, to, svma);
	for (size_t i = from; i < to; i++)
		dw_buf_put(b, rows[i].bytes, rows[i].bytes_n);
}

static void put_sources(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	const struct dw_source *rows = p->sources.rows.v;

	PUT_COLUMN(b, rows, from, to, file);
	PUT_COLUMN(b, rows, from, to, bytes_n);
	for (size_t i = from; i < to; i++)
		dw_buf_put(b, rows[i].text, rows[i].bytes_n);
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

/* The end of the chunk that begins with row @from. */
static size_t chunk_end(const struct dw_profile *p, enum dw_chunk_kind kind, size_t from, size_t to)
{
	size_t bytes = 0, end = from;

	while (end < to && end - from < DWELL_CHUNK_ITEMS_MAX && bytes < DWELL_CHUNK_SPLIT_BYTES)
		bytes += row_bytes(p, kind, end++);
	return end;
}

typedef void put_rows_fn(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to);

static int encode_rows(const struct dw_profile *p, enum dw_chunk_kind kind, put_rows_fn *put,
		       size_t from, size_t to, dw_chunk_sink_fn *sink, void *ctx)
{
	for (size_t end; from < to; from = end) {
		struct dw_raw_chunk c = {.kind = kind};
		int rc;

		end = chunk_end(p, kind, from, to);
		c.items = end - from;
		put(&c.raw, p, from, end);
		rc = c.raw.failed ? -ENOMEM : sink(ctx, &c);
		dw_buf_release(&c.raw);
		if (rc)
			return rc;
	}
	return 0;
}

/* Processes and threads: new rows and changed ones, each with its id. */
static int encode_tasks(const struct dw_profile *p, const struct dw_encoded *done,
			dw_chunk_sink_fn *sink, void *ctx)
{
	struct dw_raw_chunk processes = {.kind = DWELL_CHUNK_PROCESSES};
	struct dw_raw_chunk threads = {.kind = DWELL_CHUNK_THREADS};
	int rc;

	for (size_t i = 1; i < p->processes.rows.n; i++)
		if (i >= done->rows[DWELL_CHUNK_PROCESSES] || p->processes.rows.v[i].dirty) {
			put_process(&processes.raw, i, &p->processes.rows.v[i]);
			processes.items++;
		}
	for (size_t i = 1; i < p->threads.rows.n; i++)
		if (i >= done->rows[DWELL_CHUNK_THREADS] || p->threads.rows.v[i].dirty) {
			put_thread(&threads.raw, i, &p->threads.rows.v[i]);
			threads.items++;
		}
	rc = processes.raw.failed || threads.raw.failed ? -ENOMEM : 0;
	if (!rc && processes.items)
		rc = sink(ctx, &processes);
	if (!rc && threads.items)
		rc = sink(ctx, &threads);
	dw_buf_release(&processes.raw);
	dw_buf_release(&threads.raw);
	return rc;
}

/* Rows of @kind in @p, the unused row 0 of tables that have one included. */
static size_t rows_of(const struct dw_profile *p, enum dw_chunk_kind kind)
{
	switch (kind) {
	case DWELL_CHUNK_STRINGS:
		return p->strings.n;
	case DWELL_CHUNK_MODULES:
		return p->modules.rows.n;
	case DWELL_CHUNK_PROCESSES:
		return p->processes.rows.n;
	case DWELL_CHUNK_THREADS:
		return p->threads.rows.n;
	case DWELL_CHUNK_FRAMES:
		return p->frames.rows.n;
	case DWELL_CHUNK_STACKS:
		return p->stacks.rows.n;
	case DWELL_CHUNK_SAMPLES:
		return p->samples.n;
	case DWELL_CHUNK_FUNCTIONS:
		return p->functions.rows.n;
	case DWELL_CHUNK_LOCATIONS:
		return p->locations.first.n ? p->locations.first.n - 1 : 0;
	case DWELL_CHUNK_CODES:
		return p->codes.rows.n;
	case DWELL_CHUNK_CALL_NODES:
		return dw_calls_count(&p->calls);
	case DWELL_CHUNK_CALL_SLICES:
		return p->calls.slices.n;
	case DWELL_CHUNK_CALL_DELTAS:
		return p->calls.deltas.n;
	case DWELL_CHUNK_CALL_EXTREMES:
		return p->calls.extremes.n;
	case DWELL_CHUNK_CALL_SLOW:
		return p->calls.slow.n;
	case DWELL_CHUNK_ALLOC_TYPES:
		return p->allocations.types.n;
	case DWELL_CHUNK_ALLOC_GROUPS:
		return p->allocations.groups.n;
	case DWELL_CHUNK_ALLOC_METHODS:
		return p->allocations.methods.n;
	case DWELL_CHUNK_ALLOC_DELTAS:
		return p->allocations.deltas.n;
	case DWELL_CHUNK_GCS:
		return p->allocations.gcs.n;
	case DWELL_CHUNK_CALL_MUTES:
		return p->calls.mutes.n;
	case DWELL_CHUNK_SOURCES:
		return p->sources.rows.n;
	case DWELL_CHUNK_WAITS:
		return p->waits.rows.n;
	default:
		return 0;
	}
}

/* The kinds that are plain ranges of rows. @first: row 0 is unused, ids begin with 1. */
static const struct {
	put_rows_fn *put;
	size_t first;
	bool symbols;
} kinds[DWELL_CHUNK_KINDS] = {
	[DWELL_CHUNK_STRINGS] = {put_strings, 1, false},
	[DWELL_CHUNK_MODULES] = {put_modules, 1, false},
	[DWELL_CHUNK_FRAMES] = {put_frames, 1, false},
	[DWELL_CHUNK_STACKS] = {put_stacks, 1, false},
	[DWELL_CHUNK_SAMPLES] = {put_samples, 0, false},
	[DWELL_CHUNK_FUNCTIONS] = {put_functions, 1, true},
	[DWELL_CHUNK_LOCATIONS] = {put_locations, 0, true},
	[DWELL_CHUNK_CODES] = {put_codes, 0, true},
	[DWELL_CHUNK_CALL_NODES] = {dw_put_call_nodes, 0, false},
	[DWELL_CHUNK_CALL_SLICES] = {dw_put_call_slices, 0, false},
	[DWELL_CHUNK_CALL_DELTAS] = {dw_put_call_deltas, 0, false},
	[DWELL_CHUNK_CALL_EXTREMES] = {dw_put_call_extremes, 0, false},
	[DWELL_CHUNK_CALL_SLOW] = {dw_put_call_slow, 0, false},
	[DWELL_CHUNK_ALLOC_TYPES] = {dw_put_alloc_types, 0, false},
	[DWELL_CHUNK_ALLOC_GROUPS] = {dw_put_alloc_groups, 0, false},
	[DWELL_CHUNK_ALLOC_METHODS] = {dw_put_alloc_methods, 0, false},
	[DWELL_CHUNK_ALLOC_DELTAS] = {dw_put_alloc_deltas, 0, false},
	[DWELL_CHUNK_GCS] = {dw_put_gcs, 0, false},
	[DWELL_CHUNK_CALL_MUTES] = {dw_put_call_mutes, 0, false},
	[DWELL_CHUNK_SOURCES] = {put_sources, 0, true},
	[DWELL_CHUNK_WAITS] = {put_waits, 0, false},
};

int dw_encode_rows(const struct dw_profile *p, enum dw_chunk_kind kind, size_t from, size_t to,
		   dw_chunk_sink_fn *sink, void *ctx)
{
	return encode_rows(p, kind, kinds[kind].put, from, to, sink, ctx);
}

int dw_encode_kind(const struct dw_profile *p, const struct dw_encoded *done,
		   enum dw_chunk_kind kind, bool symbols, dw_chunk_sink_fn *sink, void *ctx)
{
	size_t from = done->rows[kind], first = kinds[kind].first;

	if (kind == DWELL_CHUNK_PROCESSES)
		return encode_tasks(p, done, sink, ctx);
	if (!kinds[kind].put || (kinds[kind].symbols && !symbols))
		return 0;
	return encode_rows(p, kind, kinds[kind].put, from > first ? from : first, rows_of(p, kind),
			   sink, ctx);
}

int dw_encode_profile(const struct dw_profile *p, const struct dw_encoded *done, bool symbols,
		      dw_chunk_sink_fn *sink, void *ctx)
{
	int rc = 0;

	for (enum dw_chunk_kind kind = DWELL_CHUNK_STRINGS; kind < DWELL_CHUNK_KINDS && !rc; kind++)
		rc = dw_encode_kind(p, done, kind, symbols, sink, ctx);
	return rc;
}

/* Whether rows of @kind do not stay in a profile once they are written. */
static bool is_cleared(enum dw_chunk_kind kind)
{
	return kind == DWELL_CHUNK_SAMPLES || kind == DWELL_CHUNK_CALL_DELTAS ||
	       kind == DWELL_CHUNK_CALL_EXTREMES || kind == DWELL_CHUNK_CALL_SLOW ||
	       kind == DWELL_CHUNK_ALLOC_DELTAS || kind == DWELL_CHUNK_WAITS;
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
