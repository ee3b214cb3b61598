/*
 * Columns of chunks; see columns.h. One column after the other, because zstd packs like next to
 * like: measured on a compiler's stacks it halves what rows take.
 */
#include "session/columns.h"

#include "model/measure.h"
#include "session/values.h"

#include <string.h>

static inline uint64_t get(const char *at, unsigned bytes)
{
	return bytes == sizeof(uint32_t) ? *(const uint32_t *)(const void *)at
					 : *(const uint64_t *)(const void *)at;
}

static inline void set(char *at, unsigned bytes, uint64_t v)
{
	if (bytes == sizeof(uint32_t))
		*(uint32_t *)(void *)at = (uint32_t)v;
	else
		*(uint64_t *)(void *)at = v;
}

static void put_column(struct dw_buf *b, const struct dw_column *col, const char *row,
		       size_t stride, size_t n, uint64_t first)
{
	uint64_t last = 0;

	for (size_t i = 0; i < n; i++, row += stride) {
		uint64_t v = get(row + col->offset, col->bytes);

		switch (col->coding) {
		case DWELL_CODING_DELTA:
			dw_buf_put_uleb(b, dw_zigzag(v - last));
			last = v;
			break;
		case DWELL_CODING_UP:
			dw_buf_put_uleb(b, first + i - v);
			break;
		case DWELL_CODING_BELOW:
			dw_buf_put_uleb(b, get(row + col->of, col->bytes) - v);
			break;
		case DWELL_CODING_FROM:
			dw_buf_put_uleb(b, dw_zigzag(v - get(row + col->of, col->bytes)));
			break;
		case DWELL_CODING_SIGNED:
			dw_buf_put_zigzag(b, (int32_t)v);
			break;
		case DWELL_CODING_TIME:
			dw_buf_put_uleb(b, v + 1);
			break;
		default:
			dw_buf_put_uleb(b, v);
		}
	}
}

void dw_columns_put(struct dw_buf *b, const struct dw_columns *columns, const void *rows, size_t n,
		    uint64_t first)
{
	for (size_t i = 0; i < columns->n; i++) {
		const struct dw_column *col = &columns->v[i];

		if (col->coding == DWELL_CODING_OWN)
			col->put(b, (const char *)rows + col->offset, columns->row_bytes, n);
		else
			put_column(b, col, rows, columns->row_bytes, n, first);
	}
}

/* A column while it is read. */
struct taken {
	const struct dw_column *column;
	char *row; /* the first */
	size_t stride, n;
	uint64_t first; /* its id */
	uint64_t most;
};

/* Read one column, in a loop for each way it may be coded. */
static inline __attribute__((always_inline)) void
take_as(struct dw_cursor *c, const struct taken *t, enum dw_coding coding, unsigned bytes)
{
	char *at = t->row + t->column->offset, *of = t->row + t->column->of;
	uint64_t most = t->most, last = 0, v;

	for (size_t i = 0; i < t->n; i++, at += t->stride, of += t->stride) {
		v = dw_take(c);
		if (coding == DWELL_CODING_DELTA) {
			v = last += dw_unzigzag(v);
		} else if (coding == DWELL_CODING_UP) {
			c->failed |= !v;
			v = t->first + i - dw_at_most(c, v, t->first + i);
		} else if (coding == DWELL_CODING_BELOW) {
			v = get(of, bytes) - v;
		} else if (coding == DWELL_CODING_FROM) {
			v = get(of, bytes) + dw_unzigzag(v);
		} else if (coding == DWELL_CODING_SIGNED) {
			v = (uint32_t)dw_unzigzag(v);
		} else if (coding == DWELL_CODING_TIME) {
			v--;
		}
		set(at, bytes, dw_at_most(c, v, most));
	}
}

/* Note in @c whether any of the members that were read is 0. */
static void check_needed(struct dw_cursor *c, const struct taken *t)
{
	const char *at = t->row + t->column->offset;

	for (size_t i = 0; i < t->n; i++, at += t->stride)
		c->failed |= !get(at, t->column->bytes);
}

