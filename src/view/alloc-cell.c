/*
 * Cells of allocations; see alloc-cell.h.
 *
 * Two groups of columns tell the life of objects, one of instances and one of bytes, with the same
 * places in them. They are about the inclusive value of a row. In a range of time more may die than
 * was allocated: what grew is below 0 then.
 */
#include "view/alloc-cell.h"

#include <math.h>

enum place {
	TOTAL,
	PERCENT,
	COLLECTED,
	ALIVE = COLLECTED + DWELL_GENERATIONS,
	BEFORE,
	GROWTH,
	LEAST,
	MOST,
	PLACES
};

_Static_assert(DWELL_COLUMN_BYTES == DWELL_COLUMN_INSTANCES + PLACES &&
		       DWELL_COLUMN_BYTES_ALIVE == DWELL_COLUMN_BYTES + ALIVE,
	       "two groups of the same columns");

static void set_count(struct dw_cell *c, uint64_t n)
{
	*c = (struct dw_cell){.kind = DWELL_CELL_COUNT, .number = n};
}

static void set_share(struct dw_cell *c, uint64_t n, uint64_t all)
{
	*c = (struct dw_cell){.kind = DWELL_CELL_PERCENT,
			      .percent = all ? 100.0 * (double)n / (double)all : 0};
}

static uint64_t number_of(const struct dw_alloc_count *n, bool bytes)
{
	return bytes ? n->bytes : n->objects;
}

static void life_cell(const struct dw_totals *t, const struct dw_alloc_values *values,
		      enum dw_column column, struct dw_cell *ret)
{
	bool bytes = column >= DWELL_COLUMN_BYTES;
	unsigned at = column - (bytes ? DWELL_COLUMN_BYTES : DWELL_COLUMN_INSTANCES);
	struct dw_alloc_count alive = dw_alloc_values_alive(values);

	if (at == TOTAL)
		set_count(ret, number_of(&values->allocated, bytes));
	else if (at == PERCENT)
		set_share(ret, number_of(&values->allocated, bytes),
			  number_of(&t->all_allocs.allocated, bytes));
	else if (at < ALIVE)
		set_count(ret, number_of(&values->collected[at - COLLECTED], bytes));
	else if (at == ALIVE)
		set_count(ret, number_of(&alive, bytes));
	else if (at == BEFORE)
		set_count(ret, number_of(&values->range.before, bytes));
	else if (at == LEAST)
		set_count(ret, number_of(&values->range.least, bytes));
	else if (at == MOST)
		set_count(ret, number_of(&values->range.most, bytes));
	else
		*ret = (struct dw_cell){.kind = DWELL_CELL_CHANGE,
					.number = number_of(&alive, bytes) -
						  number_of(&values->range.before, bytes)};
}

/* Half of the interval that the true number of bytes is in with 95 % certainty: bytes were drawn
 * one in so many, and what is drawn of many objects varies as its root. Large objects, of which
 * most are drawn, vary less. */
static void error_cell(const struct dw_view *v, const struct dw_alloc_total *total,
		       enum dw_column column, struct dw_cell *ret)
{
	int64_t interval = dw_facts_get(&v->request.profile->facts, "sample_bytes", 0);
	double bytes = column == DWELL_COLUMN_BYTES_EXCLUSIVE_ERROR
			       ? (double)total->exclusive.bytes
			       : (double)total->inclusive.allocated.bytes;

	if (interval > 0)
		set_count(ret, (uint64_t)(1.96 * sqrt(bytes * (double)interval) + 0.5));
}

static void amount_cell(const struct dw_totals *t, const struct dw_alloc_total *total,
			enum dw_column column, struct dw_cell *ret)
{
	const struct dw_alloc_count *all = &t->all_allocs.allocated;

	switch (column) {
	case DWELL_COLUMN_ALLOCS_INCLUSIVE:
		return set_count(ret, total->inclusive.allocated.objects);
	case DWELL_COLUMN_ALLOCS_INCLUSIVE_PCT:
		return set_share(ret, total->inclusive.allocated.objects, all->objects);
	case DWELL_COLUMN_ALLOCS_EXCLUSIVE:
		return set_count(ret, total->exclusive.objects);
	case DWELL_COLUMN_ALLOCS_EXCLUSIVE_PCT:
		return set_share(ret, total->exclusive.objects, all->objects);
	case DWELL_COLUMN_BYTES_INCLUSIVE:
		return set_count(ret, total->inclusive.allocated.bytes);
	case DWELL_COLUMN_BYTES_INCLUSIVE_PCT:
		return set_share(ret, total->inclusive.allocated.bytes, all->bytes);
	case DWELL_COLUMN_BYTES_EXCLUSIVE:
		return set_count(ret, total->exclusive.bytes);
	default:
		return set_share(ret, total->exclusive.bytes, all->bytes);
	}
}

static const char *kind_of(const struct dw_gc *gc)
{
	if (!gc->is_blocking)
		return "background";
	return gc->is_compacting ? "blocking, compacting" : "blocking";
}

static void gc_cell(const struct dw_view *v, const struct dw_gc *gc, enum dw_column column,
		    struct dw_cell *ret)
{
	const char *reason = dw_strings_get(&v->request.profile->strings, gc->reason);

	switch (column) {
	case DWELL_COLUMN_GC_NUMBER:
		*ret = (struct dw_cell){.kind = DWELL_CELL_NUMBER, .number = gc->number};
		return;
	case DWELL_COLUMN_GC_GENERATION:
		*ret = (struct dw_cell){.kind = DWELL_CELL_NUMBER, .number = gc->generation};
		return;
	case DWELL_COLUMN_GC_TYPE:
		*ret = (struct dw_cell){.kind = DWELL_CELL_TEXT, .text = kind_of(gc)};
		return;
	case DWELL_COLUMN_GC_REASON:
		if (*reason)
			*ret = (struct dw_cell){.kind = DWELL_CELL_TEXT, .text = reason};
		return;
	case DWELL_COLUMN_GC_PAUSE:
		*ret = (struct dw_cell){.kind = DWELL_CELL_DURATION_NS, .number = gc->pause_ns};
		return;
	case DWELL_COLUMN_GC_ADDED:
		*ret = (struct dw_cell){.kind = DWELL_CELL_DURATION_NS, .number = gc->added_ns};
		return;
	case DWELL_COLUMN_HEAP_BEFORE:
		return set_count(ret, gc->heap_before);
	case DWELL_COLUMN_HEAP_AFTER:
		return set_count(ret, gc->heap_after);
	default:
		return set_count(ret, gc->promoted);
	}
}

void dw_alloc_cell(const struct dw_view *v, const struct dw_row *row, enum dw_column column,
		   struct dw_cell *ret)
{
	if (column >= DWELL_COLUMN_GC_NUMBER) {
		if (row->gc)
			gc_cell(v, row->gc, column, ret);
	} else if (!row->allocs) {
		return;
	} else if (column >= DWELL_COLUMN_BYTES_INCLUSIVE_ERROR &&
		   column <= DWELL_COLUMN_BYTES_ERROR) {
		error_cell(v, row->allocs, column, ret);
	} else if (column >= DWELL_COLUMN_INSTANCES) {
		life_cell(v->request.totals, &row->allocs->inclusive, column, ret);
	} else {
		amount_cell(v->request.totals, row->allocs, column, ret);
	}
}
