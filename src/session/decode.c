/*
 * Columns to tables; see decode.h.
 *
 * Every item takes at least one byte of its chunk, so a table never grows by more rows than the
 * chunk has bytes. The columns of most are in columns.c, what calls and objects gained in values.c.
 */
#include "session/decode.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "session/columns.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum {
	OVERFLOW_FLAGS = DWELL_CALL_INCLUSIVE | DWELL_CALL_OUTERMOST_FUNCTION |
			 DWELL_CALL_OUTERMOST_MODULE | DWELL_CALL_OUTERMOST_EDGE |
			 DWELL_CALL_OUTERMOST_SITE,
	COUNTED_FLAGS = DWELL_CALL_OVERFLOW | DWELL_CALL_COUNTED,
	NO_CALLEE_FLAGS = DWELL_CALL_ROOT | DWELL_CALL_TRUNCATED,
};

static bool flags_fit(uint32_t flags)
{
	if (flags & DWELL_CALL_COUNTED)
		return (flags & ~(uint32_t)DWELL_CALL_EXTERNAL) == COUNTED_FLAGS;
	if ((flags & OVERFLOW_FLAGS) && !(flags & DWELL_CALL_OVERFLOW))
		return false;
	if (flags & DWELL_CALL_ESTIMATED)
		return !(flags & (NO_CALLEE_FLAGS | DWELL_CALL_OVERFLOW));
	if (flags & DWELL_CALL_LINE)
		return !(flags & ~(uint32_t)(DWELL_CALL_LINE | DWELL_CALL_OVERFLOW));
	return !(flags & NO_CALLEE_FLAGS) || flags == DWELL_CALL_ROOT ||
	       flags == DWELL_CALL_TRUNCATED;
}

static bool parent_fits(const struct dw_call_node *node, const struct dw_call_node *parent)
{
	if (!parent)
		return node->flags == DWELL_CALL_ROOT && !node->site;
	if (node->flags & DWELL_CALL_ROOT || parent->thread != node->thread)
		return false;
	if (node->flags & DWELL_CALL_OVERFLOW)
		return parent->flags & DWELL_CALL_ROOT;
	if ((node->flags ^ parent->flags) & DWELL_CALL_ESTIMATED &&
	    !(node->flags & DWELL_CALL_ESTIMATED ? parent->flags & DWELL_CALL_ROOT
						 : node->flags & DWELL_CALL_TRUNCATED))
		return false;
	if (node->flags & DWELL_CALL_LINE) /* statements stand in functions */
		return !node->site &&
		       !(parent->flags & ~(uint32_t)(DWELL_CALL_EXTERNAL | DWELL_CALL_ESTIMATED));
	return !(parent->flags & (DWELL_CALL_OVERFLOW | DWELL_CALL_TRUNCATED));
}

static bool node_fits(const struct dw_call_node *node, const struct dw_calls *t)
{
	return node->thread && flags_fit(node->flags) &&
	       (!(node->flags & NO_CALLEE_FLAGS) || !node->entry) &&
	       parent_fits(node, dw_calls_get(t, node->parent));
}

/* The largest id in use, of tables whose row 0 is unused. */
static uint64_t last_id(size_t rows)
{
	return rows ? rows - 1 : 0;
}

/* Begin a table with its unused row 0 and make room. 0 or -ENOMEM. */
#define OPEN_TABLE(table, items)                                   \
	({                                                         \
		__auto_type t_ = (table);                          \
		int rc_ = dw_vec_reserve(t_, (size_t)(items) + 1); \
		if (!rc_ && !t_->n)                                \
			memset(&t_->v[t_->n++], 0, sizeof *t_->v); \
		rc_;                                               \
	})

