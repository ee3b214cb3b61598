/* Cells of single events; see event-cell.h. */
#include "view/event-cell.h"

static void set_number(struct dw_cell *c, enum dw_cell_kind kind, uint64_t n)
{
	*c = (struct dw_cell){.kind = kind, .number = n};
}

/* How the time of one call divides, but for what is its function's own. */
static void slow_cell(const struct dw_call_slow *slow, enum dw_column column, struct dw_cell *ret)
{
	uint64_t ns = slow->switched_ns;

	if (column == DWELL_COLUMN_CALLEES)
		ns = dw_call_slow_callees(slow);
	else if (column == DWELL_COLUMN_IO)
		ns = slow->io_ns;
	else if (column == DWELL_COLUMN_BLOCKING)
		ns = slow->blocking_ns;
	set_number(ret, DWELL_CELL_DURATION_NS, ns);
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
		return set_number(ret, DWELL_CELL_NUMBER, gc->number);
	case DWELL_COLUMN_GC_GENERATION:
		return set_number(ret, DWELL_CELL_NUMBER, gc->generation);
	case DWELL_COLUMN_GC_TYPE:
		*ret = (struct dw_cell){.kind = DWELL_CELL_TEXT, .text = kind_of(gc)};
		return;
	case DWELL_COLUMN_GC_REASON:
		if (*reason)
			*ret = (struct dw_cell){.kind = DWELL_CELL_TEXT, .text = reason};
		return;
	case DWELL_COLUMN_GC_PAUSE:
		return set_number(ret, DWELL_CELL_DURATION_NS, gc->pause_ns);
	case DWELL_COLUMN_GC_ADDED:
		return set_number(ret, DWELL_CELL_DURATION_NS, gc->added_ns);
	case DWELL_COLUMN_HEAP_BEFORE:
		return set_number(ret, DWELL_CELL_COUNT, gc->heap_before);
	case DWELL_COLUMN_HEAP_AFTER:
		return set_number(ret, DWELL_CELL_COUNT, gc->heap_after);
	default:
		return set_number(ret, DWELL_CELL_COUNT, gc->promoted);
	}
}

void dw_event_cell(const struct dw_view *v, const struct dw_row *row, enum dw_column column,
		   struct dw_cell *ret)
{
	if (column >= DWELL_COLUMN_GC_NUMBER && row->gc)
		gc_cell(v, row->gc, column, ret);
	else if (column < DWELL_COLUMN_GC_NUMBER && row->slow)
		slow_cell(row->slow, column, ret);
}
