/*
 * Values of calls and of objects; see values.h. Most rows of calls have calls, time and probe cost,
 * and nothing of the operating system: a column holds only what is not as expected. Most of objects
 * say what was allocated and what died young.
 */
#include "session/values.h"

#include "session/columns.h"

#include <assert.h>
#include <errno.h>

/* The columns of calls, in the order of docs/session-format.md. */
enum stored {
	STORED_CALLS,
	STORED_ELAPSED,
	STORED_APPLICATION, /* elapsed minus it, zigzag-coded */
	STORED_DELIMITED,   /* application minus it, likewise */
	STORED_OVERHEAD,
	STORED_BLOCKED,
	STORED_OS_CPU,
	STORED_SWITCHES,
	STORED_IO_CALLS,
	STORED_BLOCKING_CALLS,
	STORED_COLUMNS
};

enum { VALUES_MAX = 12 }; /* columns beside the masks */

/* Those of objects are pairs with their bytes: allocated, then collected by generation. */
enum { STORED_PAIRS = 1 + DWELL_GENERATIONS };

static_assert((int)STORED_COLUMNS <= VALUES_MAX && 2 * STORED_PAIRS <= VALUES_MAX, "room");

/* Values while they are written. */
struct out {
	struct dw_buf masks, columns[VALUES_MAX];
};

/* Append @column, with its length before it, to @b, and free it. */
static void put_column(struct dw_buf *b, struct dw_buf *column)
{
	dw_buf_put_uleb(b, column->len);
	dw_buf_put(b, dw_buf_str(column), column->len);
	b->failed |= column->failed;
	dw_buf_release(column);
}

/* Append the masks and the first @n columns of @v to @b, and free them. */
static void put_columns(struct dw_buf *b, struct out *v, unsigned n)
{
	put_column(b, &v->masks);
	for (unsigned i = 0; i < n; i++)
		put_column(b, &v->columns[i]);
}

/* The columns of one row; 0 is left out. */
static void columns_of(const struct dw_call_values *v, uint64_t ret[STORED_COLUMNS])
{
	ret[STORED_CALLS] = v->calls;
	ret[STORED_ELAPSED] = v->elapsed_ns;
	ret[STORED_APPLICATION] = dw_zigzag(v->elapsed_ns - v->application_ns);
	ret[STORED_DELIMITED] = dw_zigzag(v->application_ns - v->delimited_ns);
	ret[STORED_OVERHEAD] = v->overhead_ns;
	ret[STORED_BLOCKED] = v->blocked_ns;
	ret[STORED_OS_CPU] = v->os_cpu_ns;
	ret[STORED_SWITCHES] = v->switches;
	ret[STORED_IO_CALLS] = v->io_calls;
	ret[STORED_BLOCKING_CALLS] = v->blocking_calls;
}

void dw_put_call_values(struct dw_buf *b, const void *at, size_t stride, size_t n)
{
	struct out v = {0};

	for (size_t i = 0; i < n; i++) {
		uint64_t row[STORED_COLUMNS];
		unsigned mask = 0;

		columns_of((const void *)((const char *)at + i * stride), row);
		for (int c = 0; c < STORED_COLUMNS; c++) {
			if (!row[c])
				continue;
			mask |= 1u << c;
			dw_buf_put_uleb(&v.columns[c], row[c]);
		}
		dw_buf_put_uleb(&v.masks, mask);
	}
	put_columns(b, &v, STORED_COLUMNS);
}

void dw_put_alloc_values(struct dw_buf *b, const void *at, size_t stride, size_t n)
{
	struct out v = {0};

	for (size_t i = 0; i < n; i++) {
		const struct dw_alloc_values *row = (const void *)((const char *)at + i * stride);
		unsigned mask = 0;

		for (int k = 0; k < STORED_PAIRS; k++) {
			const struct dw_alloc_count *pair =
				k ? &row->collected[k - 1] : &row->allocated;

			if (!pair->objects && !pair->bytes)
				continue;
			mask |= 1u << k;
			dw_buf_put_uleb(&v.columns[2 * k], pair->objects);
			dw_buf_put_uleb(&v.columns[2 * k + 1], pair->bytes);
		}
		dw_buf_put_uleb(&v.masks, mask);
	}
	put_columns(b, &v, 2 * STORED_PAIRS);
}