static int take_strings(struct dw_cursor *c, size_t n, struct dw_profile *p)
{
	struct dw_cursor text = *c;
	size_t bytes = 0;
	int rc = 0;

	for (size_t i = 0; i < n && !text.failed; i++)
		bytes = dw_at_most(&text, bytes + dw_take(&text), DWELL_CHUNK_RAW_BYTES_MAX);
	for (size_t i = 0; i < n && !text.failed && !rc; i++) {
		uint32_t want = p->strings.n ? p->strings.n : 1, id;
		size_t len = dw_take(c);
		const uint8_t *s = dw_cursor_bytes(&text, len);

		if (!s || memchr(s, 0, len)) {
			text.failed = true;
			break;
		}
		rc = dw_strings_add(&p->strings, (const char *)s, len, &id);
		text.failed |= !rc && id != want;
	}
	c->failed |= text.failed;
	c->pos = text.pos;
	return rc;
}

/* @n rows of @table, of processes or threads, each with its id: new ones, and changed ones. */
#define TAKE_TASKS(c, table, n, kind, p)                                               \
	({                                                                             \
		__auto_type tasks_ = (table);                                          \
		struct dw_columns columns_ = dw_layout_of(kind);                       \
		uint64_t limits_[DWELL_LIMITS];                                        \
		int failure_ = OPEN_TABLE(tasks_, n);                                  \
		dw_layout_limits(p, limits_);                                          \
		for (size_t i_ = 0; i_ < (n) && !failure_ && !(c)->failed; i_++) {     \
			size_t id_ = dw_take_max(c, tasks_->n);                        \
			(c)->failed |= !id_;                                           \
			memset(&tasks_->v[id_], 0, sizeof *tasks_->v);                 \
			dw_columns_take(c, &columns_, &tasks_->v[id_], 1, 0, limits_); \
			tasks_->n += id_ == tasks_->n;                                 \
		}                                                                      \
		failure_;                                                              \
	})

static int take_processes(struct dw_cursor *c, size_t n, struct dw_profile *p)
{
	return TAKE_TASKS(c, &p->processes.rows, n, DWELL_CHUNK_PROCESSES, p);
}

static int take_threads(struct dw_cursor *c, size_t n, struct dw_profile *p)
{
	return TAKE_TASKS(c, &p->threads.rows, n, DWELL_CHUNK_THREADS, p);
}

static int reserve_samples(struct dw_samples *s, size_t n)
{
	size_t cap_time = s->cap, cap_thread = s->cap, need = s->n + n;

	if (need <= s->cap)
		return 0;
	if (dw_vec_grow((void **)&s->time_ns, &cap_time, need, sizeof *s->time_ns) ||
	    dw_vec_grow((void **)&s->thread, &cap_thread, need, sizeof *s->thread))
		return -ENOMEM;
	return dw_vec_grow((void **)&s->stack, &s->cap, need, sizeof *s->stack);
}

static int take_samples(struct dw_cursor *c, size_t n, struct dw_profile *p)
{
	uint64_t threads = last_id(p->threads.rows.n), stacks = last_id(p->stacks.rows.n), time = 0;
	struct dw_samples *s = &p->samples;

	if (reserve_samples(s, n))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		s->time_ns[s->n + i] = dw_take_delta(c, &time);
	for (size_t i = 0; i < n; i++) {
		s->thread[s->n + i] = dw_take_max(c, threads);
		c->failed |= !s->thread[s->n + i];
	}
	for (size_t i = 0; i < n; i++)
		s->stack[s->n + i] = dw_take_max(c, stacks);
	s->n += n;
	return 0;
}

/* The lengths of @n chains; *@rows becomes the number of locations in them. */
static int take_chains(struct dw_cursor *c, size_t n, struct dw_locations *t, size_t *rows)
{
	uint64_t end = t->rows.n;

	if (dw_vec_reserve(&t->first, n + 1))
		return -ENOMEM;
	if (!t->first.n)
		t->first.v[t->first.n++] = 0;
	for (size_t i = 0; i < n; i++) {
		end = dw_at_most(c, end + dw_take(c), UINT32_MAX);
		t->first.v[t->first.n++] = (uint32_t)end;
	}
	*rows = c->failed ? 0 : dw_at_most(c, end - t->rows.n, dw_cursor_left(c));
	return 0;
}

