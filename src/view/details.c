/*
 * All about one function: for each lane that ran it, who called it, itself, its lines, and what
 * it called. The rows are those of the callers view, and of the lines view of the function.
 */
#include "analysis/totals.h"
#include "base/map.h"
#include "view/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define IS_LINE 0x80000000u /* in an item: a row of the lines, else of the callers */

struct details {
	struct dw_view callers, lines;
};

/* What tells the lane of @row from the others of one split. */
static uint32_t lane_of(const struct dw_row *row)
{
	return row->command ? row->command : row->thread ? row->thread : row->process;
}

/* Where the lines of each lane begin: index + 1. Those of a lane stand together. */
static int find_lines(const struct details *d, struct dw_map *ret, struct dw_buf *scratch)
{
	struct dw_row row;
	int rc = 0;

	for (size_t i = d->lines.n; i-- && !rc;) {
		dw_view_row(&d->lines, i, scratch, &row);
		rc = dw_map_put(ret, lane_of(&row), (uint32_t)i + 1);
	}
	return rc;
}

/* Append the lines of the lane @lane, which begin at @at - 1 if there are some. */
static void add_lines(struct dw_view *v, const struct details *d, uint32_t lane, size_t at,
		      struct dw_buf *scratch)
{
	for (; at && at <= d->lines.n; at++) {
		struct dw_row row;

		dw_view_row(&d->lines, at - 1, scratch, &row);
		if (lane_of(&row) != lane)
			return;
		v->items[v->n++] = (uint32_t)(at - 1) | IS_LINE;
	}
}

static int open_details(struct dw_view *v)
{
	struct details *d = v->own = calloc(1, sizeof *d);
	struct dw_buf scratch = DW_BUF_INIT;
	struct dw_map lines = {0};
	int rc;

	if (!d || dw_view_open(&d->callers, &dw_view_callers, &v->request) ||
	    dw_view_open(&d->lines, &dw_view_source_annotated, &v->request))
		return -ENOMEM;
	v->items = calloc(d->callers.n + d->lines.n + 1, sizeof *v->items);
	if (!v->items)
		return -ENOMEM;
	memcpy(v->hidden, d->callers.hidden, sizeof v->hidden);
	rc = find_lines(d, &lines, &scratch);
	for (size_t i = 0; i < d->callers.n && !rc; i++) {
		struct dw_row row;

		v->items[v->n++] = (uint32_t)i;
		dw_view_row(&d->callers, i, &scratch, &row);
		if (row.type == DWELL_ROW_CURRENT)
			add_lines(v, d, lane_of(&row), dw_map_get(&lines, lane_of(&row)), &scratch);
	}
	dw_map_release(&lines);
	dw_buf_release(&scratch);
	return rc;
}

static void details_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
			struct dw_row *ret)
{
	const struct details *d = v->own;

	dw_view_row(item & IS_LINE ? &d->lines : &d->callers, item & ~IS_LINE, scratch, ret);
	if (item & IS_LINE)
		ret->type = DWELL_ROW_LINE;
}

static void release_details(struct dw_view *v)
{
	struct details *d = v->own;

	if (d) {
		dw_view_release(&d->callers);
		dw_view_release(&d->lines);
	}
	free(d);
}

static const enum dw_column columns[] = {DWELL_COLUMNS_LINE,  DWELL_COLUMN_TYPE,
					 DWELL_COLUMN_NAME,   DWELL_COLUMN_COUNTS,
					 DWELL_COLUMN_VALUES, DWELL_COLUMN_END};
static const enum dw_column defaults[] = {DWELL_COLUMN_TYPE,	     DWELL_COLUMN_DEFAULT_VALUES,
					  DWELL_COLUMN_DEFAULT_LANE, DWELL_COLUMN_NAME,
					  DWELL_COLUMN_SOURCE_TEXT,  DWELL_COLUMN_END};

const struct dw_view_ops dw_view_details = {
	.name = "function",
	.help = "all about FUNCTION: callers, its lines, callees, and every measure",
	.parts = DWELL_TOTALS_FUNCTIONS | DWELL_TOTALS_EDGES | DWELL_TOTALS_LINES,
	.columns = columns,
	.defaults = defaults,
	.sort = DWELL_COLUMN_LEAD_INCLUSIVE,
	.function = DWELL_FUNCTION_MUST,
	.splits = true,
	.is_of_my_code = true,
	.tells_all = true,
	.open = open_details,
	.row = details_row,
	.release = release_details,
};