/* Values while they are read one by one. */
struct values_in {
	struct dw_cursor masks, columns[VALUES_MAX];
	unsigned n;
};

/* A cursor over the next column, which tells its length. */
static struct dw_cursor next_column(struct dw_cursor *c)
{
	size_t n = dw_cursor_uleb(c);
	const uint8_t *bytes = dw_cursor_bytes(c, n);
	struct dw_cursor column;

	dw_cursor_init(&column, bytes, bytes ? n : 0);
	return column;
}

/* Find @n columns at @c, which goes on behind them. */
static void open_values(struct dw_cursor *c, unsigned n, struct values_in *ret)
{
	ret->n = n;
	ret->masks = next_column(c);
	for (unsigned i = 0; i < n; i++)
		ret->columns[i] = next_column(c);
}

/* Note in @c whether any column was malformed or is not at its end. */
static void close_values(struct dw_cursor *c, const struct values_in *v)
{
	c->failed |= v->masks.failed || dw_cursor_left(&v->masks);
	for (unsigned i = 0; i < v->n; i++)
		c->failed |= v->columns[i].failed || dw_cursor_left(&v->columns[i]);
}

/* The number of a row with @mask in column @at. */
static inline uint64_t take_column(struct values_in *v, uint32_t mask, enum stored at)
{
	return mask >> at & 1 ? dw_take(&v->columns[at]) : 0;
}

static void next_call_values(struct values_in *v, struct dw_call_values *ret)
{
	uint32_t mask = dw_take_max(&v->masks, (1u << STORED_COLUMNS) - 1);
	uint64_t elapsed, application;

	*ret = (struct dw_call_values){.calls = take_column(v, mask, STORED_CALLS)};
	elapsed = take_column(v, mask, STORED_ELAPSED);
	application = elapsed - dw_unzigzag(take_column(v, mask, STORED_APPLICATION));
	ret->elapsed_ns = elapsed;
	ret->application_ns = application;
	ret->delimited_ns = application - dw_unzigzag(take_column(v, mask, STORED_DELIMITED));
	ret->overhead_ns = take_column(v, mask, STORED_OVERHEAD);
	if (!(mask >> STORED_BLOCKED))
		return;
	ret->blocked_ns = take_column(v, mask, STORED_BLOCKED);
	ret->os_cpu_ns = take_column(v, mask, STORED_OS_CPU);
	ret->switches = take_column(v, mask, STORED_SWITCHES);
	ret->io_calls = take_column(v, mask, STORED_IO_CALLS);
	ret->blocking_calls = take_column(v, mask, STORED_BLOCKING_CALLS);
}

/* Whether a row says for how much of its time no processor was free. */
static inline bool tells_ready(const struct dw_call_values *v)
{
	return v->blocked_ns | v->os_cpu_ns | v->switches | v->io_calls | v->blocking_calls;
}

void dw_put_ready(struct dw_buf *b, const void *at, size_t stride, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct dw_call_values *v = (const void *)((const char *)at + i * stride);

		if (tells_ready(v))
			dw_buf_put_uleb(b, v->ready_ns);
	}
}

void dw_take_ready(struct dw_cursor *c, void *at, size_t stride, size_t n,
		   const uint64_t limits[DWELL_LIMITS])
{
	bool tells = dw_cursor_left(c);

	(void)limits;
	for (size_t i = 0; i < n; i++) {
		struct dw_call_values *v = (void *)((char *)at + i * stride);

		v->ready_ns = tells && tells_ready(v) ? dw_take(c) : 0;
	}
}

static void next_alloc_values(struct values_in *v, struct dw_alloc_values *ret)
{
	uint32_t mask = dw_take_max(&v->masks, (1u << STORED_PAIRS) - 1);

	*ret = (struct dw_alloc_values){0};
	for (; mask; mask &= mask - 1) {
		int at = __builtin_ctz(mask);
		struct dw_alloc_count *pair = at ? &ret->collected[at - 1] : &ret->allocated;

		pair->objects = dw_take(&v->columns[2 * at]);
		pair->bytes = dw_take(&v->columns[2 * at + 1]);
	}
}