static int take_locations(struct dw_cursor *c, size_t n, struct dw_profile *p)
{
	struct dw_columns columns = dw_layout_of(DWELL_CHUNK_LOCATIONS);
	uint64_t limits[DWELL_LIMITS];
	size_t m;

	if (take_chains(c, n, &p->locations, &m) || dw_vec_reserve(&p->locations.rows, m + 1))
		return -ENOMEM;
	dw_layout_limits(p, limits);
	dw_columns_take(c, &columns, p->locations.rows.v + p->locations.rows.n, m, 0, limits);
	p->locations.rows.n += m;
	return 0;
}

/* A copy of the next @*n bytes, at least one long; none of them are there: *@n becomes 0. NULL
 * without memory. */
static uint8_t *take_copy(struct dw_cursor *c, uint32_t *n)
{
	const uint8_t *bytes = dw_cursor_bytes(c, *n);
	uint8_t *copy = malloc(*n ? *n : 1);

	if (copy && bytes)
		memcpy(copy, bytes, *n);
	else
		*n = 0;
	return copy;
}

static int take_codes(struct dw_cursor *c, size_t n, struct dw_profile *p)
{
	__auto_type t = &p->codes.rows;

	for (size_t i = 0; i < n && !c->failed; i++) {
		struct dw_code *row = &t->v[t->n];

		row->listed = NULL;
		row->listed_n = 0;
		row->texts = NULL;
		row->bytes = take_copy(c, &row->bytes_n);
		if (!row->bytes)
			return -ENOMEM;
		t->n++;
	}
	return 0;
}

static int take_sources(struct dw_cursor *c, size_t n, struct dw_profile *p)
{
	__auto_type t = &p->sources.rows;

	for (size_t i = 0; i < n && !c->failed; i++) {
		struct dw_source *row = &t->v[t->n];

		row->text = (void *)take_copy(c, &row->bytes_n);
		if (!row->text)
			return -ENOMEM;
		t->n++;
	}
	return 0;
}

/* The next @n nodes are read: those that fit their parents are there. */
static void add_nodes(struct dw_cursor *c, size_t n, struct dw_calls *t)
{
	for (size_t i = 0; i < n && !c->failed; i++) {
		c->failed = !node_fits(&t->nodes.v[t->nodes.n], t);
		t->nodes.n++;
	}
}

/* The next @n slices are read: they do not end before the ones before them. */
static void add_slices(struct dw_cursor *c, size_t n, struct dw_calls *t)
{
	__auto_type slices = &t->slices;

	for (size_t i = 0; i < n; i++, slices->n++)
		c->failed |=
			slices->n && slices->v[slices->n].end_ns < slices->v[slices->n - 1].end_ns;
}

/* Put the @n rows behind the end of @table where their ids say, which is never behind themselves:
 * into the place of earlier ones, or at the end. */
#define PLACE_ROWS(c, table, n)                                       \
	do {                                                          \
		__auto_type t_ = (table);                             \
		size_t first_ = t_->n;                                \
		for (size_t i_ = 0; i_ < (n) && !(c)->failed; i_++) { \
			__auto_type row_ = t_->v[first_ + i_];        \
			if (!row_.id || row_.id > t_->n + 1) {        \
				(c)->failed = true;                   \
				break;                                \
			}                                             \
			t_->v[row_.id - 1] = row_;                    \
			t_->n += row_.id > t_->n;                     \
		}                                                     \
	} while (0)