static void take_column(struct dw_cursor *c, const struct taken *t)
{
	const struct dw_column *col = t->column;
	bool is_long = col->bytes == sizeof(uint64_t);

	if (col->coding == DWELL_CODING_DELTA && is_long)
		take_as(c, t, DWELL_CODING_DELTA, sizeof(uint64_t));
	else if (col->coding == DWELL_CODING_DELTA)
		take_as(c, t, DWELL_CODING_DELTA, sizeof(uint32_t));
	else if (col->coding == DWELL_CODING_PLAIN && is_long)
		take_as(c, t, DWELL_CODING_PLAIN, sizeof(uint64_t));
	else if (col->coding == DWELL_CODING_PLAIN)
		take_as(c, t, DWELL_CODING_PLAIN, sizeof(uint32_t));
	else
		take_as(c, t, col->coding, col->bytes);
	if (col->needed)
		check_needed(c, t);
}

void dw_columns_take(struct dw_cursor *c, const struct dw_columns *columns, void *rows, size_t n,
		     uint64_t first, const uint64_t limits[DWELL_LIMITS])
{
	for (size_t i = 0; i < columns->n; i++) {
		const struct dw_column *col = &columns->v[i];
		struct taken t = {col, rows, columns->row_bytes, n, first, limits[col->limit]};

		if (col->limit == DWELL_LIMIT_NUMBER)
			t.most = col->most;
		else if (col->limit == DWELL_LIMIT_NONE)
			t.most = col->bytes == sizeof(uint32_t) ? UINT32_MAX : UINT64_MAX;
		if (col->coding == DWELL_CODING_OWN)
			col->take(c, (char *)rows + col->offset, t.stride, n, limits);
		else
			take_column(c, &t);
	}
}

/* What rows consist of, in the order of docs/session-format.md. */

enum { TOKEN_MAX = (1 << 24) - 1, GENERATION_MAX = 2 };

/* Flags of a collection. */
enum { BLOCKING = 1, COMPACTING = 2 };

#define COLUMN_WITH(type, member, how, what, ...)                                                  \
	{                                                                                          \
		.offset = offsetof(struct type, member), .bytes = sizeof((struct type){0}.member), \
		.coding = DWELL_CODING_##how, .limit = DWELL_LIMIT_##what, __VA_ARGS__             \
	}
#define COLUMN(type, member, how, what) COLUMN_WITH(type, member, how, what, .needed = false)
#define ID(type, member, how, what)	COLUMN_WITH(type, member, how, what, .needed = true)
#define BY(type, member, how, other) \
	COLUMN_WITH(type, member, how, NONE, .of = offsetof(struct type, other))
#define OWN(at, put_fn, take_fn)                                                         \
	{                                                                                \
		.offset = at, .coding = DWELL_CODING_OWN, .put = put_fn, .take = take_fn \
	}
#define OWN_MEMBER(type, member, put, take) OWN(offsetof(struct type, member), put, take)

/* Do @what with each member @m of @type, from @at on. */
#define EACH(type, m, what)                                              \
	for (size_t i_ = 0; i_ < n; i_++) {                              \
		type *m = (type *)(void *)((uintptr_t)at + i_ * stride); \
		what;                                                    \
	}

static void put_build_id(struct dw_buf *b, const void *at, size_t stride, size_t n)
{
	EACH(const struct dw_module, m, {
		dw_buf_put_uleb(b, m->build_id_bytes);
		dw_buf_put(b, m->build_id, m->build_id_bytes);
	});
}

static void take_build_id(struct dw_cursor *c, void *at, size_t stride, size_t n,
			  const uint64_t limits[DWELL_LIMITS])
{
	(void)limits;
	EACH(struct dw_module, m, {
		m->build_id_bytes = (uint8_t)dw_take_max(c, sizeof m->build_id);
		const uint8_t *bytes = dw_cursor_bytes(c, m->build_id_bytes);

		if (bytes)
			memcpy(m->build_id, bytes, m->build_id_bytes);
	});
}

static const struct dw_column modules[] = {
	COLUMN_WITH(dw_module, kind, PLAIN, NUMBER, .most = DWELL_MODULE_JIT, .needed = true),
	COLUMN(dw_module, path, PLAIN, STRING),
	COLUMN(dw_module, name, PLAIN, STRING),
	OWN(0, put_build_id, take_build_id),
	COLUMN_WITH(dw_module, deleted, PLAIN, NUMBER, .most = 1),
	COLUMN(dw_module, device, PLAIN, NONE),
	COLUMN(dw_module, inode, PLAIN, NONE),
};