void dw_take_call_values(struct dw_cursor *c, void *at, size_t stride, size_t n,
			 const uint64_t limits[DWELL_LIMITS])
{
	struct values_in v;

	(void)limits;
	open_values(c, STORED_COLUMNS, &v);
	for (size_t i = 0; i < n; i++)
		next_call_values(&v, (void *)((char *)at + i * stride));
	close_values(c, &v);
}

void dw_take_alloc_values(struct dw_cursor *c, void *at, size_t stride, size_t n,
			  const uint64_t limits[DWELL_LIMITS])
{
	struct values_in v;

	(void)limits;
	open_values(c, 2 * STORED_PAIRS, &v);
	for (size_t i = 0; i < n; i++)
		next_alloc_values(&v, (void *)((char *)at + i * stride));
	close_values(c, &v);
}

/* Keys while they are read. */
struct keys {
	struct dw_cursor slice_column, id_column;
	uint64_t slices, ids; /* that exist */
	uint64_t slice, id;   /* of the row that was read last */
	uint64_t before;      /* the slice of the row before */
};

/* Find the keys of @n rows at @c, which goes on behind them. There are @slices slices (from 0) and
 * @ids ids (from 1). They do not tell their length: reading over the first finds the second. */
static struct keys keys_open(struct dw_cursor *c, size_t n, uint64_t slices, uint64_t ids)
{
	struct keys k = {.slice_column = *c, .slices = slices, .ids = ids};

	for (size_t i = 0; i < n; i++)
		dw_take(c);
	k.id_column = *c;
	for (size_t i = 0; i < n; i++)
		dw_take(c);
	return k;
}

/* Read the next keys. Whether both exist and the slice is not one before the last. */
static inline bool keys_next(struct keys *k)
{
	dw_take_delta(&k->slice_column, &k->slice);
	dw_take_delta(&k->id_column, &k->id);
	if (k->slice < k->before)
		return false;
	k->before = k->slice;
	return k->slice < k->slices && k->id && k->id <= k->ids && !k->slice_column.failed &&
	       !k->id_column.failed;
}

static inline bool is_wanted(const struct dw_call_sums *sums, uint32_t slice)
{
	return !sums->selected || (slice < sums->slices_n && sums->selected[slice]);
}

/* Add @amount to what happened in @slice, which exists. 0 or -ENOMEM. */
static int note_activity(struct dw_calls *t, uint64_t slice, uint64_t amount)
{
	while (t->activity.n <= slice) {
		struct dw_slice_activity a = {.end_ns = t->slices.v[t->activity.n].end_ns};

		if (dw_vec_push(&t->activity, a))
			return -ENOMEM;
	}
	t->activity.v[slice].amount += amount;
	return 0;
}

/* Nodes that stand for what others have, and threads outside their functions, are not active. */
static uint64_t activity_of(const struct dw_calls *t, uint64_t node, const struct dw_call_values *v)
{
	return t->nodes.v[node - 1].flags & (DWELL_CALL_OVERFLOW | DWELL_CALL_ROOT)
		       ? 0
		       : v->application_ns;
}

int dw_take_call_sums(struct dw_cursor *c, size_t n, const struct dw_call_sums *sums,
		      struct dw_profile *p)
{
	struct dw_call_store *t = &p->calls.sums;
	struct keys keys = keys_open(c, n, p->calls.slices.n, p->calls.nodes.n);
	struct dw_call_values values;
	struct values_in v;
	bool tells;
	int rc = dw_call_store_extend(t, p->calls.nodes.n);

	open_values(c, STORED_COLUMNS, &v);
	tells = dw_cursor_left(c);
	for (size_t i = 0; i < n && !c->failed && !rc; i++) {
		c->failed = !keys_next(&keys);
		next_call_values(&v, &values);
		values.ready_ns = tells && tells_ready(&values) ? dw_take(c) : 0;
		if (!c->failed && p->calls.wants_activity)
			rc = note_activity(&p->calls, keys.slice,
					   activity_of(&p->calls, keys.id, &values));
		if (!c->failed && !rc && is_wanted(sums, (uint32_t)keys.slice))
			rc = dw_call_store_add(t, keys.id - 1, &values);
	}
	close_values(c, &v);
	return rc;
}

