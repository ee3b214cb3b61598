/*
 * Calls to columns; see encode-calls.h.
 *
 * Most rows of values have calls, time and probe cost, and nothing of the operating system: a mask
 * says which columns a row has, and a column holds only what is not as expected.
 */
#include "session/encode-calls.h"

#include "session/call-columns.h"
#include "session/columns.h"
#include "session/measured.h"

#include <assert.h>

void dw_put_call_nodes(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	const struct dw_call_node *rows = p->calls.nodes.v;
	size_t forgotten = p->calls.nodes_written; /* rows that nobody asks for */

	from -= forgotten;
	to -= forgotten;
	PUT_COLUMN(b, rows, from, to, flags);
	PUT_DELTAS(b, rows, from, to, thread);
	for (size_t i = from; i < to; i++)
		dw_buf_put_uleb(b, forgotten + i + 1 - rows[i].parent);
	PUT_DELTAS(b, rows, from, to, entry);
	PUT_DELTAS(b, rows, from, to, site);
	for (size_t i = from; i < to; i++)
		if (rows[i].flags & DWELL_CALL_OVERFLOW)
			dw_buf_put_uleb(b, rows[i].caller);
}

void dw_put_call_slices(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	PUT_DELTAS(b, p->calls.slices.v, from, to, end_ns);
}

static uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ -(difference >> 63);
}

/* The columns of one row; 0 is left out. */
static void columns_of(const struct dw_call_values *v, uint64_t ret[DWELL_STORED_COLUMNS])
{
	ret[DWELL_STORED_CALLS] = v->calls;
	ret[DWELL_STORED_ELAPSED] = v->elapsed_ns;
	ret[DWELL_STORED_APPLICATION] = zigzag(v->elapsed_ns - v->application_ns);
	ret[DWELL_STORED_WHOLE] = zigzag(v->application_ns - v->whole_ns);
	ret[DWELL_STORED_OVERHEAD] = v->overhead_ns;
	ret[DWELL_STORED_BLOCKED] = v->blocked_ns;
	ret[DWELL_STORED_OS_CPU] = v->os_cpu_ns;
	ret[DWELL_STORED_SWITCHES] = v->switches;
	ret[DWELL_STORED_IO_CALLS] = v->io_calls;
	ret[DWELL_STORED_BLOCKING_CALLS] = v->blocking_calls;
}

/* Append @n values, the first at @at, @stride bytes from one to the next. */
static void put_values(struct dw_buf *b, const void *at, size_t stride, size_t n)
{
	struct dw_measured_out v = {0};

	for (size_t i = 0; i < n; i++) {
		uint64_t row[DWELL_STORED_COLUMNS];
		unsigned mask = 0;

		columns_of((const void *)((const char *)at + i * stride), row);
		for (int c = 0; c < DWELL_STORED_COLUMNS; c++) {
			if (!row[c])
				continue;
			mask |= 1u << c;
			dw_buf_put_uleb(&v.columns[c], row[c]);
		}
		dw_buf_put_uleb(&v.masks, mask);
	}
	static_assert((int)DWELL_STORED_COLUMNS <= DWELL_MEASURED_MAX, "room");
	dw_measured_put(b, &v, DWELL_STORED_COLUMNS);
}

void dw_put_call_deltas(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	const struct dw_call_delta *rows = p->calls.deltas.v;

	PUT_DELTAS(b, rows, from, to, slice);
	PUT_DELTAS(b, rows, from, to, node);
	put_values(b, &rows[from].values, sizeof *rows, to - from);
}

static void put_ranges(struct dw_buf *b, const struct dw_range_ns *at, size_t stride, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct dw_range_ns *r = (const void *)((const char *)at + i * stride);

		dw_buf_put_uleb(b, r->min_ns);
		dw_buf_put_zigzag(b, (int64_t)(r->max_ns - r->min_ns));
	}
}

void dw_put_call_extremes(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	const struct dw_call_extremes *rows = p->calls.extremes.v;

	PUT_DELTAS(b, rows, from, to, id);
	PUT_DELTAS(b, rows, from, to, thread);
	PUT_DELTAS(b, rows, from, to, entry);
	put_ranges(b, &rows[from].ranges.elapsed_inclusive, sizeof *rows, to - from);
	put_ranges(b, &rows[from].ranges.elapsed_exclusive, sizeof *rows, to - from);
	put_ranges(b, &rows[from].ranges.application_inclusive, sizeof *rows, to - from);
	put_ranges(b, &rows[from].ranges.application_exclusive, sizeof *rows, to - from);
}

void dw_put_call_slow(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	const struct dw_call_slow *rows = p->calls.slow.v;

	PUT_DELTAS(b, rows, from, to, id);
	PUT_DELTAS(b, rows, from, to, node);
	PUT_DELTAS(b, rows, from, to, start_ns);
	put_values(b, &rows[from].inclusive, sizeof *rows, to - from);
	put_values(b, &rows[from].exclusive, sizeof *rows, to - from);
	PUT_COLUMN(b, rows, from, to, io_ns);
	PUT_COLUMN(b, rows, from, to, blocking_ns);
	PUT_COLUMN(b, rows, from, to, switched_ns);
}

void dw_put_call_mutes(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	const struct dw_call_mute *rows = p->calls.mutes.v;

	PUT_DELTAS(b, rows, from, to, process);
	PUT_DELTAS(b, rows, from, to, entry);
	PUT_DELTAS(b, rows, from, to, at_ns);
	PUT_COLUMN(b, rows, from, to, flags);
}