/* Parents and start functions may come later: dw_decode_finish() looks at them. */
static const struct dw_column processes[] = {
	COLUMN(dw_process, pid, SIGNED, NONE),	       COLUMN(dw_process, parent, PLAIN, NONE),
	COLUMN(dw_process, name, PLAIN, STRING),       COLUMN(dw_process, begin_ns, TIME, NONE),
	COLUMN(dw_process, end_ns, TIME, NONE),	       COLUMN(dw_process, user_cpu_ns, TIME, NONE),
	COLUMN(dw_process, kernel_cpu_ns, TIME, NONE),
};

static const struct dw_column threads[] = {
	ID(dw_thread, process, PLAIN, PROCESS),	 COLUMN(dw_thread, tid, SIGNED, NONE),
	COLUMN(dw_thread, name, PLAIN, STRING),	 COLUMN(dw_thread, start, PLAIN, NONE),
	COLUMN(dw_thread, begin_ns, TIME, NONE), COLUMN(dw_thread, end_ns, TIME, NONE),
};

static const struct dw_column frames[] = {
	COLUMN(dw_frame, module, DELTA, MODULE),
	COLUMN_WITH(dw_frame, kind, PLAIN, NUMBER, .most = DWELL_FRAME_KINDS - 1),
	COLUMN(dw_frame, svma, DELTA, NONE),
};

static const struct dw_column stacks[] = {
	COLUMN(dw_stack, parent, UP, NONE),
	ID(dw_stack, frame, PLAIN, FRAME),
};

/* A row's measure, and above it the kind of a wait. Where all are waits of kind 0 nothing is said
 * of that, as in sessions that knew nothing else. */
static void put_measures(struct dw_buf *b, const void *at, size_t stride, size_t n)
{
	bool others = false;

	EACH(const struct dw_extra, x, others |= x->measure != DWELL_MEASURE_BLOCKED || x->kind);
	if (others)
		EACH(const struct dw_extra, x,
		     dw_buf_put_uleb(b, x->measure + (uint64_t)DWELL_MEASURES_MAX * x->kind));
}

static void take_measures(struct dw_cursor *c, void *at, size_t stride, size_t n,
			  const uint64_t limits[DWELL_LIMITS])
{
	const uint32_t most = (uint32_t)DWELL_MEASURES_MAX * DWELL_WAIT_KINDS - 1;
	bool tells = dw_cursor_left(c);

	(void)limits;
	EACH(struct dw_extra, x, {
		uint32_t v = tells ? dw_take_max(c, most) : DWELL_MEASURE_BLOCKED;

		x->measure = v % DWELL_MEASURES_MAX;
		x->kind = v / DWELL_MEASURES_MAX;
		c->failed |= x->measure >= DWELL_MEASURES;
	});
}

static const struct dw_column extras[] = {
	COLUMN(dw_extra, begin_ns, DELTA, NONE), COLUMN(dw_extra, span_ns, PLAIN, NONE),
	BY(dw_extra, n, BELOW, span_ns),	 ID(dw_extra, thread, PLAIN, THREAD),
	COLUMN(dw_extra, stack, PLAIN, STACK),	 OWN(0, put_measures, take_measures),
};

static const struct dw_column functions[] = {
	COLUMN(dw_function, module, DELTA, MODULE),	  COLUMN(dw_function, name, DELTA, STRING),
	COLUMN(dw_function, linkage_name, DELTA, STRING), COLUMN(dw_function, file, DELTA, STRING),
	COLUMN(dw_function, line, PLAIN, NONE),		  COLUMN(dw_function, flags, PLAIN, NONE),
	COLUMN(dw_function, svma, DELTA, NONE),		  COLUMN(dw_function, bytes, PLAIN, NONE),
};

static const struct dw_column locations[] = {
	ID(dw_location, function, DELTA, FUNCTION), COLUMN(dw_location, file, DELTA, STRING),
	COLUMN(dw_location, line, DELTA, NONE),	    COLUMN(dw_location, column, PLAIN, NONE),
	BY(dw_location, line_end, FROM, line),	    COLUMN(dw_location, column_end, PLAIN, NONE),
};