int dw_note_activity_of_deltas(struct dw_profile *p)
{
	struct dw_calls *calls = &p->calls;
	int rc = 0;

	if (!calls->wants_activity)
		return 0;
	for (size_t i = 0; i < calls->deltas.n && !rc; i++) {
		const struct dw_call_delta *d = &calls->deltas.v[i];

		if (d->slice < calls->slices.n && d->node && d->node <= calls->nodes.n)
			rc = note_activity(calls, d->slice,
					   activity_of(calls, d->node, &d->values));
	}
	for (size_t i = 0; i < p->allocations.deltas.n && !rc; i++) {
		const struct dw_alloc_delta *d = &p->allocations.deltas.v[i];

		if (d->slice < calls->slices.n)
			rc = note_activity(calls, d->slice, d->values.allocated.bytes);
	}
	return rc;
}

/* Of each group room for what was alive before a range, 0 at first. */
static int extend_ranges(struct dw_allocations *t, const struct dw_call_sums *sums)
{
	size_t n = t->groups.n;

	if (!sums->selected)
		return 0;
	if (dw_vec_reserve(&t->ranges, n + 1) || dw_vec_reserve(&t->news, n + 1))
		return -ENOMEM;
	while (t->ranges.n < n) {
		t->ranges.v[t->ranges.n++] = (struct dw_alloc_range){0};
		t->news.v[t->news.n++] = (struct dw_alloc_count){0};
	}
	return 0;
}

/* Add what @v leaves alive to @range, which begins later. */
static void add_alive(struct dw_alloc_range *range, const struct dw_alloc_values *v)
{
	struct dw_alloc_count alive = dw_alloc_values_alive(v);

	dw_alloc_count_add(&range->before, &alive);
	range->least = range->most = range->before;
}

/* @born were allocated and @dead collected. Those that were alive before the range, of which @least
 * to @most still are, lose at most all that is dead, at least what the @news are too few for. */
static void bury(uint64_t born, uint64_t dead, uint64_t *news, uint64_t *least, uint64_t *most)
{
	uint64_t old;

	*news += born;
	old = dead > *news ? dead - *news : 0;
	*news -= dead - old;
	*least -= dead < *least ? dead : *least;
	*most -= old < *most ? old : *most;
}

/* Let what @v, a row of the range, tells of group @i happen to what was alive before. */
static void follow(struct dw_allocations *t, size_t i, const struct dw_alloc_values *v)
{
	struct dw_alloc_range *range = &t->ranges.v[i];
	struct dw_alloc_count dead = {0}, *news = &t->news.v[i];

	for (int g = 0; g < DWELL_GENERATIONS; g++)
		dw_alloc_count_add(&dead, &v->collected[g]);
	bury(v->allocated.objects, dead.objects, &news->objects, &range->least.objects,
	     &range->most.objects);
	bury(v->allocated.bytes, dead.bytes, &news->bytes, &range->least.bytes, &range->most.bytes);
}

static int add_to_sums(struct dw_allocations *t, const struct dw_call_sums *sums, uint32_t slice,
		       uint32_t group, const struct dw_alloc_values *v)
{
	size_t i = group - 1;

	if (is_wanted(sums, slice)) {
		if (sums->selected)
			follow(t, i, v);
		return dw_alloc_store_add(&t->sums, i, v);
	}
	if (slice < sums->first)
		add_alive(&t->ranges.v[i], v);
	return 0;
}

int dw_take_alloc_sums(struct dw_cursor *c, size_t n, const struct dw_call_sums *sums,
		       struct dw_profile *p)
{
	struct dw_allocations *t = &p->allocations;
	struct keys keys = keys_open(c, n, p->calls.slices.n, t->groups.n);
	struct dw_alloc_values values;
	struct values_in v;
	int rc = dw_alloc_store_extend(&t->sums, t->groups.n);

	if (!rc)
		rc = extend_ranges(t, sums);
	open_values(c, 2 * STORED_PAIRS, &v);
	for (size_t i = 0; i < n && !c->failed && !rc; i++) {
		c->failed = !keys_next(&keys);
		next_alloc_values(&v, &values);
		if (!c->failed && p->calls.wants_activity)
			rc = note_activity(&p->calls, keys.slice, values.allocated.bytes);
		if (!c->failed && !rc)
			rc = add_to_sums(t, sums, (uint32_t)keys.slice, (uint32_t)keys.id, &values);
	}
	close_values(c, &v);
	return rc;
}
