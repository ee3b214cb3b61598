/*
 * Values of calls and of objects; see values.h. Most rows of calls have calls, time and probe cost,
 * and nothing of the operating system: a column holds only what is not as expected. Most of objects
 * say what was allocated and what died young.
 */
#include "session/values.h"

#include <assert.h>

/* The columns of calls, in the order of docs/session-format.md. */
enum stored {
	STORED_CALLS,
	STORED_ELAPSED,
	STORED_APPLICATION, /* elapsed minus it, zigzag-coded */
	STORED_WHOLE,	    /* application minus it, likewise */
	STORED_OVERHEAD,
	STORED_BLOCKED,
	STORED_OS_CPU,
	STORED_SWITCHES,
	STORED_IO_CALLS,
	STORED_BLOCKING_CALLS,
	STORED_COLUMNS
};

/* Those of objects are pairs with their bytes: allocated, then collected by generation. */
enum { STORED_PAIRS = 1 + DWELL_GENERATIONS };

static_assert((int)STORED_COLUMNS <= DWELL_VALUES_MAX && 2 * STORED_PAIRS <= DWELL_VALUES_MAX,
	      "room");

/* Values while they are written. */
struct out {
	struct dw_buf masks, columns[DWELL_VALUES_MAX];
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
	ret[STORED_WHOLE] = dw_zigzag(v->application_ns - v->whole_ns);
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

/* A cursor over the next column, which tells its length. */
static struct dw_cursor next_column(struct dw_cursor *c)
{
	size_t n = dw_cursor_uleb(c);
	const uint8_t *bytes = dw_cursor_bytes(c, n);
	struct dw_cursor column;

	dw_cursor_init(&column, bytes, bytes ? n : 0);
	return column;
}

static void open(struct dw_cursor *c, unsigned n, struct dw_values_in *ret)
{
	ret->n = n;
	ret->masks = next_column(c);
	for (unsigned i = 0; i < n; i++)
		ret->columns[i] = next_column(c);
}

void dw_call_values_open(struct dw_cursor *c, struct dw_values_in *ret)
{
	open(c, STORED_COLUMNS, ret);
}

void dw_alloc_values_open(struct dw_cursor *c, struct dw_values_in *ret)
{
	open(c, 2 * STORED_PAIRS, ret);
}

void dw_values_close(struct dw_cursor *c, const struct dw_values_in *v)
{
	c->failed |= v->masks.failed || dw_cursor_left(&v->masks);
	for (unsigned i = 0; i < v->n; i++)
		c->failed |= v->columns[i].failed || dw_cursor_left(&v->columns[i]);
}

/* The number of a row with @mask in column @at. */
static inline uint64_t take_column(struct dw_values_in *v, uint32_t mask, enum stored at)
{
	return mask >> at & 1 ? dw_take(&v->columns[at]) : 0;
}

void dw_call_values_next(struct dw_values_in *v, struct dw_call_values *ret)
{
	uint32_t mask = dw_take_max(&v->masks, (1u << STORED_COLUMNS) - 1);
	uint64_t elapsed, application;

	*ret = (struct dw_call_values){.calls = take_column(v, mask, STORED_CALLS)};
	elapsed = take_column(v, mask, STORED_ELAPSED);
	application = elapsed - dw_unzigzag(take_column(v, mask, STORED_APPLICATION));
	ret->elapsed_ns = elapsed;
	ret->application_ns = application;
	ret->whole_ns = application - dw_unzigzag(take_column(v, mask, STORED_WHOLE));
	ret->overhead_ns = take_column(v, mask, STORED_OVERHEAD);
	if (!(mask >> STORED_BLOCKED))
		return;
	ret->blocked_ns = take_column(v, mask, STORED_BLOCKED);
	ret->os_cpu_ns = take_column(v, mask, STORED_OS_CPU);
	ret->switches = take_column(v, mask, STORED_SWITCHES);
	ret->io_calls = take_column(v, mask, STORED_IO_CALLS);
	ret->blocking_calls = take_column(v, mask, STORED_BLOCKING_CALLS);
}

void dw_alloc_values_next(struct dw_values_in *v, struct dw_alloc_values *ret)
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
	struct dw_values_in v;

	(void)limits;
	dw_call_values_open(c, &v);
	for (size_t i = 0; i < n; i++)
		dw_call_values_next(&v, (void *)((char *)at + i * stride));
	dw_values_close(c, &v);
}

void dw_take_alloc_values(struct dw_cursor *c, void *at, size_t stride, size_t n,
			  const uint64_t limits[DWELL_LIMITS])
{
	struct dw_values_in v;

	(void)limits;
	dw_alloc_values_open(c, &v);
	for (size_t i = 0; i < n; i++)
		dw_alloc_values_next(&v, (void *)((char *)at + i * stride));
	dw_values_close(c, &v);
}