/* The bytes themselves follow. */
static const struct dw_column codes[] = {
	ID(dw_code, function, DELTA, FUNCTION),
	COLUMN_WITH(dw_code, bytes_n, PLAIN, NUMBER, .most = DWELL_CHUNK_RAW_BYTES_MAX),
	COLUMN(dw_code, svma, DELTA, NONE),
};

static const struct dw_column sources[] = {
	COLUMN(dw_source, file, PLAIN, STRING),
	COLUMN_WITH(dw_source, bytes_n, PLAIN, NUMBER, .most = DWELL_CHUNK_RAW_BYTES_MAX),
};

static void put_callers(struct dw_buf *b, const void *at, size_t stride, size_t n)
{
	EACH(const struct dw_call_node, node,
	     if (node->flags & DWELL_CALL_OVERFLOW) dw_buf_put_uleb(b, node->caller));
}

static void take_callers(struct dw_cursor *c, void *at, size_t stride, size_t n,
			 const uint64_t limits[DWELL_LIMITS])
{
	EACH(struct dw_call_node, node,
	     node->caller = node->flags & DWELL_CALL_OVERFLOW
				    ? dw_take_max(c, limits[DWELL_LIMIT_FRAME])
				    : 0);
}

static const struct dw_column call_nodes[] = {
	COLUMN_WITH(dw_call_node, flags, PLAIN, NUMBER, .most = DWELL_CALL_FLAGS),
	ID(dw_call_node, thread, DELTA, THREAD),
	COLUMN(dw_call_node, parent, UP, NONE),
	COLUMN(dw_call_node, entry, DELTA, FRAME),
	COLUMN(dw_call_node, site, DELTA, FRAME),
	OWN(0, put_callers, take_callers),
};

static const struct dw_column call_slices[] = {COLUMN(dw_call_slice, end_ns, DELTA, NONE)};

static const struct dw_column call_deltas[] = {
	COLUMN(dw_call_delta, slice, DELTA, NONE),
	ID(dw_call_delta, node, DELTA, NODE),
	OWN_MEMBER(dw_call_delta, values, dw_put_call_values, dw_take_call_values),
	OWN_MEMBER(dw_call_delta, values, dw_put_ready, dw_take_ready),
};

static void put_extremes(struct dw_buf *b, const void *at, size_t stride, size_t n)
{
	EACH(const struct dw_range_ns, r, {
		dw_buf_put_uleb(b, r->min_ns);
		dw_buf_put_uleb(b, dw_zigzag(r->max_ns - r->min_ns));
	});
}

static void take_extremes(struct dw_cursor *c, void *at, size_t stride, size_t n,
			  const uint64_t limits[DWELL_LIMITS])
{
	(void)limits;
	EACH(struct dw_range_ns, r, {
		r->min_ns = dw_take(c);
		r->max_ns = r->min_ns + dw_unzigzag(dw_take(c));
	});
}

static const struct dw_column call_extremes[] = {
	COLUMN(dw_call_extremes, id, DELTA, NONE),
	ID(dw_call_extremes, thread, DELTA, THREAD),
	COLUMN(dw_call_extremes, entry, DELTA, FRAME),
	OWN_MEMBER(dw_call_extremes, values.elapsed_inclusive, put_extremes, take_extremes),
	OWN_MEMBER(dw_call_extremes, values.elapsed_exclusive, put_extremes, take_extremes),
	OWN_MEMBER(dw_call_extremes, values.application_inclusive, put_extremes, take_extremes),
	OWN_MEMBER(dw_call_extremes, values.application_exclusive, put_extremes, take_extremes),
};

static const struct dw_column call_slow[] = {
	COLUMN(dw_call_slow, id, DELTA, NONE),
	ID(dw_call_slow, node, DELTA, NODE),
	COLUMN(dw_call_slow, start_ns, DELTA, NONE),
	OWN_MEMBER(dw_call_slow, inclusive, dw_put_call_values, dw_take_call_values),
	OWN_MEMBER(dw_call_slow, exclusive, dw_put_call_values, dw_take_call_values),
	COLUMN(dw_call_slow, io_ns, PLAIN, NONE),
	COLUMN(dw_call_slow, blocking_ns, PLAIN, NONE),
	COLUMN(dw_call_slow, switched_ns, PLAIN, NONE),
};