/* The next @n rows of @table are read: their slices, of which there are @slices, rise. */
#define ADD_DELTAS(c, table, n, slices)                                                           \
	do {                                                                                      \
		__auto_type t_ = (table);                                                         \
		for (size_t i_ = 0; i_ < (n); i_++, t_->n++) {                                    \
			uint32_t slice_ = t_->v[t_->n].slice;                                     \
			(c)->failed |=                                                            \
				slice_ >= (slices) || (t_->n && slice_ < t_->v[t_->n - 1].slice); \
		}                                                                                 \
	} while (0)

/* Where rows of a table go. */
struct table {
	void *rows;
	size_t *n;
	uint64_t first; /* the id of the next row */
};

/* Make room for @n more rows of @kind. 0 or -ENOMEM. */
static int open_table(struct dw_profile *p, enum dw_chunk_kind kind, size_t n, struct table *ret)
{
	switch (kind) {
#define TABLE(name, path, unused)                                                                \
	case DWELL_CHUNK_##name:                                                                 \
		if (unused ? OPEN_TABLE(&p->path, n) : dw_vec_reserve(&p->path, n + 1))          \
			return -ENOMEM;                                                          \
		*ret = (struct table){p->path.v + p->path.n, &p->path.n, p->path.n + !(unused)}; \
		return 0;
		DWELL_TABLES(TABLE)
#undef TABLE
	default:
		return -EINVAL;
	}
}

/* @n rows of a kind that is one of DWELL_TABLES. */
static int take_rows(struct dw_cursor *c, enum dw_chunk_kind kind, size_t n, struct dw_profile *p)
{
	struct dw_columns columns = dw_layout_of(kind);
	uint64_t limits[DWELL_LIMITS];
	struct table t;
	int rc = open_table(p, kind, n, &t);

	if (rc)
		return rc;
	dw_layout_limits(p, limits);
	if (!dw_layout_is_by_row(kind))
		dw_columns_take(c, &columns, t.rows, n, t.first, limits);
	switch (kind) {
	case DWELL_CHUNK_MODULES:
		for (struct dw_module *m = t.rows; n-- && !c->failed; m++, ++*t.n) {
			*m = (struct dw_module){0};
			dw_columns_take(c, &columns, m, 1, 0, limits);
		}
		return 0;
	case DWELL_CHUNK_CODES:
		return take_codes(c, n, p);
	case DWELL_CHUNK_SOURCES:
		return take_sources(c, n, p);
	case DWELL_CHUNK_CALL_NODES:
		add_nodes(c, n, &p->calls);
		return 0;
	case DWELL_CHUNK_CALL_SLICES:
		add_slices(c, n, &p->calls);
		return 0;
	case DWELL_CHUNK_CALL_DELTAS:
		ADD_DELTAS(c, &p->calls.deltas, n, p->calls.slices.n);
		return 0;
	case DWELL_CHUNK_ALLOC_DELTAS:
		ADD_DELTAS(c, &p->allocations.deltas, n, p->calls.slices.n);
		return 0;
	case DWELL_CHUNK_CALL_EXTREMES:
		PLACE_ROWS(c, &p->calls.extremes, n);
		return 0;
	case DWELL_CHUNK_CALL_SLOW:
		PLACE_ROWS(c, &p->calls.slow, n);
		return 0;
	case DWELL_CHUNK_CALL_FILES:
		PLACE_ROWS(c, &p->calls.files, n);
		return 0;
	default:
		*t.n += n;
		return 0;
	}
}

static void take_fact(struct dw_cursor *c, struct dw_facts *facts, int *rc)
{
	size_t key_n = dw_take(c), text_n;
	const char *key = (const char *)dw_cursor_bytes(c, key_n), *text;
	dw_auto_free char *key_copy = key ? strndup(key, key_n) : NULL;

	if (dw_take_max(c, 1)) {
		text_n = dw_take(c);
		text = (const char *)dw_cursor_bytes(c, text_n);
		dw_auto_free char *text_copy = text ? strndup(text, text_n) : NULL;

		if (!c->failed)
			*rc = key_copy && text_copy ? dw_facts_set_text(facts, key_copy, text_copy)
						    : -ENOMEM;
	} else {
		int64_t value = dw_cursor_zigzag(c);

		if (!c->failed)
			*rc = key_copy ? dw_facts_set(facts, key_copy, value) : -ENOMEM;
	}
}

