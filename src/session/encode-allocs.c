/*
 * Allocations to columns; see encode-allocs.h.
 *
 * Most rows say what was allocated and what died young: a mask tells which pairs of objects and
 * bytes a row has.
 */
#include "session/encode-allocs.h"

#include "session/alloc-columns.h"
#include "session/columns.h"
#include "session/measured.h"

#include <assert.h>

void dw_put_alloc_types(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	const struct dw_alloc_type *rows = p->allocations.types.v;

	PUT_DELTAS(b, rows, from, to, name);
	PUT_DELTAS(b, rows, from, to, module);
	PUT_COLUMN(b, rows, from, to, process);
}

void dw_put_alloc_groups(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	const struct dw_alloc_group *rows = p->allocations.groups.v;

	PUT_COLUMN(b, rows, from, to, thread);
	PUT_DELTAS(b, rows, from, to, stack);
	PUT_COLUMN(b, rows, from, to, type);
}

void dw_put_alloc_methods(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	const struct dw_alloc_method *rows = p->allocations.methods.v;

	PUT_DELTAS(b, rows, from, to, module);
	PUT_DELTAS(b, rows, from, to, token);
	PUT_DELTAS(b, rows, from, to, name);
}

static const struct dw_alloc_count *pair_of(const struct dw_alloc_values *v, int at)
{
	return at ? &v->collected[at - 1] : &v->allocated;
}

void dw_put_alloc_deltas(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	const struct dw_alloc_delta *rows = p->allocations.deltas.v;
	struct dw_measured_out v = {0};

	PUT_DELTAS(b, rows, from, to, slice);
	PUT_DELTAS(b, rows, from, to, group);
	for (size_t i = from; i < to; i++) {
		unsigned mask = 0;

		for (int at = 0; at < DWELL_STORED_PAIRS; at++) {
			const struct dw_alloc_count *pair = pair_of(&rows[i].values, at);

			if (!pair->objects && !pair->bytes)
				continue;
			mask |= 1u << at;
			dw_buf_put_uleb(&v.columns[2 * at], pair->objects);
			dw_buf_put_uleb(&v.columns[2 * at + 1], pair->bytes);
		}
		dw_buf_put_uleb(&v.masks, mask);
	}
	static_assert(2 * DWELL_STORED_PAIRS <= DWELL_MEASURED_MAX, "room");
	dw_measured_put(b, &v, 2 * DWELL_STORED_PAIRS);
}

void dw_put_gcs(struct dw_buf *b, const struct dw_profile *p, size_t from, size_t to)
{
	const struct dw_gc *rows = p->allocations.gcs.v;

	PUT_COLUMN(b, rows, from, to, process);
	PUT_DELTAS(b, rows, from, to, number);
	PUT_COLUMN(b, rows, from, to, generation);
	PUT_COLUMN(b, rows, from, to, reason);
	for (size_t i = from; i < to; i++)
		dw_buf_put_uleb(b, (rows[i].is_blocking ? DWELL_STORED_BLOCKING : 0) |
					   (rows[i].is_compacting ? DWELL_STORED_COMPACTING : 0));
	PUT_COLUMN(b, rows, from, to, thread);
	PUT_COLUMN(b, rows, from, to, stack);
	PUT_DELTAS(b, rows, from, to, start_ns);
	PUT_COLUMN(b, rows, from, to, pause_ns);
	PUT_COLUMN(b, rows, from, to, heap_before);
	PUT_COLUMN(b, rows, from, to, heap_after);
	PUT_COLUMN(b, rows, from, to, promoted);
	PUT_COLUMN(b, rows, from, to, added_ns);
}