static const struct dw_column call_disabled[] = {
	ID(dw_call_disabled, process, DELTA, PROCESS),
	COLUMN(dw_call_disabled, entry, DELTA, FRAME),
	COLUMN(dw_call_disabled, at_ns, DELTA, NONE),
	COLUMN_WITH(dw_call_disabled, flags, PLAIN, NUMBER,
		    .most = DWELL_DISABLED_IN_PART | DWELL_DISABLED_FROM_START),
};

static const struct dw_column call_files[] = {
	COLUMN(dw_call_file, id, DELTA, NONE),
	ID(dw_call_file, thread, DELTA, THREAD),
	COLUMN(dw_call_file, entry, DELTA, FRAME),
	COLUMN(dw_call_file, file, DELTA, STRING),
	COLUMN(dw_call_file, sums.reads, PLAIN, NONE),
	COLUMN(dw_call_file, sums.writes, PLAIN, NONE),
	COLUMN(dw_call_file, sums.bytes_read, PLAIN, NONE),
	COLUMN(dw_call_file, sums.bytes_written, PLAIN, NONE),
	COLUMN(dw_call_file, sums.time_ns, PLAIN, NONE),
};

static const struct dw_column execs[] = {
	ID(dw_exec, process, DELTA, PROCESS),
	COLUMN(dw_exec, command, DELTA, STRING),
	COLUMN(dw_exec, command_line, DELTA, STRING),
};

static const struct dw_column alloc_types[] = {
	COLUMN(dw_alloc_type, name, DELTA, STRING),
	COLUMN(dw_alloc_type, module, DELTA, MODULE),
	ID(dw_alloc_type, process, PLAIN, PROCESS),
};

static const struct dw_column alloc_groups[] = {
	ID(dw_alloc_group, thread, PLAIN, THREAD),
	COLUMN(dw_alloc_group, stack, DELTA, STACK),
	ID(dw_alloc_group, type, PLAIN, TYPE),
};

static const struct dw_column alloc_methods[] = {
	ID(dw_alloc_method, module, DELTA, MODULE),
	COLUMN_WITH(dw_alloc_method, token, DELTA, NUMBER, .most = TOKEN_MAX),
	COLUMN(dw_alloc_method, name, DELTA, STRING),
};

static const struct dw_column alloc_deltas[] = {
	COLUMN(dw_alloc_delta, slice, DELTA, NONE),
	ID(dw_alloc_delta, group, DELTA, GROUP),
	OWN_MEMBER(dw_alloc_delta, values, dw_put_alloc_values, dw_take_alloc_values),
};

static void put_gc_flags(struct dw_buf *b, const void *at, size_t stride, size_t n)
{
	EACH(const struct dw_gc, gc,
	     dw_buf_put_uleb(b, (gc->is_blocking ? BLOCKING : 0) |
					(gc->is_compacting ? COMPACTING : 0)));
}

static void take_gc_flags(struct dw_cursor *c, void *at, size_t stride, size_t n,
			  const uint64_t limits[DWELL_LIMITS])
{
	(void)limits;
	EACH(struct dw_gc, gc, {
		uint32_t flags = dw_take_max(c, BLOCKING | COMPACTING);

		gc->is_blocking = !!(flags & BLOCKING);
		gc->is_compacting = !!(flags & COMPACTING);
	});
}

static void put_added(struct dw_buf *b, const void *at, size_t stride, size_t n)
{
	EACH(const uint64_t, added_ns, dw_buf_put_uleb(b, *added_ns));
}

/* Older sessions do not tell. */
static void take_added(struct dw_cursor *c, void *at, size_t stride, size_t n,
		       const uint64_t limits[DWELL_LIMITS])
{
	bool tells = dw_cursor_left(c);

	(void)limits;
	EACH(uint64_t, added_ns, *added_ns = tells ? dw_take(c) : 0);
}

static const struct dw_column gcs[] = {
	ID(dw_gc, process, PLAIN, PROCESS),
	COLUMN_WITH(dw_gc, number, DELTA, NUMBER, .most = UINT32_MAX),
	COLUMN_WITH(dw_gc, generation, PLAIN, NUMBER, .most = GENERATION_MAX),
	COLUMN(dw_gc, reason, PLAIN, STRING),
	OWN(0, put_gc_flags, take_gc_flags),
	COLUMN(dw_gc, thread, PLAIN, THREAD),
	COLUMN(dw_gc, stack, PLAIN, STACK),
	COLUMN(dw_gc, start_ns, DELTA, NONE),
	COLUMN(dw_gc, pause_ns, PLAIN, NONE),
	COLUMN(dw_gc, heap_before, PLAIN, NONE),
	COLUMN(dw_gc, heap_after, PLAIN, NONE),
	COLUMN(dw_gc, promoted, PLAIN, NONE),
	OWN_MEMBER(dw_gc, added_ns, put_added, take_added),
};