enum { FACTS_MAX = 4096 }; /* their table is searched linearly */

static int take_facts(struct dw_cursor *c, size_t n, struct dw_profile *p)
{
	int rc = 0;

	c->failed |= n > FACTS_MAX;
	for (size_t i = 0; i < n && !c->failed && !rc; i++)
		take_fact(c, &p->facts, &rc);
	return rc;
}

/* How to read a kind, NULL = as rows of its table, and the bytes that one item takes at least. */
static const struct {
	int (*take)(struct dw_cursor *c, size_t n, struct dw_profile *p);
	size_t item_bytes;
} takers[DWELL_CHUNK_KINDS] = {
	[DWELL_CHUNK_FACTS] = {take_facts, 3},
	[DWELL_CHUNK_STRINGS] = {take_strings, 2},
	[DWELL_CHUNK_MODULES] = {NULL, 7},
	[DWELL_CHUNK_PROCESSES] = {take_processes, 8},
	[DWELL_CHUNK_THREADS] = {take_threads, 7},
	[DWELL_CHUNK_FRAMES] = {NULL, 3},
	[DWELL_CHUNK_STACKS] = {NULL, 2},
	[DWELL_CHUNK_SAMPLES] = {take_samples, 3},
	[DWELL_CHUNK_FUNCTIONS] = {NULL, 8},
	[DWELL_CHUNK_LOCATIONS] = {take_locations, 1},
	[DWELL_CHUNK_CODES] = {NULL, 3},
	[DWELL_CHUNK_CALL_NODES] = {NULL, 5},
	[DWELL_CHUNK_CALL_SLICES] = {NULL, 1},
	[DWELL_CHUNK_CALL_DELTAS] = {NULL, 3},
	[DWELL_CHUNK_CALL_EXTREMES] = {NULL, 11},
	[DWELL_CHUNK_CALL_SLOW] = {NULL, 6},
	[DWELL_CHUNK_ALLOC_TYPES] = {NULL, 3},
	[DWELL_CHUNK_ALLOC_GROUPS] = {NULL, 3},
	[DWELL_CHUNK_ALLOC_METHODS] = {NULL, 3},
	[DWELL_CHUNK_ALLOC_DELTAS] = {NULL, 3},
	[DWELL_CHUNK_GCS] = {NULL, 12},
	[DWELL_CHUNK_CALL_DISABLED] = {NULL, 4},
	[DWELL_CHUNK_SOURCES] = {NULL, 2},
	[DWELL_CHUNK_EXTRAS] = {NULL, 5},
	[DWELL_CHUNK_EXECS] = {NULL, 3},
	[DWELL_CHUNK_CALL_FILES] = {NULL, 9},
};

/* The verdict over a chunk that was read to its end. */
static int check_end(const struct dw_cursor *c, enum dw_chunk_kind kind, struct dw_error *err)
{
	if (!c->failed && !dw_cursor_left(c))
		return 0;
	return dw_error_set(err, DWELL_ERR_FORMAT, "damaged: a chunk of %s makes no sense",
			    dw_chunk_kind_name(kind));
}

int dw_decode_chunk(const struct dw_raw_chunk *chunk, const struct dw_call_sums *sums,
		    struct dw_profile *p, struct dw_error *err)
{
	struct dw_cursor c;
	int rc = 0;