#define COLUMNS(v, type)                                        \
	{                                                       \
		v, sizeof(v) / sizeof *(v), sizeof(struct type) \
	}

struct dw_columns dw_layout_of(enum dw_chunk_kind kind)
{
	static const struct dw_columns kinds[DWELL_CHUNK_KINDS] = {
		[DWELL_CHUNK_MODULES] = COLUMNS(modules, dw_module),
		[DWELL_CHUNK_PROCESSES] = COLUMNS(processes, dw_process),
		[DWELL_CHUNK_THREADS] = COLUMNS(threads, dw_thread),
		[DWELL_CHUNK_FRAMES] = COLUMNS(frames, dw_frame),
		[DWELL_CHUNK_STACKS] = COLUMNS(stacks, dw_stack),
		[DWELL_CHUNK_FUNCTIONS] = COLUMNS(functions, dw_function),
		[DWELL_CHUNK_LOCATIONS] = COLUMNS(locations, dw_location),
		[DWELL_CHUNK_CODES] = COLUMNS(codes, dw_code),
		[DWELL_CHUNK_SOURCES] = COLUMNS(sources, dw_source),
		[DWELL_CHUNK_EXTRAS] = COLUMNS(extras, dw_extra),
		[DWELL_CHUNK_EXECS] = COLUMNS(execs, dw_exec),
		[DWELL_CHUNK_CALL_NODES] = COLUMNS(call_nodes, dw_call_node),
		[DWELL_CHUNK_CALL_SLICES] = COLUMNS(call_slices, dw_call_slice),
		[DWELL_CHUNK_CALL_DELTAS] = COLUMNS(call_deltas, dw_call_delta),
		[DWELL_CHUNK_CALL_EXTREMES] = COLUMNS(call_extremes, dw_call_extremes),
		[DWELL_CHUNK_CALL_SLOW] = COLUMNS(call_slow, dw_call_slow),
		[DWELL_CHUNK_CALL_DISABLED] = COLUMNS(call_disabled, dw_call_disabled),
		[DWELL_CHUNK_CALL_FILES] = COLUMNS(call_files, dw_call_file),
		[DWELL_CHUNK_ALLOC_TYPES] = COLUMNS(alloc_types, dw_alloc_type),
		[DWELL_CHUNK_ALLOC_GROUPS] = COLUMNS(alloc_groups, dw_alloc_group),
		[DWELL_CHUNK_ALLOC_METHODS] = COLUMNS(alloc_methods, dw_alloc_method),
		[DWELL_CHUNK_ALLOC_DELTAS] = COLUMNS(alloc_deltas, dw_alloc_delta),
		[DWELL_CHUNK_GCS] = COLUMNS(gcs, dw_gc),
	};

	return kinds[kind];
}

void dw_layout_limits(const struct dw_profile *p, uint64_t ret[DWELL_LIMITS])
{
	ret[DWELL_LIMIT_NONE] = ret[DWELL_LIMIT_NUMBER] = UINT64_MAX;
	ret[DWELL_LIMIT_STRING] = p->strings.n ? p->strings.n - 1 : 0;
	ret[DWELL_LIMIT_MODULE] = dw_modules_count(&p->modules);
	ret[DWELL_LIMIT_PROCESS] = dw_processes_count(&p->processes);
	ret[DWELL_LIMIT_THREAD] = dw_threads_count(&p->threads);
	ret[DWELL_LIMIT_FRAME] = dw_frames_count(&p->frames);
	ret[DWELL_LIMIT_STACK] = dw_stacks_count(&p->stacks);
	ret[DWELL_LIMIT_FUNCTION] = dw_functions_count(&p->functions);
	ret[DWELL_LIMIT_NODE] = p->calls.nodes.n;
	ret[DWELL_LIMIT_TYPE] = p->allocations.types.n;
	ret[DWELL_LIMIT_GROUP] = p->allocations.groups.n;
}