	dw_cursor_init(&c, dw_buf_str(&chunk->raw), chunk->raw.len);
	if (!takers[chunk->kind].item_bytes ||
	    chunk->items > chunk->raw.len / takers[chunk->kind].item_bytes)
		c.failed = true;
	else if (sums && chunk->kind == DWELL_CHUNK_CALL_DELTAS)
		rc = dw_take_call_sums(&c, (size_t)chunk->items, sums, p);
	else if (sums && chunk->kind == DWELL_CHUNK_ALLOC_DELTAS)
		rc = dw_take_alloc_sums(&c, (size_t)chunk->items, sums, p);
	else if (takers[chunk->kind].take)
		rc = takers[chunk->kind].take(&c, (size_t)chunk->items, p);
	else
		rc = take_rows(&c, chunk->kind, (size_t)chunk->items, p);
	if (rc)
		return dw_error_set(err, rc, "no memory for a session's %s",
				    dw_chunk_kind_name(chunk->kind));
	return check_end(&c, chunk->kind, err);
}

int dw_decode_index(const struct dw_raw_chunk *chunk, struct dw_session_index *ret,
		    struct dw_error *err)
{
	struct dw_cursor c;
	size_t kinds = DWELL_CHUNK_STRINGS + (size_t)(chunk->items & 0xff);

	memset(ret, 0, sizeof *ret);
	dw_cursor_init(&c, dw_buf_str(&chunk->raw), chunk->raw.len);
	ret->finished = dw_take_max(&c, 1);
	ret->last_id = (int64_t)dw_take(&c);
	for (size_t kind = DWELL_CHUNK_STRINGS; kind < kinds; kind++) {
		uint64_t chunks = dw_take(&c), items = dw_take(&c);

		if (kind < DWELL_CHUNK_KINDS) {
			ret->kinds[kind].chunks = chunks;
			ret->kinds[kind].items = items;
		}
	}
	return check_end(&c, DWELL_CHUNK_INDEX, err);
}

int dw_decode_expect(const struct dw_session_index *index, uint64_t items_max, struct dw_profile *p)
{
	uint64_t items[DWELL_CHUNK_KINDS];

	for (size_t kind = 0; kind < DWELL_CHUNK_KINDS; kind++)
		items[kind] = index->kinds[kind].items < items_max ? index->kinds[kind].items : 0;
	return dw_vec_reserve(&p->stacks.rows, items[DWELL_CHUNK_STACKS] + 2) ||
			       reserve_samples(&p->samples, items[DWELL_CHUNK_SAMPLES]) ||
			       dw_vec_reserve(&p->calls.nodes, items[DWELL_CHUNK_CALL_NODES] + 1) ||
			       dw_vec_reserve(&p->allocations.groups,
					      items[DWELL_CHUNK_ALLOC_GROUPS] + 1)
		       ? -ENOMEM
		       : 0;
}

int dw_decode_finish(struct dw_profile *p, struct dw_error *err)
{
	uint64_t processes = last_id(p->processes.rows.n), functions = last_id(p->functions.rows.n);
	size_t chains = p->locations.first.n, frames = dw_frames_count(&p->frames);

	for (size_t i = 1; i <= processes; i++)
		if (p->processes.rows.v[i].parent > processes)
			return dw_error_set(err, DWELL_ERR_FORMAT,
					    "damaged: process %zu has no parent %" PRIu32, i,
					    p->processes.rows.v[i].parent);
	for (size_t i = 1; i < p->threads.rows.n; i++)
		if (p->threads.rows.v[i].start > functions)
			return dw_error_set(err, DWELL_ERR_FORMAT,
					    "damaged: thread %zu has no start function %" PRIu32, i,
					    p->threads.rows.v[i].start);
	if (chains && chains != frames + 2)
		return dw_error_set(err, DWELL_ERR_FORMAT,
				    "damaged: locations of %zu frames, not of %zu", chains - 2,
				    frames);
	dw_vec_each(exec, &p->execs.rows) {
		struct dw_process *row = &p->processes.rows.v[exec->process];

		row->command = exec->command;
		row->command_line = exec->command_line;
	}
	return 0;
}
